// Whether the files that an environment is made of are as they were when it was entered. Told by content: a checkout or a touch
// that changes nothing makes nothing stale.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

import type { SessionDefinition } from './definition.js';
import type { InputHash, SessionRecord } from './record.js';

/** A missing input is recorded as missing: when it comes, the session is stale. */
export function hashInputs(definition: Pick<SessionDefinition, 'directory' | 'inputs'>): InputHash[] {
  const paths = new Set(definition.inputs.map((input) => resolve(definition.directory, input)));
  return [...paths].map((path) => ({ path, sha256: hashOf(path) }));
}

/** The paths of the inputs that changed, came or went. Empty: the session is fresh. */
export function changedInputs(record: Pick<SessionRecord, 'inputs'>): string[] {
  return record.inputs.filter(({ path, sha256 }) => hashOf(path) !== sha256).map(({ path }) => path);
}

export function isStale(record: Pick<SessionRecord, 'inputs'>): boolean {
  return record.inputs.some(({ path, sha256 }) => hashOf(path) !== sha256);
}

function hashOf(path: string): string | null {
  try {
    const stat = statSync(path);
    if (stat.isDirectory()) return hashDirectory(path);
    // Reading a pipe or a device would block or never end; that it is there is all there is to know.
    return stat.isFile() ? sha256(readFileSync(path)) : 'special';
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    // Unreadable now and unreadable then is no change.
    return `unreadable ${String(code)}`;
  }
}

function hashDirectory(path: string): string {
  const hash = createHash('sha256');
  for (const entry of readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const content = entry.isDirectory() ? hashDirectory(join(path, entry.name)) : hashOf(join(path, entry.name));
    hash.update(`${entry.name}\0${content}\0`);
  }
  return hash.digest('hex');
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
