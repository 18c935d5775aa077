// Pins DESIGN section 4 "Session life" for the runtime directory and the names in it.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import {
  findFault,
  makeRuntimeDirectory,
  openRuntimeDirectory,
  runtimeDirectoryPath,
  sessionFiles,
  sessionId,
} from '../../../src/client/runtime-directory.js';
import { closeFd } from '../../../src/native/descriptors.js';

let top: string;

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'holdfast-runtime-'));
});

afterEach(() => {
  rmSync(top, { recursive: true });
});

describe('the path', () => {
  it.each([
    [{ HOLDFAST_RUNTIME_DIR: '/a', XDG_RUNTIME_DIR: '/b' }, '/a'],
    [{ HOLDFAST_RUNTIME_DIR: '', XDG_RUNTIME_DIR: '/b' }, '/b/holdfast'],
    [{ XDG_RUNTIME_DIR: '' }, '/tmp/holdfast-1000'],
    [{ HOLDFAST_RUNTIME_DIR: '/a//' }, '/a'],
    [{ HOLDFAST_RUNTIME_DIR: '/' }, '/'],
  ])('comes from the environment: %o', (env, path) => {
    expect(runtimeDirectoryPath(env, 1000)).toBe(path);
  });
});

describe('a session id', () => {
  it.each(['a', 'web', 'A.b_c-9', 'n'.repeat(48)])('is the name where that is a plain file name: %s', (name) => {
    expect(sessionId(name)).toBe(name);
  });

  it.each(['', '.', '-a', '~a', 'a/b', 'a b', 'é', 'n'.repeat(49), 'a\n'])('is a hash elsewhere: %j', (name) => {
    expect(sessionId(name)).toMatch(/^~[0-9a-f]{32}$/);
  });

  it('is of the bytes, UTF-8 or not', () => {
    expect(sessionId('abc/')).toBe(sessionId(Buffer.from('abc/')));
    expect(sessionId(Buffer.from([0xff]))).not.toBe(sessionId(Buffer.from([0xfe])));
    // printf %s /srv/project | sha256sum
    expect(sessionId('/srv/project')).toBe('~4f3f91f6b0b47e3bebd44da0bf365177');
  });

  it('begins the name of every file of the session', () => {
    const files = sessionFiles('/run/h', 'web');
    expect(files).toMatchObject({
      id: 'web',
      stem: '/run/h/web',
      socket: '/run/h/web.sock',
      record: '/run/h/web.json',
      pass: '/run/h/web.pass',
    });
  });
});

describe('a directory', () => {
  it('of our own with mode 700 is opened', () => {
    const fd = openRuntimeDirectory(top);
    expect(fd).toBeTypeOf('number');
    closeFd(fd ?? -1);
  });

  it('that is absent is none', () => {
    expect(openRuntimeDirectory(join(top, 'absent'))).toBeUndefined();
  });

  it.each([
    ['a link to a good one', (path: string) => symlinkSync(top, path), 'it is a link, or no directory'],
    ['a file', (path: string) => writeFileSync(path, ''), 'it is a link, or no directory'],
    ['one open to the group', (path: string) => [mkdirSync(path), chmodSync(path, 0o750)], 'its mode is 750, not 700'],
  ])('is refused: %s', (_, make, fault) => {
    const path = join(top, 'x');
    make(path);
    expect(() => openRuntimeDirectory(path)).toThrow(`cannot use the runtime directory '${path}': ${fault}`);
  });

  it("is refused when it is somebody else's", () => {
    expect(findFault({ mode: 0o40700, uid: 7 }, 8)?.fault).toBe('it belongs to user 7');
    expect(findFault({ mode: 0o40700, uid: 8 }, 8)).toBeUndefined();
  });
});

describe('a directory that is to be made', () => {
  it('gets mode 700 whatever the mask, and its parents too when asked', () => {
    const path = join(top, 'a/b');
    const before = process.umask(0);
    try {
      closeFd(makeRuntimeDirectory(path, true));
    } finally {
      process.umask(before);
    }
    expect(statSync(path).mode & 0o7777).toBe(0o700);
  });

  it('needs its parent otherwise', () => {
    expect(() => makeRuntimeDirectory(join(top, 'a/b'), false)).toThrow(/it cannot be made: No such file or directory/);
  });

  it('may be there already', () => {
    closeFd(makeRuntimeDirectory(top, false));
  });
});
