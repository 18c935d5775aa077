// The snapshots that are kept, for those who look at them or remove them. What makes and uses them: snapshot.ts.

import { HoldfastError } from '../errors.js';
import { findChange } from './freshness.js';
import { readOpened } from './opened.js';
import { type CacheEntry, CacheUnusable, SnapshotCache } from './snapshot-cache.js';
import type { SnapshotFacts, SnapshotFault } from './snapshot-file.js';

/** Shorter beginnings of a key are left to names. */
const MIN_KEY_DIGITS = 6;

export interface KeptSnapshot {
  readonly key: string;
  /** Anything but `fresh`: it is not used, and made anew when its session is opened. */
  readonly state: 'fresh' | 'stale' | 'foreign' | SnapshotFault;
  readonly bytes: number;
  /** Milliseconds of the epoch. */
  readonly usedAt: number;
  /** Absent where the file cannot be believed. */
  readonly facts?: Omit<SnapshotFacts, 'key'>;
}

/** The one used last comes first. Empty where there is no cache. @throws {HoldfastError} `CACHE_UNUSABLE`. */
export function keptSnapshots(): KeptSnapshot[] {
  const entries = withCache((cache) => cache?.list() ?? []);
  return entries.map(describe).sort((a, b) => b.usedAt - a.usedAt);
}

/**
 * Removes what is kept, or those of one session, project or key. Open sessions have their variables already.
 *
 * @throws {HoldfastError} `NO_SNAPSHOT` when nothing is of that name; `CACHE_UNUSABLE`.
 */
export function clearSnapshots(which: 'all' | { readonly name: string }): void {
  withCache((cache) => {
    const entries = cache?.list() ?? [];
    if (which === 'all') {
      for (const { key } of entries) cache?.remove(key);
      return;
    }
    const ofSession = keyOfSession(which.name);
    const meant = entries.filter((entry) => isOf(entry, which.name) || entry.key === ofSession);
    if (meant.length === 0) {
      throw new HoldfastError('NO_SNAPSHOT', `no snapshot is kept of '${which.name}'`, {
        hint: "'holdfast snapshot list' shows those that are",
      });
    }
    for (const { key } of meant) cache?.remove(key);
  });
}

function describe({ key, bytes, usedAt, content }: CacheEntry): KeptSnapshot {
  if (typeof content === 'string') return { key, state: content, bytes, usedAt };
  const { key: _, ...facts } = content;
  return { key, state: facts.inputs.every((input) => findChange(input) === undefined) ? 'fresh' : 'stale', bytes, usedAt, facts };
}

function isOf({ key, content }: CacheEntry, name: string): boolean {
  if (/^[0-9a-f]+$/.test(name) && name.length >= MIN_KEY_DIGITS && key.startsWith(name)) return true;
  return typeof content !== 'string' && (content.name === name || content.directory === name);
}

/** A session may use a snapshot that was made for another one. */
function keyOfSession(name: string): string | undefined {
  try {
    return readOpened(name).record.snapshot?.key;
  } catch (error) {
    if (error instanceof HoldfastError) return undefined;
    throw error;
  }
}

function withCache<T>(use: (cache: SnapshotCache | undefined) => T): T {
  let cache: SnapshotCache | undefined;
  try {
    cache = SnapshotCache.find();
    return use(cache);
  } catch (error) {
    if (!(error instanceof CacheUnusable)) throw error;
    throw new HoldfastError('CACHE_UNUSABLE', `the cache of snapshots cannot be used: ${error.message}`, {
      hint: 'make it a directory of your own of mode 700, or name another place in XDG_CACHE_HOME',
      cause: error,
    });
  } finally {
    cache?.close();
  }
}
