// Pins `explain`: what it says is what a command gets, whatever the layers; and each value has the reason that the order of DESIGN
// section 4 gives it.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BaseEnvironment } from '../../../src/agent/base-environment.js';
import { explain, type Layers } from '../../../src/cli/explanation.js';
import { packStrings } from '../../../src/protocol/strings.js';

const NONE: Layers = {
  weak: [],
  captured: [],
  launched: new Map(),
  declared: [],
  pathPrepend: [],
  absent: [],
  changes: [],
  exact: false,
  directory: '/work',
  caller: new Map(),
};

const change = (text: string, from: Layers['changes'][number]['from'] = '--env'): Layers['changes'][number] => ({
  bytes: Buffer.from(text),
  from,
});

function sources(layers: Partial<Layers>): Record<string, string> {
  return Object.fromEntries(explain({ ...NONE, ...layers }).variables.map(({ name, value, from }) => [name, `${value} ${from}`]));
}

function reasons(layers: Partial<Layers>): Record<string, string> {
  return Object.fromEntries(explain({ ...NONE, ...layers }).absent.map(({ name, why }) => [name, why]));
}

describe('what is explained', () => {
  const name = fc.constantFrom('A', 'B', 'PATH', 'PWD', '_', 'OLDPWD', 'NOTIFY_SOCKET', 'BASH_FUNC_f%%');
  const value = fc.constantFrom('', '1', '2', '/a', '/a:/b', ':', 'x=y');
  const pairs = fc.uniqueArray(fc.tuple(name, value), { selector: ([each]) => each });
  const directories = fc.array(fc.constantFrom('/p', '/q'), { maxLength: 2 });
  const changes = fc.array(
    fc.oneof(
      fc.tuple(name, value).map(([each, text]) => `=${each}=${text}`),
      fc.tuple(name, value).map(([each, text]) => `?${each}=${text}`),
      name.map((each) => `-${each}`),
      directories.map(([directory = '/r']) => `:${directory}`),
    ),
    { maxLength: 5 },
  );

  it('is what a command gets', () => {
    fc.assert(
      fc.property(pairs, pairs, pairs, directories, changes, fc.boolean(), (weak, captured, declared, pathPrepend, request, exact) => {
        const base = new BaseEnvironment(new Map(captured), declared, weak, pathPrepend);
        const { block } = base.forTarget(packStrings(request.map((each) => Buffer.from(each))), exact, '/work');
        const got = block.toString('latin1').split('\0').slice(0, -1).sort();
        const { variables, absent } = explain({
          ...NONE,
          weak,
          captured,
          declared: declared.map(([each, text]) => [each, text, 'env']),
          pathPrepend,
          changes: request.map((each) => change(each)),
          exact,
        });
        expect(variables.map((each) => `${each.name}=${each.value}`).sort()).toEqual(got);
        const path = variables.find((each) => each.name === 'PATH');
        expect(path?.entries?.map((entry) => entry.value).join(':')).toBe(path?.value);
        // What is there is not said to be absent.
        expect(absent.filter((each) => variables.some((variable) => variable.name === each.name))).toEqual([]);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('who gave a value', () => {
  it('is the strongest', () => {
    expect(
      sources({
        weak: [...'ABCDEFG'].map((name) => [name, 'weak']),
        captured: [...'BCDEFG', 'H'].map((name) => [name, 'captured']),
        launched: new Map([
          ['C', 'captured'],
          ['D', 'other'],
        ]),
        declared: [
          ['E', 'declared', 'env'],
          ['F', 'declared', 'pass_env'],
        ],
        changes: [
          change('=F=now', 'runtime_pass_env'),
          change('=G=typed'),
          change('?A=all', '--pass-env'),
          change('?NEW=all', '--pass-env'),
        ],
      }),
    ).toEqual({
      A: "weak pass_env '*'",
      B: 'captured environment',
      C: 'captured host',
      D: 'captured environment',
      E: 'declared env',
      F: 'now runtime_pass_env',
      G: 'typed --env',
      H: 'captured environment',
      NEW: 'all --pass-env',
    });
  });

  it('overrules weaker ones that gave another value', () => {
    const [variable] = explain({
      ...NONE,
      weak: [['A', 'x']],
      captured: [['A', 'y']],
      declared: [['A', 'z', 'runtime_env']],
      changes: [change('=A=y')],
    }).variables;
    expect(variable).toEqual({
      name: 'A',
      value: 'y',
      from: '--env',
      over: [
        { from: 'runtime_env', value: 'z' },
        { from: "pass_env '*'", value: 'x' },
      ],
    });
  });

  it('is told for each directory of PATH', () => {
    const [path] = explain({
      ...NONE,
      captured: [['PATH', '/env/bin:/usr/bin:']],
      launched: new Map([['PATH', '/home/bin:/usr/bin']]),
      pathPrepend: ['/declared'],
      changes: [change(':/typed', '--path-prepend'), change(':/second', '--path-prepend')],
    }).variables;
    expect(path?.entries?.map(({ value, from }) => `${value} ${from}`)).toEqual([
      '/typed --path-prepend',
      '/second --path-prepend',
      '/declared path_prepend',
      '/env/bin environment',
      '/usr/bin host',
      ' environment',
    ]);
  });

  it('of a PATH that the command was given is that command alone', () => {
    const [path] = explain({ ...NONE, captured: [['PATH', '/a']], pathPrepend: ['/b'], changes: [change('=PATH=/c:/d')] }).variables;
    expect(path?.entries?.map(({ value, from }) => `${value} ${from}`)).toEqual(['/c --env', '/d --env']);
    expect(path?.over.map(({ from }) => from)).toEqual(['path_prepend', 'environment']);
  });
});

describe('why something is not there', () => {
  it('is said of what the environment had', () => {
    expect(
      reasons({
        captured: ['_', 'OLDPWD', 'NOTIFY_SOCKET', 'GONE', 'A'].map((name) => [name, 'x']),
        absent: [
          { kind: 'function', name: 'f', why: 'filtered' },
          { kind: 'variable', name: 'TMPDIR', why: 'lost-directory' },
        ],
        changes: [change('-GONE', '--unset'), change('-NEVER', '--unset')],
      }),
    ).toEqual({ _: 'internal', OLDPWD: 'internal', NOTIFY_SOCKET: 'internal', GONE: 'unset', f: 'filtered', TMPDIR: 'lost-directory' });
  });

  it('is said of what the caller has', () => {
    const caller = new Map(['GOFLAGS', 'HOME', 'WEAK', 'SET', 'PWD', 'SHLVL', '_'].map((name) => [name, 'mine']));
    expect(reasons({ caller, launched: new Map([['HOME', '/']]), weak: [['WEAK', 'mine']], captured: [['SET', 'theirs']] })).toEqual({
      GOFLAGS: 'scrubbed',
    });
  });

  it('is said of all but what an exact command says', () => {
    const captured: [string, string][] = [
      ['A', '1'],
      ['B', '2'],
    ];
    expect(reasons({ captured, exact: true, changes: [change('=B=3')] })).toEqual({ A: 'exact' });
    expect(sources({ captured, exact: true, changes: [change('=B=3')] })).toEqual({ B: '3 --env' });
  });
});
