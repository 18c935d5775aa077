// Pins the words of `explain`, for people and for programs.

import { describe, expect, it } from 'vitest';
import { differenceOf } from '../../../src/cli/explain-diff.js';
import { formatAbsence, formatDifference, formatExplanation, formatVariable } from '../../../src/cli/explain-format.js';
import { absenceJson, differenceJson, variableJson } from '../../../src/cli/explain-json.js';
import type { Variable } from '../../../src/cli/explanation.js';

const FUNCTION: Variable = { name: 'BASH_FUNC_my-fn%%', value: '() {  echo "\x1b[31m"\n}', from: 'environment', over: [] };
const VARIABLES: readonly Variable[] = [
  FUNCTION,
  { name: 'MULTI', value: 'one\ntwo', from: 'env', over: [{ from: 'environment', value: 'x' }] },
  {
    name: 'PATH',
    value: '/a:/usr/bin:',
    from: 'environment',
    over: [],
    entries: [
      { from: 'path_prepend', value: '/a' },
      { from: 'host', value: '/usr/bin' },
      { from: 'environment', value: '' },
    ],
  },
  { name: 'RAW', value: '\xff', from: 'runtime_pass_env', over: [] },
];

describe('for people', () => {
  it('is one line for each variable, then what is not there, by reason', () => {
    const text = formatExplanation(
      {
        variables: VARIABLES,
        absent: [
          { name: 'f', kind: 'function', why: 'filtered' },
          { name: 'GOFLAGS', kind: 'variable', why: 'scrubbed', value: 'x' },
          { name: 'g', kind: 'function', why: 'filtered' },
        ],
      },
      { count: 1, bytes: 44 },
      ['a snapshot, taken 3s ago'],
    );
    expect(text).toBe(`a snapshot, taken 3s ago
FROM                                VARIABLE
the environment                     my-fn()
declared (env)                      MULTI=$'one\\ntwo'
the environment                     PATH=/a:/usr/bin:
the caller, now (runtime_pass_env)  RAW=$'\\377'

1 function: 44 bytes in the environment of every command

not there:
  a function that the session's 'functions' leaves out:
    f() g()
  yours, and neither given to the launcher nor passed:
    GOFLAGS
`);
  });

  it('is a variable with whom it overrules, a function with its body, nothing of either acting on a terminal', () => {
    expect(VARIABLES.slice(0, 2).map(formatVariable)).toEqual([
      'my-fn () {  echo "\\E[31m"\n}\nfrom the environment\n',
      "MULTI=$'one\\ntwo'\nfrom declared (env)\nover the environment: x\n",
    ]);
  });

  it('is a PATH with who supplied each directory', () => {
    expect(VARIABLES.slice(2, 3).map(formatVariable)).toEqual([
      `PATH:
  /a                          declared (path_prepend)
  /usr/bin                    the host
  '' (the working directory)  the environment
`,
    ]);
  });

  it('is the reason for what is not there', () => {
    expect(formatAbsence({ name: 'GOFLAGS', kind: 'variable', why: 'scrubbed', value: '-mod=mod' })).toBe(
      'GOFLAGS=-mod=mod\nnot there: yours, and neither given to the launcher nor passed\n',
    );
  });
});

describe('the difference', () => {
  const caller = new Map([
    ['MULTI', 'was'],
    ['PATH', '/usr/bin:/home/bin'],
    ['RAW', '\xff'],
    ['MINE', 'a b'],
    ['SHLVL', '7'],
    ['BASH_FUNC_old%%', '() { :; }'],
  ]);
  const difference = differenceOf(VARIABLES, caller);

  it('is in a readable form, with lists by their entries and functions apart', () => {
    expect(formatDifference(difference)).toBe(`~ MULTI=$'one\\ntwo'
    was was
~ PATH
    + /a
    + ''
    - /home/bin
- MINE='a b'
functions:
+ my-fn()
- old()
`);
  });

  it('is nothing between equals', () => {
    const own = new Map(VARIABLES.map(({ name, value }) => [name, value]));
    expect(formatDifference(differenceOf(VARIABLES, own))).toBe('');
  });

  it('of a list in another order says so', () => {
    const [, , path] = VARIABLES;
    const swapped = differenceOf(path === undefined ? [] : [path], new Map([['PATH', ':/usr/bin:/a']]));
    expect(formatDifference(swapped)).toBe('~ PATH\n    in another order\n');
  });

  it('for programs has the same', () => {
    expect(differenceJson(difference)).toMatchObject({
      added: [{ name: 'BASH_FUNC_my-fn%%', function: 'my-fn', from: 'environment' }],
      changed: [
        { name: 'MULTI', value: 'one\ntwo', was: 'was', from: 'env' },
        { name: 'PATH', entries: { added: ['/a', ''], removed: ['/home/bin'] } },
      ],
      removed: [
        { name: 'BASH_FUNC_old%%', function: 'old' },
        { name: 'MINE', was: 'a b' },
      ],
    });
  });
});

describe('for programs', () => {
  it('is text where it is, else one character a byte, and says so', () => {
    expect(VARIABLES.map(variableJson)).toEqual([
      { name: 'BASH_FUNC_my-fn%%', function: 'my-fn', value: FUNCTION.value, from: 'environment' },
      { name: 'MULTI', value: 'one\ntwo', from: 'env', over: [{ value: 'x', from: 'environment' }] },
      { name: 'PATH', value: '/a:/usr/bin:', from: 'environment', entries: expect.arrayContaining([{ value: '/usr/bin', from: 'host' }]) },
      { name: 'RAW', value: 'ÿ', bytes: true, from: 'runtime_pass_env' },
    ]);
    expect(absenceJson({ name: 'f', kind: 'function', why: 'snapshot' })).toEqual({ function: 'f', why: 'snapshot' });
  });
});
