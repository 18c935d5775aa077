import { mkdtempSync, readlinkSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { makeDirectories } from '../../../src/client/make-directories.js';

let top: string;

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'hf-'));
});

afterEach(() => rmSync(top, { recursive: true }));

describe('making directories', () => {
  it('makes what is missing, with the mode, and leaves what is there', () => {
    makeDirectories(join(top, 'a/b/c'), 0o700);
    makeDirectories(join(top, 'a/b/c'));
    expect(['a', 'a/b', 'a/b/c'].map((path) => statSync(join(top, path)).mode & 0o777)).toEqual([0o700, 0o700, 0o700]);
  });

  it('goes through a link to a directory', () => {
    symlinkSync('.', join(top, 'link'));
    makeDirectories(join(top, 'link'));
    makeDirectories(join(top, 'link/a'));
    expect([readlinkSync(join(top, 'link')), statSync(join(top, 'a')).isDirectory()]).toEqual(['.', true]);
  });

  it('says what is in the way', () => {
    writeFileSync(join(top, 'file'), '');
    expect(() => makeDirectories(join(top, 'file'))).toThrow('EEXIST');
    expect(() => makeDirectories(join(top, 'file/a/b'))).toThrow('ENOTDIR');
  });

  it('gives up where a file system has no directories to make', () => {
    expect(() => makeDirectories('/proc/self/holdfast/a')).toThrow('ENOENT');
  });
});
