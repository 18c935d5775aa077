// Pins `functions`: which variable carries a function, what a glob matches, what functions cost.

import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileGlob, functionCost, functionMatcher, functionOf } from '../../../src/session/functions.js';

describe('a variable that carries a function', () => {
  it.each([
    ['BASH_FUNC_greet%%', 'greet'],
    ['BASH_FUNC_my-build%%', 'my-build'],
    ['BASH_FUNC_a%%b%%', 'a%%b'],
    ['BASH_FUNC_%%%', '%'],
    ['BASH_FUNC_old()', 'old'],
    ['BASH_FUNC_two\nlines%%', 'two\nlines'],
  ])('is %j', (name, carried) => expect(functionOf(name)).toBe(carried));

  it.each(['BASH_FUNC_', 'BASH_FUNC_%%', 'BASH_FUNC_x', 'XBASH_FUNC_x%%', 'BASH_FUNC_x%', 'BASH_ENV', ''])('is not %j', (name) =>
    expect(functionOf(name)).toBeUndefined(),
  );
});

describe('a filter', () => {
  it('of all keeps all, of none keeps none, of no glob keeps none', () => {
    expect([functionMatcher('all')('x'), functionMatcher('none')('x'), functionMatcher([])('x')]).toEqual([true, false, false]);
  });

  it.each<[glob: string, matches: string[], misses: string[]]>([
    ['build', ['build'], ['builds', 'rebuild', 'Build', '']],
    ['my-*', ['my-', 'my-build', 'my-a\nb'], ['my', 'xmy-a']],
    ['*', ['', 'a', '%'], []],
    ['?', ['a', '-', '\n'], ['', 'ab']],
    ['a.b+c', ['a.b+c'], ['axb+c', 'a.bbc']],
    ['[abc]x', ['ax', 'cx'], ['dx', 'x', 'abcx']],
    ['[a-c]', ['a', 'b', 'c'], ['d', '-']],
    ['[!a-c]', ['d', '-'], ['a']],
    ['[^a]', ['b'], ['a']],
    ['[-a]', ['-', 'a'], ['b']],
    ['[a-]', ['-', 'a'], ['b']],
    ['[]a]', [']', 'a'], ['b']],
    ['[!]a]', ['b'], [']', 'a']],
    ['[[]', ['['], [']']],
    ['a[', ['a['], ['a']],
    ['\\*', ['*'], ['a', '\\*']],
    ['a\\', ['a\\'], ['a']],
    ['(a|b)', ['(a|b)'], ['a']],
    ['$x^', ['$x^'], ['x']],
    ['{a}', ['{a}'], ['a']],
  ])('of %j matches the whole name', (glob, matches, misses) => {
    const isKept = functionMatcher([glob]);
    expect(matches.filter((name) => !isKept(name))).toEqual([]);
    expect(misses.filter(isKept)).toEqual([]);
  });

  it('takes a character for one, however many bytes it has', () => {
    const name = Buffer.from('größe').toString('latin1');
    expect([functionMatcher(['gr??e'])(name), functionMatcher(['größe'])(name), functionMatcher(['gr???e'])(name)]).toEqual([
      true,
      true,
      false,
    ]);
    expect(functionMatcher(['a?'])('a\xff')).toBe(true);
  });

  it('takes a set that can match nothing, or that a shell’s classes are in, for what it is', () => {
    for (const glob of ['[z-a]', '[[:alpha:]]', '[![.[!a]', '[a[=b]', '[[.]']) expect(compileGlob(glob)).toBeUndefined();
    for (const glob of ['[[]', '[.[]', '[[a.]', 'x[:']) expect(compileGlob(glob)).toBeDefined();
    expect(functionMatcher(['[z-a]', 'x'])('x')).toBe(true);
  });

  it('agrees with bash, whatever the glob', { timeout: 60_000 }, () => {
    const part = fc.constantFrom('a', 'b', '-', '*', '?', '[', ']', '!', '.', '[ab]', '[!a]', '[a-c]', '\\*', '+', '(', '|', '^', '$');
    const word = fc.array(fc.constantFrom('a', 'b', '-', '.', '*', '[', ']', '!', '+', '(', '|', '^', '$'), { maxLength: 5 });
    const cases = fc
      .sample(fc.tuple(fc.array(part, { maxLength: 5 }), word), 3_000)
      .map(([glob, name]) => [glob.join(''), name.join('')] as const);
    const compilable = cases.filter(([glob]) => glob !== '' && compileGlob(glob) !== undefined);
    const script =
      'shopt -u extglob; while IFS= read -r -d "" g && IFS= read -r -d "" n; do case $n in $g) echo 1;; *) echo 0;; esac; done';
    const input = compilable.map(([glob, name]) => `${glob}\0${name}\0`).join('');
    const { stdout } = spawnSync('bash', ['-c', script], { input, env: { LC_ALL: 'C' } });
    const bash = `${stdout}`.trim().split('\n');
    const different = compilable.filter(([glob, name], i) => functionMatcher([glob])(name) !== (bash[i] === '1'));
    expect(compilable.length).toBeGreaterThan(1_000);
    expect(different).toEqual([]);
  });
});

describe('the cost of functions', () => {
  it('is their bytes in the environment of a command, and of nothing else', () => {
    const variables = [
      ['A', '1'],
      ['BASH_FUNC_f%%', '() { :; }'],
      ['BASH_FUNC_g%%', '() {\n}'],
    ] as const;
    const block = variables.slice(1).map(([name, value]) => `${name}=${value}\0`);
    expect(functionCost(variables)).toEqual({ count: 2, bytes: block.join('').length });
    expect(functionCost([])).toEqual({ count: 0, bytes: 0 });
  });
});
