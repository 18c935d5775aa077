// `mkdir -p`. Not Node's: where a file system answers ENOENT to every mkdir (/proc), that one tries for ever, and no signal ends it.

import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Makes `path` and what is missing above it. One that is there already is no error. @throws as mkdir(2). */
export function makeDirectories(path: string, mode?: number): void {
  try {
    makeOne(path, mode);
  } catch (error) {
    const parent = dirname(path);
    if (codeOf(error) !== 'ENOENT' || parent === path) throw error;
    makeDirectories(parent, mode);
    makeOne(path, mode);
  }
}

function makeOne(path: string, mode: number | undefined): void {
  try {
    mkdirSync(path, mode);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' || !isDirectory(path)) throw error;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
