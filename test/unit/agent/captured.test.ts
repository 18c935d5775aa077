// Pins what of an environment reaches commands: functions as `functions` says, a snapshot without functions and lost directories.

import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { filterFunctions, placeFunctions, readSnapshot } from '../../../src/agent/captured.js';
import { encodeSnapshot, type SnapshotFacts } from '../../../src/session/snapshot-file.js';

const FACTS: SnapshotFacts = {
  key: 'k',
  name: 'n',
  directory: '/',
  launcher: [],
  takenAt: 1,
  entryMs: 1,
  inputs: [],
  functions: ['f', 'my-g'],
  withheld: [],
};
const environment = new Map([
  ['A', '1'],
  ['BASH_FUNC_my-build%%', '() { :; }'],
  ['BASH_FUNC_helper%%', '() { :; }'],
]);

describe('functions of a captured environment', () => {
  it('are all kept unless it is said otherwise', () => {
    expect(filterFunctions(environment, 'all')).toEqual({ environment, absent: [] });
  });

  it('are kept by glob; those that are not are known to be absent', () => {
    const captured = filterFunctions(environment, ['my-*']);
    expect([...captured.environment.keys()]).toEqual(['A', 'BASH_FUNC_my-build%%']);
    expect(captured.absent).toEqual([{ kind: 'function', name: 'helper', why: 'filtered' }]);
    expect([...placeFunctions(captured)]).toEqual([
      ['helper', 'filtered'],
      ['my-build', 'session'],
    ]);
  });
});

describe('a snapshot', () => {
  const bytes = (variables: [string, string][]): Buffer => encodeSnapshot({ facts: FACTS, variables });

  it('gives its variables, and knows the functions that it lacks', () => {
    const captured = readSnapshot(bytes([['RAW', '\xff\n']]), new Map([['HOST', '1']]));
    expect([...captured.environment]).toEqual([['RAW', '\xff\n']]);
    expect([...placeFunctions(captured)]).toEqual([
      ['f', 'snapshot'],
      ['my-g', 'snapshot'],
    ]);
  });

  it('gives no temporary directory that is gone, but the host’s own', () => {
    const captured = readSnapshot(
      bytes([
        ['TMPDIR', '/nowhere/a'],
        ['TMP', '/nowhere/b'],
        ['TEMP', tmpdir()],
        ['TEMPDIR', 'relative'],
        ['OTHER', '/nowhere/c'],
      ]),
      new Map([['TMPDIR', '/host']]),
    );
    expect(Object.fromEntries(captured.environment)).toEqual({ TMPDIR: '/host', TEMP: tmpdir(), TEMPDIR: 'relative', OTHER: '/nowhere/c' });
    expect(captured.absent.filter(({ kind }) => kind === 'variable').map(({ name }) => name)).toEqual(['TMPDIR', 'TMP']);
  });

  it('that is not whole is an error', () => {
    expect(() => readSnapshot(bytes([]).subarray(0, -1), new Map())).toThrow('the snapshot of the environment is damaged');
  });
});
