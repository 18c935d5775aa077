// Pins src/agent/base-environment.ts against the policy of docs: what is stronger than what, row by row; no name twice; bytes.

import { describe, expect, it } from 'vitest';
import { BaseEnvironment, type Pairs } from '../../../src/agent/base-environment.js';
import { EMPTY_LIST, packStrings } from '../../../src/protocol/strings.js';

interface Given {
  captured?: Pairs;
  declared?: Pairs;
  weak?: Pairs;
  pathPrepend?: string[];
  changes?: (string | Buffer)[];
  exact?: boolean;
  cwd?: string;
}

function made({ captured = [], declared = [], weak = [], pathPrepend = [], changes = [], exact = false, cwd = '/work' }: Given): {
  entries: string[];
  path: string | undefined;
} {
  const base = new BaseEnvironment(new Map(captured), declared, weak, pathPrepend);
  const list = changes.length === 0 ? EMPTY_LIST : packStrings(changes);
  const { count, block, path } = base.forTarget(list, exact, cwd);
  const entries = block.toString('latin1').split('\0').slice(0, -1);
  expect(entries).toHaveLength(count);
  const names = entries.map((entry) => entry.slice(0, entry.indexOf('=')));
  expect(new Set(names).size).toBe(count);
  if (path !== undefined) expect(path.at(-1)).toBe(0);
  return { entries, path: path?.toString('latin1', 0, path.length - 1) };
}

describe('the environment of a target', () => {
  const rows: [what: string, given: Given, value: string | undefined][] = [
    ['host variables passed by "*"', { weak: [['K', 'weak']] }, 'weak'],
    ['the base over those', { weak: [['K', 'weak']], captured: [['K', 'base']] }, 'base'],
    ['what is declared over the base', { captured: [['K', 'base']], declared: [['K', 'declared']] }, 'declared'],
    [
      'what is declared later over what is declared',
      {
        declared: [
          ['K', 'env'],
          ['K', 'passed by name'],
        ],
      },
      'passed by name',
    ],
    ['the request over what is declared', { declared: [['K', 'declared']], changes: ['=K=own'] }, 'own'],
    ['the request’s later over its earlier', { changes: ['=K=first', '=K=second'] }, 'second'],
    ['nothing, where the request unsets it', { captured: [['K', 'base']], declared: [['K', 'd']], changes: ['-K'] }, undefined],
    ['what is set after it was unset', { captured: [['K', 'base']], changes: ['-K', '=K=again'] }, 'again'],
    ['nothing, where it is unset after it was set', { changes: ['=K=own', '-K'] }, undefined],
    ['the caller’s by "*", where nobody else has it', { changes: ['?K=caller'] }, 'caller'],
    ['the base over the caller’s by "*"', { captured: [['K', 'base']], changes: ['?K=caller'] }, 'base'],
    ['what is declared over the caller’s by "*"', { declared: [['K', 'declared']], changes: ['?K=caller'] }, 'declared'],
    ['the base, empty as it is, over the caller’s by "*"', { captured: [['K', '']], changes: ['?K=caller'] }, ''],
    ['the request’s own over the caller’s by "*"', { changes: ['?K=caller', '=K=own'] }, 'own'],
    ['the request’s own before the caller’s by "*"', { changes: ['=K=own', '?K=caller'] }, 'own'],
    ['nothing of the session when exact', { captured: [['K', 'base']], declared: [['K', 'd']], exact: true }, undefined],
    ['the request’s own when exact', { captured: [['K', 'base']], changes: ['=K=own'], exact: true }, 'own'],
    ['the caller’s by "*" when exact', { captured: [['K', 'base']], changes: ['?K=caller'], exact: true }, 'caller'],
  ];
  it.each(rows)('has %s', (_, given, value) => {
    expect(made(given).entries.filter((entry) => entry.startsWith('K='))).toEqual(value === undefined ? [] : [`K=${value}`]);
  });

  it('has names and values of any bytes', () => {
    const odd = Buffer.from('\x01\xff\xfe\n=\t', 'latin1');
    const { entries } = made({ captured: [['A\xff', '\xe9\n']], changes: [Buffer.concat([Buffer.from('=B='), odd]), '=EMPTY='] });
    expect(entries).toEqual(['A\xff=\xe9\n', `B=${odd.toString('latin1')}`, 'EMPTY=']);
  });

  it('has exported functions by their odd names', () => {
    const captured: Pairs = [
      ['BASH_FUNC_my-tool%%', '() {  echo "$@"\n}'],
      ['A', '1'],
    ];
    expect(made({ captured }).entries).toEqual(['BASH_FUNC_my-tool%%=() {  echo "$@"\n}', 'A=1']);
  });

  it('is the same for each request, whatever the others changed', () => {
    const base = new BaseEnvironment(
      new Map([
        ['A', '1'],
        ['PATH', '/bin'],
      ]),
    );
    const first = base.forTarget(EMPTY_LIST, false, '/').block.toString();
    base.forTarget(packStrings(['=A=2', '-PATH', ':/x']), false, '/');
    expect(base.forTarget(EMPTY_LIST, false, '/').block.toString()).toBe(first);
    expect(base.entries()).toEqual([
      ['A', '1'],
      ['PATH', '/bin'],
    ]);
  });

  it('has nothing that speaks of the launcher’s shell or of the session', () => {
    const captured: Pairs = [
      ['_', '/bin/x'],
      ['OLDPWD', '/o'],
      ['NOTIFY_SOCKET', '/n'],
      ['A', '1'],
    ];
    expect(made({ captured, weak: [['OLDPWD', '/w']] }).entries).toEqual(['A=1']);
    expect(made({ captured, declared: [['OLDPWD', '/declared']] }).entries).toEqual(['OLDPWD=/declared', 'A=1']);
  });

  it('has the directory of the request as PWD, where the base has one', () => {
    const captured: Pairs = [
      ['PWD', '/launcher'],
      ['A', '1'],
    ];
    expect(made({ captured, cwd: '/own' }).entries).toEqual(['A=1', 'PWD=/own']);
    expect(made({ captured, cwd: '/own', changes: ['=PWD=/said'] }).entries).toEqual(['A=1', 'PWD=/said']);
    expect(made({ captured, cwd: '/own', changes: ['-PWD'] }).entries).toEqual(['A=1']);
    expect(made({ captured, cwd: '' }).entries).toEqual(['A=1']);
    expect(made({ captured: [['A', '1']], cwd: '/own' }).entries).toEqual(['A=1']);
    expect(made({ captured, cwd: '/own', exact: true }).entries).toEqual([]);
  });

  const paths: [what: string, given: Given, path: string | undefined][] = [
    ['the base’s', { captured: [['PATH', '/b']] }, '/b'],
    ['the declared one in place of the base’s', { captured: [['PATH', '/b']], declared: [['PATH', '/d']] }, '/d'],
    ['led by path_prepend', { captured: [['PATH', '/b']], pathPrepend: ['/1', '/2'] }, '/1:/2:/b'],
    [
      'led by path_prepend before the declared one',
      { captured: [['PATH', '/b']], declared: [['PATH', '/d']], pathPrepend: ['/1'] },
      '/1:/d',
    ],
    ['path_prepend alone, where there is none', { pathPrepend: ['/1'] }, '/1'],
    ['led by the request’s, the first one first', { captured: [['PATH', '/b']], changes: [':/x', ':/y'] }, '/x:/y:/b'],
    ['led by the request’s, then path_prepend', { captured: [['PATH', '/b']], pathPrepend: ['/1'], changes: [':/x'] }, '/x:/1:/b'],
    ['the request’s own in place of all', { captured: [['PATH', '/b']], pathPrepend: ['/1'], changes: ['=PATH=/own'] }, '/own'],
    ['the request’s own, led by its directories', { captured: [['PATH', '/b']], changes: [':/x', '=PATH=/own', ':/y'] }, '/x:/y:/own'],
    ['none, where it is unset', { captured: [['PATH', '/b']], changes: ['-PATH'] }, undefined],
    ['none, where there is none', {}, undefined],
    ['none when exact', { captured: [['PATH', '/b']], pathPrepend: ['/1'], exact: true }, undefined],
    ['the request’s when exact', { captured: [['PATH', '/b']], changes: ['=PATH=/own', ':/x'], exact: true }, '/x:/own'],
  ];
  it.each(paths)('has a PATH that is %s', (_, given, path) => {
    const target = made(given);
    expect(target.path).toBe(path);
    expect(target.entries.find((entry) => entry.startsWith('PATH='))).toBe(path === undefined ? undefined : `PATH=${path}`);
  });
});
