import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { usageText } from '../../../src/cli/runner-exec-usage.js';
import { findProject, PROJECT_MARKERS, physicalDirectory, selectSession } from '../../../src/client/locate.js';

let top: string;

beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-locate-')));
});

afterEach(() => {
  rmSync(top, { recursive: true });
});

const bytes = (text: string) => Buffer.from(text);

describe('a session is selected by', () => {
  const never = () => {
    throw new Error('the directory was looked at');
  };

  it('socket, then name, then environment, and only then the project', () => {
    const all = { socket: bytes('/s'), session: bytes('n'), environmentSession: bytes('e'), directory: never };
    expect(selectSession(all)).toEqual({ kind: 'socket', path: bytes('/s') });
    expect(selectSession({ ...all, socket: undefined })).toEqual({ kind: 'session', name: bytes('n') });
    expect(selectSession({ environmentSession: bytes('e'), directory: never })).toEqual({ kind: 'session', name: bytes('e') });
    mkdirSync(join(top, 'a/b'), { recursive: true });
    writeFileSync(join(top, 'a/flake.nix'), '');
    expect(selectSession({ environmentSession: bytes(''), directory: () => bytes(join(top, 'a/b')) })).toEqual({
      kind: 'project',
      directory: bytes(join(top, 'a')),
      marker: 'flake.nix',
    });
  });

  it('nothing, and then says what would be one', () => {
    expect(() => selectSession({ directory: () => bytes(top) })).toThrow(`no project was found from '${top}' upwards`);
    expect(() => selectSession({ directory: () => Buffer.alloc(0) })).toThrow("no project was found from '.' upwards");
  });
});

describe('a project', () => {
  it.each(PROJECT_MARKERS)('is a directory that has %s', (marker) => {
    mkdirSync(dirname(join(top, marker)), { recursive: true });
    writeFileSync(join(top, marker), '');
    expect(findProject(bytes(top))).toEqual({ directory: bytes(top), marker });
  });

  it('is known to the client in C by the same files, in the same order', () => {
    const source = readFileSync(join(import.meta.dirname, '../../../native/client_project.c'), 'utf8');
    const [, list = ''] = /markers\[\] = \{([^}]*)\}/.exec(source) ?? [];
    expect([...list.matchAll(/"([^"]+)"/g)].map(([, marker]) => marker)).toEqual([...PROJECT_MARKERS]);
    for (const marker of PROJECT_MARKERS) expect(usageText).toContain(marker);
  });

  it('is the nearest one, and its strongest marker counts', () => {
    mkdirSync(join(top, 'in'));
    writeFileSync(join(top, 'holdfast.toml'), '');
    for (const marker of ['.envrc', 'devenv.nix']) writeFileSync(join(top, 'in', marker), '');
    expect(findProject(bytes(join(top, 'in')))).toEqual({ directory: bytes(join(top, 'in')), marker: 'devenv.nix' });
  });

  it('may have a name that is not UTF-8', () => {
    const odd = Buffer.concat([bytes(`${top}/d`), Buffer.of(0xe9)]);
    mkdirSync(odd);
    writeFileSync(Buffer.concat([odd, bytes('/.envrc')]), '');
    expect(findProject(odd)?.directory.equals(odd)).toBe(true);
  });
});

describe('the working directory', () => {
  it('is empty when it was removed', () => {
    const home = process.cwd();
    mkdirSync(join(top, 'gone'));
    process.chdir(join(top, 'gone'));
    rmSync(join(top, 'gone'), { recursive: true });
    try {
      expect(physicalDirectory().toString()).toBe('');
    } finally {
      process.chdir(home);
    }
    expect(physicalDirectory().toString()).toBe(home);
  });
});
