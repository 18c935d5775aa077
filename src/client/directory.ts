// Directories as bytes, by the names that callers know them by. The rules of native/client_directory.c.
// Without the addon: `holdfast doctor` has to find the project where that does not load.

import { readlinkSync, type Stats, statSync } from 'node:fs';

import { HoldfastError } from '../errors.js';

/** The working directory's physical path, as getcwd(2) has it; empty when it has none (removed, or out of reach). */
export function physicalDirectory(): Buffer {
  let cwd: string;
  try {
    cwd = process.cwd();
  } catch {
    return NO_BYTES;
  }
  if (cwd[0] !== '/') return NO_BYTES;
  // Node decodes it as UTF-8; where that lost something the kernel still knows the bytes.
  return cwd.includes('\ufffd') ? readlinkSync('/proc/self/cwd', { encoding: 'buffer' }) : Buffer.from(cwd);
}

/** For what cannot do without one. @throws {HoldfastError} `DIRECTORY_REFUSED`. */
export function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new HoldfastError('DIRECTORY_REFUSED', 'the working directory is gone', { hint: 'change to one that is there', cause });
  }
}

/** The name the user walked by, links included: $PWD, believed only while it leads to the working directory. */
export function logicalDirectory(pwd: Buffer): Buffer | undefined {
  if (pwd[0] !== SLASH || isPerProcess(pwd) || pwd.includes('/./') || pwd.includes('/../')) return undefined;
  try {
    return isSame(statSync(pwd), statSync('.')) ? pwd : undefined;
  } catch {
    return undefined;
  }
}

/** `path` from `directory` (absolute), by name alone; `undefined` when it is relative and there is nothing to start from. */
export function joinDirectory(directory: Buffer | undefined, path: Buffer): Buffer | undefined {
  if (path[0] === SLASH) return path;
  if (directory === undefined) return undefined;
  return Buffer.concat(directory.at(-1) === SLASH ? [directory, path] : [directory, Buffer.of(SLASH), path]);
}

/** A name that means another place in every process that reads it. Judged by name alone: what it says, not where links lead. */
export function isPerProcess(path: Buffer): boolean {
  const parts: string[] = [];
  for (const part of path.toString('latin1').split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  const [first = '', second = ''] = parts;
  return PER_PROCESS.has(`${first}/${second}`);
}

const PER_PROCESS: ReadonlySet<string> = new Set(['proc/self', 'proc/thread-self', 'dev/fd', 'dev/stdin', 'dev/stdout', 'dev/stderr']);
const NO_BYTES = Buffer.alloc(0);
const SLASH = 0x2f;

function isSame(a: Stats, b: Stats): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}
