// Pins docs/config.md "Fingerprint": what moves it and what does not. With real openings: test/e2e/fingerprint.test.ts.

import { describe, expect, it } from 'vitest';

import { DEFINITION_DEFAULTS, type SessionDefinition } from '../../../src/session/definition.js';
import { type FingerprintFacts, fingerprintOf } from '../../../src/session/fingerprint.js';
import type { WrapDefinition } from '../../../src/wrap/definition.js';

const definition: SessionDefinition = {
  ...DEFINITION_DEFAULTS,
  name: 'web',
  directory: '/p',
  launch: { style: 'enter', argv: ['/p/enter', '--'] },
  env: { A: '1' },
  runtimeEnv: { R: '1' },
  passEnv: ['TOKEN', 'ABSENT'],
  runtimePassEnv: ['X', 'Y'],
  inputs: ['lock'],
};
const facts: FingerprintFacts = {
  definition,
  captured: new Map([
    ['PATH', '/n/bin:/home/u/bin'],
    ['GREETING', 'hello'],
    ['HOME', '/home/u'],
    ['BASH_FUNC_greet%%', '() { echo; }'],
  ]),
  launched: [['PATH', '/home/u/bin']],
  declared: [
    ['A', '1'],
    ['R', '1'],
    ['TOKEN', 't'],
  ],
  weak: [],
  inputs: [{ path: '/p/lock', sha256: 'a' }],
  scripts: [{ path: '/p/enter', sha256: 'e' }],
};
const WRAP: WrapDefinition = {
  prefix: ['chroot', '/r'],
  operand: [],
  envStyle: 'inherit',
  ttyOption: [],
  pathMap: {},
  mapArgv: false,
  failureCodes: [],
  farSide: 'local',
};
const base = fingerprintOf(facts);

function defined(more: Partial<SessionDefinition>): FingerprintFacts {
  return { ...facts, definition: { ...definition, ...more } };
}
function captured(...pairs: [string, string][]): FingerprintFacts {
  return { ...facts, captured: new Map([...facts.captured, ...pairs]) };
}

describe('a fingerprint', () => {
  it('is a hash, with one for each part and the names that were left out', () => {
    expect(base.fingerprint).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(Object.keys(base.parts)).toEqual(['definition', 'variables', 'functions', 'passed', 'inputs', 'held']);
    expect(base.leftOut).toEqual(['HOME']);
  });

  it.each<[string, FingerprintFacts]>([
    ['another value of a variable', captured(['GREETING', 'hallo'])],
    ['a variable more', captured(['MORE', ''])],
    ['a byte that is no text', captured(['GREETING', 'hell\xff'])],
    ['a variable that was two', captured(['GREETING', 'hello\nMORE='])],
    ['a directory more on PATH', captured(['PATH', '/n/bin:/n/more:/home/u/bin'])],
    ['directories in another order', captured(['PATH', '/home/u/bin:/n/bin'])],
    ['the body of a function', captured(['BASH_FUNC_greet%%', '() { echo hello; }'])],
    ['env', defined({ env: { A: '2' } })],
    ['a word of the launcher', defined({ launch: { style: 'enter', argv: ['/p/enter', '-x', '--'] } })],
    ['its style', defined({ launch: { style: 'enter-string', argv: ['/p/enter', '--'] } })],
    ['the mode', defined({ mode: 'snapshot' })],
    ['path_prepend', defined({ pathPrepend: ['/p/bin'] })],
    ['a name in pass_env', defined({ passEnv: ['TOKEN'] })],
    ['a name in runtime_pass_env', defined({ runtimePassEnv: ['X', 'Z'] })],
    ['a name in launch_pass_env', defined({ launchPassEnv: ['X'] })],
    ['the identity', defined({ identity: 'sdk 4' })],
    ['a prefix', defined({ wrap: WRAP })],
    ['the style of a prefix', defined({ wrap: { ...WRAP, envStyle: 'env-command' } })],
    ['the value that a variable of pass_env had', { ...facts, declared: [['TOKEN', 'u']] }],
    ['the content of an input', { ...facts, inputs: [{ path: '/p/lock', sha256: 'b' }] }],
    ['the content of what the launcher names', { ...facts, scripts: [{ path: '/p/enter', sha256: 'f' }] }],
    ['what is held', { ...facts, held: 'sha256:0a' }],
    ['an input that went', { ...facts, inputs: [{ path: '/p/lock', sha256: null }] }],
    ["a caller's variable under pass_env *", { ...defined({ passEnv: ['TOKEN', 'ABSENT', '*'] }), weak: [['GOFLAGS', '-x']] }],
  ])('moves with %s', (_, moved) => {
    expect(fingerprintOf(moved).fingerprint).not.toBe(base.fingerprint);
  });

  it.each<[string, FingerprintFacts]>([
    ['the name', defined({ name: 'other' })],
    ['the value of runtime_env', { ...defined({ runtimeEnv: { R: '2', S: '1' } }), declared: [...facts.declared, ['S', '1']] }],
    [
      'the times and counts of its life',
      defined({ idleTimeoutMs: null, openTimeoutMs: 1, killGraceMs: 1, maxConcurrent: 3, maxQueue: 1, onStale: 'refuse' }),
    ],
    ['containment and what is kept of jobs', defined({ containment: 'group', jobOutputLimitBytes: 7 })],
    ['the order of names', defined({ runtimePassEnv: ['Y', 'X'], passEnv: ['ABSENT', 'TOKEN'] })],
    ['the order of the environment', { ...facts, captured: new Map([...facts.captured].reverse()) }],
    ["the caller's home, terminal and language", captured(['HOME', '/root'], ['TERM', 'x'], ['LC_ALL', 'C'], ['SHLVL', '3'], ['_', '/x'])],
    ["the caller's PATH", { ...captured(['PATH', '/n/bin:/opt/x:/usr/bin']), launched: [['PATH', '/opt/x:/usr/bin']] }],
    ['a file at home that the environment told of', { ...facts, inputs: [...facts.inputs, { path: '/home/u/.direnvrc', sha256: 'd' }] }],
    ['a variable that is volatile', { ...captured(['NOW', '12:00']), definition: { ...definition, volatile: ['NOW'] } }],
    [
      'the directory, where nothing names it',
      {
        ...defined({ directory: '/q', launch: { style: 'enter', argv: ['/q/enter', '--'] } }),
        inputs: [{ path: '/q/lock', sha256: 'a' }],
        scripts: [{ path: '/q/enter', sha256: 'e' }],
      },
    ],
  ])('does not move with %s', (_, same) => {
    expect(fingerprintOf(same).fingerprint).toBe(base.fingerprint);
  });

  it('has no part in what a wrapper leaves on this side', () => {
    const wrapped = (wrap: WrapDefinition, greeting: string): string =>
      fingerprintOf({ ...captured(['GREETING', greeting]), definition: { ...definition, mode: 'wrap', wrap } }).fingerprint;
    expect(wrapped({ ...WRAP, envStyle: 'option' }, 'hallo')).toBe(wrapped({ ...WRAP, envStyle: 'option' }, 'hello'));
    expect(wrapped(WRAP, 'hallo')).not.toBe(wrapped(WRAP, 'hello'));
  });

  it('counts of pass_env * what is not volatile and not hidden', () => {
    const all = defined({ passEnv: ['*'] });
    const weak: [string, string][] = [
      ['GOFLAGS', '-x'],
      ['TERM', 'xterm'],
      ['GREETING', 'hidden'],
      ['R', 'hidden as well'],
    ];
    const one = fingerprintOf({ ...all, weak }).fingerprint;
    expect(fingerprintOf({ ...all, weak: [['GOFLAGS', '-x']] }).fingerprint).toBe(one);
    expect(fingerprintOf({ ...all, weak: [['GOFLAGS', '-y']] }).fingerprint).not.toBe(one);
  });
});
