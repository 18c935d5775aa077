// Locks, directories as places to start from, and what is seen of files by a look: native/fd.c, stamp.c, process.c.

import { addon, check, EAGAIN, toBytes } from '../native.js';

const EWOULDBLOCK = EAGAIN;

/** flock(LOCK_EX) on `path`, made 0600 when absent; closing the descriptor gives it back. `undefined`: held by another (`wait` false). */
export function lockFile(path: string | Buffer, wait: boolean): number | undefined {
  const result = addon.lock(toBytes(path), wait ? 1 : 0);
  return result === -EWOULDBLOCK ? undefined : check(result, 'flock');
}

/** A directory as a place to start from (O_PATH, never through a link), owned by the caller. @throws ENOTDIR, ELOOP, ENOENT. */
export function openDirectory(path: string | Buffer): number {
  return check(addon.openDirectory(toBytes(path)), 'open');
}

/** Numbers of one file in `stamps`: native/stamp.h. */
const STAMP_NUMBERS = 5;

/** What `findMoved` remembers of files: for `count` paths, none of which has been looked at. */
export function newStamps(count: number): BigInt64Array {
  return new BigInt64Array(STAMP_NUMBERS * count);
}

/**
 * Looks at files by stat(2), and remembers what it saw. Cheap enough for every request.
 *
 * @param paths each ended by a NUL. @param places of how many, at the end of `paths`, it matters only which file it is.
 * @param moved gets the numbers of those that are not as they were at the last look; as long as there are paths.
 * @returns how many that are.
 */
export function findMoved(paths: Buffer, places: number, stamps: BigInt64Array, moved: Int32Array): number {
  return check(addon.renewStamps(paths, places, stamps, moved), 'stat');
}

/**
 * How a cgroup v2 directory stands: `events` is its cgroup.events, open for reading.
 * @returns 'occupied' while a process lives in it or beneath; 'parent' when only cgroups are left beneath it; else 'empty'.
 */
export function cgroupState(directory: number, events: number): 'occupied' | 'parent' | 'empty' {
  const state = check(addon.cgroupState(directory, events), 'pread');
  return state === 0 ? 'empty' : state === 1 ? 'parent' : 'occupied';
}
