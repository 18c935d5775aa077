import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isOrdinaryName, isShellName, quoteWord, quoteWords } from '../../../src/wrap/quote.js';
import { needs } from '../../harness/needs.js';
import { NASTY, runBytes, SHELLS } from './wraps.js';

const word = fc.string({ unit: fc.integer({ min: 1, max: 255 }).map((code) => String.fromCharCode(code)), maxLength: 30 });

describe('a quoted word', () => {
  it.each(SHELLS.map((shell) => ({ shell })))('is the same word behind $shell', (test) => {
    const { shell } = test;
    for (const nasty of NASTY) expect(runBytes([...shell, '-c', `printf %s ${quoteWord(nasty)}`], PATH).out).toBe(nasty);
  });

  it('is the same word whatever bytes it has', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), (words) => {
        const { out } = runBytes(['dash', '-c', `for w in ${quoteWords(words)}; do printf '%s\\0' "$w"; done`], PATH);
        expect(out).toBe(words.map((each) => `${each}\0`).join(''));
      }),
      { numRuns: 60 },
    );
  });

  it('survives a second shell', (test) => {
    needs(test, 'dash');
    fc.assert(
      fc.property(word, (each) => {
        const inner = `printf %s ${quoteWord(each)}`;
        expect(runBytes(['dash', '-c', `exec dash -c ${quoteWord(inner)}`], PATH).out).toBe(each);
      }),
      { numRuns: 60 },
    );
  });

  it('stays as it is where no shell would touch it', () => {
    expect(quoteWord('/usr/bin/a-b.c')).toBe('/usr/bin/a-b.c');
  });
});

describe('a name that a shell can have', () => {
  it.each([
    ['A', true],
    ['_a1', true],
    ['1a', false],
    ['a-b', false],
    ['BASH_FUNC_x%%', false],
    ['', false],
    ['a\n', false],
  ])('is told: %j', (name, is) => {
    expect(isShellName(name)).toBe(is);
  });
});

describe('a name that means nothing to any shell', () => {
  it.each(['HOLDFAST_RUN', 'MY_VAR_2', 'DOCKER_HOST', 'A_B'])('is %s', (name) => {
    expect(isOrdinaryName(name)).toBe(true);
  });

  it.each([
    ...['PATH', 'HOME', 'IFS', 'UID', 'PPID', 'PWD', 'SHLVL', 'LANG', 'ENV', 'RANDOM', 'status', 'path', 'my_var'],
    ...[
      'BASH_ENV',
      'LC_ALL',
      'POSIXLY_CORRECT',
      'ZSH_VERSION',
      'PROMPT_COMMAND',
      'BASH_FUNC_x%%',
      'A_B\n',
      'A__B',
      '_A',
      'A_',
      '1_A',
      'A_\xe9',
      '',
    ],
  ])('is not %j', (name) => {
    expect(isOrdinaryName(name)).toBe(false);
  });

  it.each(SHELLS.map((shell) => ({ shell })))('is not set by $shell itself', ({ shell }) => {
    const { out } = runBytes([...shell, '-c', 'set'], PATH);
    const names = out.split('\n').flatMap((line) => /^([A-Za-z0-9_]+)=/.exec(line)?.[1] ?? []);
    expect(names.length).toBeGreaterThan(2);
    expect(names.filter(isOrdinaryName)).toEqual([]);
  });
});

const PATH: ReadonlyMap<string, string> = new Map([['PATH', '/usr/bin:/bin']]);
