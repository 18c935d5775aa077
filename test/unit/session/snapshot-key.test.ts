// Pins what a snapshot depends on: each of these changes its key, and nothing else does.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type SnapshotSources, snapshotKey } from '../../../src/session/snapshot-key.js';

const directory = mkdtempSync(join(tmpdir(), 'holdfast-key-'));
/** What the key is made of, once a file is there with that content. */
function file(name: string, content: string): SnapshotSources {
  writeFileSync(join(directory, name), content);
  return sources;
}

beforeEach(() => {
  file('lock', 'one');
  file('enter.sh', 'exec "$@"');
  mkdirSync(join(directory, 'folder'), { recursive: true });
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const definition: SnapshotSources['definition'] = {
  directory,
  launch: { style: 'enter', argv: ['bash', './enter.sh', '--', 'folder', ''] },
  inputs: ['lock', 'missing'],
  volatile: ['BUILD_*', 'ONE'],
};
const sources: SnapshotSources = {
  definition,
  declared: [['DECLARED', '1']],
  launched: new Map([
    ['HOME', '/home/u'],
    ['TERM', 'xterm'],
    ['BASH_ENV', '/share/bash-env.sh'],
    ['HOLDFAST_LAUNCH', '/share/bash-env.sh'],
  ]),
  caller: undefined,
};
const launched = (...more: [string, string][]): ReadonlyMap<string, string> => new Map([...sources.launched, ...more]);

describe('the key', () => {
  it.each<[what: string, changed: () => SnapshotSources]>([
    ['the launcher', () => ({ ...sources, definition: { ...definition, launch: { style: 'enter', argv: ['bash'] } } })],
    [
      'how it is entered',
      () => ({ ...sources, definition: { ...definition, launch: { style: 'enter-string', argv: ['bash', './enter.sh'] } } }),
    ],
    ['the directory', () => ({ ...sources, definition: { ...definition, directory: '/' } })],
    ['an input', () => file('lock', 'two')],
    ['an input that came', () => file('missing', '')],
    ['a script among the launcher’s words', () => file('enter.sh', 'other')],
    ['a declared variable', () => ({ ...sources, declared: [['DECLARED', '2']] })],
    ['what the launcher is started with', () => ({ ...sources, launched: launched(['HOME', '/home/v']) })],
    ['a further variable for the launcher', () => ({ ...sources, launched: launched(['GOFLAGS', '']) })],
    ['the user’s BASH_ENV', () => ({ ...sources, launched: launched(['HOLDFAST_USER_BASH_ENV', '/rc']) })],
    ['the caller, where it can be read', () => ({ ...sources, caller: new Map([['SDK', '1']]) })],
  ])('changes with %s', (_, changed) => {
    const before = snapshotKey(sources).key;
    const after = snapshotKey(changed()).key;
    rmSync(join(directory, 'missing'), { force: true });
    expect(after).not.toBe(before);
    expect(after).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each<[what: string, changed: SnapshotSources]>([
    ['the order of variables', { ...sources, launched: new Map([...sources.launched].reverse()) }],
    ['the order of inputs', { ...sources, definition: { ...definition, inputs: ['missing', 'lock'] } }],
    ['TERM and the login', { ...sources, launched: launched(['TERM', 'vt100'], ['XDG_SESSION_ID', '7']) }],
    [
      'what is declared volatile',
      {
        ...sources,
        launched: launched(['BUILD_ID', '7'], ['ONE', 'x']),
        declared: [
          ['DECLARED', '1'],
          ['ONE', 'y'],
        ],
      },
    ],
    ['where Holdfast is installed', { ...sources, launched: launched(['BASH_ENV', '/other'], ['HOLDFAST_LAUNCH', '/other']) }],
  ])('does not change with %s', (_, changed) => expect(snapshotKey(changed).key).toBe(snapshotKey(sources).key));

  it('does not change with the caller’s place, where all of the caller counts', () => {
    const caller = (...more: [string, string][]): SnapshotSources => ({ ...sources, caller: new Map([['SDK', '1'], ...more]) });
    expect(snapshotKey(caller(['PWD', '/a'], ['SHLVL', '3'], ['HOLDFAST_SESSION', 'x'])).key).toBe(snapshotKey(caller()).key);
  });

  it('tells the files that it is made of', () => {
    expect(snapshotKey(sources).inputs.map(({ path }) => path)).toEqual(
      ['lock', 'missing', 'enter.sh'].map((name) => join(directory, name)),
    );
  });
});
