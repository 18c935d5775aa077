// What is in an input: told by content, so that a checkout or a touch that changes nothing makes nothing stale.

import { createHash, type Hash } from 'node:crypto';
import { closeSync, openSync, readdirSync, readlinkSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Of a file, its sha256; of a directory, that of all in it; `null`: there is none. */
export type ContentHash = string | null;

export function hashOf(path: string): ContentHash {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) return hashDirectory(path);
    // Reading a pipe or a device would block or never end; that it is there is all there is to know.
    return stat.isFile() ? hashFile(path) : 'special';
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    // Unreadable now and unreadable then is no change.
    return `unreadable ${String(code)}`;
  }
}

/** An input, and where it is a directory all files and directories in it: those whose stat tells whether its hash can have changed. */
export function pathsIn(path: string): string[] {
  const paths = [path];
  try {
    if (!statSync(path).isDirectory()) return paths;
    for (const entry of readdirSync(path, { withFileTypes: true, recursive: true })) paths.push(join(entry.parentPath, entry.name));
  } catch {
    // Gone, or not to be read: its own stat tells when that changes.
  }
  return paths;
}

function hashDirectory(path: string): string {
  const hash = createHash('sha256');
  for (const entry of readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const content = entry.isSymbolicLink() ? hashLink(join(path, entry.name)) : hashOf(join(path, entry.name));
    hash.update(`${entry.name}\0${content}\0`);
  }
  return hash.digest('hex');
}

/** A link to a directory may lead back up, and round for ever: where it leads is what counts of it. */
function hashLink(path: string): ContentHash {
  const target = statSync(path, { throwIfNoEntry: false });
  return target?.isFile() ? hashOf(path) : `link ${readlinkSync(path)}`;
}

/** By pieces: an input may be larger than memory. */
function hashFile(path: string): string {
  const fd = openSync(path, 'r');
  try {
    return hashDescriptor(createHash('sha256'), fd);
  } finally {
    closeSync(fd);
  }
}

const PIECE = Buffer.alloc(64 * 1024);

function hashDescriptor(hash: Hash, fd: number): string {
  for (let read = readSync(fd, PIECE); read > 0; read = readSync(fd, PIECE)) hash.update(PIECE.subarray(0, read));
  return hash.digest('hex');
}
