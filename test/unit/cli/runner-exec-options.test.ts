// Pins DESIGN section 6: where options end, what each takes, and that every misuse is one line with a cure. The C client has the same
// table in native/client_options.c; test/e2e compares the two programs.

import { describe, expect, it } from 'vitest';

import { parseOptions, type RunnerOptions } from '../../../src/cli/runner-exec-options.js';
import { HoldfastError } from '../../../src/errors.js';

function parse(...words: string[]): RunnerOptions {
  const invocation = parseOptions(words);
  if (invocation.kind !== 'run') throw new Error(invocation.kind);
  return invocation.options;
}

function misuse(...words: string[]): string {
  try {
    parseOptions(words);
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'USAGE') return `${error.message}; ${error.hint}`;
    throw error;
  }
  throw new Error('it was taken');
}

describe('the command', () => {
  it.each([
    [['--', 'echo', '-v', '--session', 'X', '--', '--help']],
    [['echo', '-v', '--session', 'X', '--', '--help']],
    [['--exact', 'echo', '-v', '--session', 'X', '--', '--help']],
  ])('keeps all its words: %j', (words) => {
    expect(parse(...words).command).toEqual(['echo', '-v', '--session', 'X', '--', '--help']);
  });

  it('may begin with a lone dash, or be empty words', () => {
    expect(parse('-', 'x').command).toEqual(['-', 'x']);
    expect(parse('--', 'a', '', '').command).toEqual(['a', '', '']);
  });
});

describe('an option', () => {
  it('takes its value behind = or as the next word, whatever that is', () => {
    expect(parse('--session=a=b', '--', 'x').session).toBe('a=b');
    expect(parse('--session', '--', '--', 'x').session).toBe('--');
    expect(parse('-e', 'K=V', '-eA==', '--env=B=', 'x').env).toEqual([
      { kind: 'set', name: 'K', value: 'V' },
      { kind: 'set', name: 'A', value: '=' },
      { kind: 'set', name: 'B', value: '' },
    ]);
  });

  it('may come in any order and often; the environment keeps the order typed', () => {
    const options = parse(
      '--unset',
      'A',
      '--pass-env',
      '*',
      '--path-prepend',
      '/p',
      '--fd',
      '5',
      '--fd',
      '9',
      '--fd=5',
      '-t',
      '--timeout',
      '1.5',
      'x',
    );
    expect(options.env.map(({ kind }) => kind)).toEqual(['unset', 'pass', 'path-prepend']);
    expect(options).toMatchObject({ fds: [5, 9], pty: true, timeoutMs: 1500, timeoutText: '1.5', killGraceMs: undefined, nice: undefined });
  });

  it('of a limit counts the last time it is named', () => {
    expect(parse('--limit', 'nofile=1', '--limit', 'core=0', '--limit', 'nofile=2:3', 'x').limits).toEqual([
      { resource: 7, soft: 2n, hard: 3n },
      { resource: 4, soft: 0n, hard: 0n },
    ]);
  });

  it('may be text that is not UTF-8', () => {
    expect(parse('--cwd', 'd\xe9', '-e', '\xfe=\xff', 'x')).toMatchObject({ cwd: 'd\xe9', env: [{ name: '\xfe', value: '\xff' }] });
  });

  it('asks for help or the version, and then for nothing else', () => {
    expect(parseOptions(['--exact', '-h', '--nonsense'])).toEqual({ kind: 'help' });
    expect(parseOptions(['--version'])).toEqual({ kind: 'version' });
  });
});

describe('a misuse', () => {
  it.each([
    [[], /^no command to run; write it behind '--'/],
    [['--sesion', 'x'], /^unknown option '--sesion'; did you mean '--session'\?/],
    [['--frobnicate'], /^unknown option '--frobnicate'; 'runner-exec --help' lists all options; words of the command go behind '--'/],
    [['--toString'], /^unknown option '--toString'/],
    [['-x'], /^unknown option '-x'/],
    [['--exact=1', 'x'], /^bad value '1' of '--exact': this option takes none/],
    [['--cwd'], /^option '--cwd' needs a value/],
    [['-e'], /^option '-e' needs a value/],
    [['--cwd=', 'x'], /^bad value '' of '--cwd': it is empty/],
    [['-e', 'A', 'x'], /^bad value 'A' of '--env': it has no '='; '--env K=V' sets a value, '--pass-env K' passes your own on/],
    [['-e', '=A', 'x'], /^bad value '=A' of '--env': it has no name/],
    [['--unset', 'A=', 'x'], /^bad value 'A=' of '--unset': it takes a name alone/],
    [['--path-prepend', 'a:b', 'x'], /PATH cannot hold a directory with ':' in its name/],
    [['--fd', '-1', 'x'], /^bad value '-1' of '--fd': it is not the number of a descriptor/],
    [['--nice', '20', 'x'], /^bad value '20' of '--nice': it is not a number from -20 to 19/],
    [['--timeout', '5x', 'x'], /^bad value '5x' of '--timeout': it is not a duration; write 500ms, 5s, 2m or 1h/],
    [['--limit', 'nofile=2:1', 'x'], /its soft limit is above its hard one/],
    [['--detach', '-t', 'x'], /^'--detach' and '--pty' exclude each other/],
  ])('%j is named, with the cure', (words, text) => {
    expect(misuse(...words)).toMatch(text);
  });
});
