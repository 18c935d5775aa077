// The cache of snapshots: `$XDG_CACHE_HOME/holdfast`, else `~/.cache/holdfast`. A file is used only when it is our own, of mode 0600,
// no link, whole by its hash, and of this format; anything else counts as absent, and is made anew. docs/security.md.

import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  futimesSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { isAbsolute, join } from 'node:path';

import { systemErrorText } from '../client/errno.js';
import { makeDirectories } from '../client/make-directories.js';
import { findFault } from '../client/runtime-directory.js';
import { closeFd } from '../native/descriptors.js';
import { openDirectory } from '../native/files.js';
import { NativeError } from '../native.js';
import { type SessionLock, tryLock, waitForLock } from './session-lock.js';
import { decodeSnapshot, encodeSnapshot, type Snapshot, type SnapshotFacts, type SnapshotFault } from './snapshot-file.js';

/** A snapshot that nobody opened a session with for this long is removed. */
const UNUSED_MS = 30 * 24 * 3_600_000;
/** An environment is far smaller; a file that is larger is none of ours. */
const MAX_BYTES = 256 * 1024 * 1024;
const FILE = /^([0-9a-f]{64})\.(snapshot|lock|\d+\.new)$/;

/** The cache cannot be used, which is never a reason not to open a session. The message says why. */
export class CacheUnusable extends Error {}

export interface CacheEntry {
  readonly key: string;
  readonly bytes: number;
  /** Milliseconds of the epoch. */
  readonly usedAt: number;
  /** A fault: why it is not used. `foreign`: it is somebody else's, a link, no file, or open to others. */
  readonly content: SnapshotFacts | SnapshotFault | 'foreign';
}

/** `undefined`: there is neither `$XDG_CACHE_HOME` nor `$HOME`. A relative `$XDG_CACHE_HOME` counts as unset, as its specification says. */
export function cacheDirectoryPath(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const { XDG_CACHE_HOME: xdg = '', HOME: home = '' } = env;
  if (isAbsolute(xdg)) return join(xdg, 'holdfast');
  return isAbsolute(home) ? join(home, '.cache', 'holdfast') : undefined;
}

interface CacheFile {
  readonly name: string;
  readonly key: string;
  readonly kind: string;
}

/** Owns a descriptor of the checked directory: close() it. */
export class SnapshotCache {
  readonly path: string;
  readonly #fd: number;

  private constructor(path: string, fd: number) {
    this.path = path;
    this.#fd = fd;
  }

  /** @throws {CacheUnusable} The directory is made when it is absent. */
  static make(path: string | undefined = cacheDirectoryPath()): SnapshotCache {
    if (path === undefined) throw new CacheUnusable('neither XDG_CACHE_HOME nor HOME is set');
    try {
      makeDirectories(path, 0o700);
    } catch (error) {
      throw new CacheUnusable(`'${path}' cannot be made: ${systemErrorText(error)}`);
    }
    const made = SnapshotCache.#open(path, false);
    if (made === undefined) throw new CacheUnusable(`'${path}' vanished while it was made`);
    return made;
  }

  /** `undefined`: there is no such directory, and so no snapshot. @throws {CacheUnusable} */
  static find(path: string | undefined = cacheDirectoryPath()): SnapshotCache | undefined {
    return path === undefined ? undefined : SnapshotCache.#open(path, true);
  }

  static #open(path: string, mayLack: boolean): SnapshotCache | undefined {
    let fd: number;
    try {
      fd = openDirectory(path);
    } catch (error) {
      const code = error instanceof NativeError ? error.code : '';
      if (mayLack && code === 'ENOENT') return undefined;
      if (code === 'ENOTDIR' || code === 'ELOOP') throw new CacheUnusable(`'${path}' is a link, or no directory`);
      throw new CacheUnusable(`'${path}' cannot be opened: ${systemErrorText(error)}`);
    }
    const fault = findFault(fstatSync(fd));
    if (fault === undefined) return new SnapshotCache(path, fd);
    closeFd(fd);
    throw new CacheUnusable(`'${path}' is refused: ${fault.fault}`);
  }

  close(): void {
    closeFd(this.#fd);
  }

  /** Waits for the right to make the snapshot of `key`. `undefined` after `timeoutMs`. @throws {CacheUnusable} @param onWait as waitForLock's. */
  async lock(key: string, timeoutMs: number, onWait: () => void): Promise<SessionLock | undefined> {
    const path = this.#pathOf(`${key}.lock`);
    try {
      // Told apart from what onWait throws: a full disk makes no lock's file.
      tryLock(path)?.release();
    } catch (error) {
      throw new CacheUnusable(`a lock in '${this.path}' cannot be made: ${systemErrorText(error)}`);
    }
    return await waitForLock(path, timeoutMs, onWait);
  }

  /** The snapshot of `key`, marked as used now; `undefined`: there is none that can be trusted. */
  load(key: string): Snapshot | undefined {
    const fd = this.#openFile(key);
    if (fd === undefined) return undefined;
    try {
      const snapshot = decodeSnapshot(readFileSync(fd));
      // A whole file under another's name says nothing about this key.
      if (typeof snapshot === 'string' || snapshot.facts.key !== key) return undefined;
      touch(fd);
      return snapshot;
    } catch {
      return undefined;
    } finally {
      closeSync(fd);
    }
  }

  /** Readers see the old file or the new one, after a crash as well. @throws {CacheUnusable} */
  store(snapshot: Snapshot): void {
    const { key } = snapshot.facts;
    const fresh = this.#pathOf(`${key}.${process.pid}.new`);
    try {
      rmSync(fresh, { force: true, recursive: true });
      const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
      const fd = openSync(fresh, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
      try {
        fchmodSync(fd, 0o600);
        writeFileSync(fd, encodeSnapshot(snapshot));
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
      renameSync(fresh, this.#pathOf(`${key}.snapshot`));
      this.#sync();
    } catch (error) {
      rmSync(fresh, { force: true, recursive: true });
      throw new CacheUnusable(`nothing can be written to '${this.path}': ${systemErrorText(error)}`);
    }
  }

  /** All that is there, in no order; nothing of it is marked as used. */
  list(): CacheEntry[] {
    const snapshots = this.#files().filter(({ kind }) => kind === 'snapshot');
    return snapshots.map(({ key }) => {
      const stat = lstatSync(this.#pathOf(`${key}.snapshot`), { throwIfNoEntry: false });
      return { key, bytes: stat?.size ?? 0, usedAt: stat?.mtimeMs ?? 0, content: this.#examine(key) };
    });
  }

  /** @throws {CacheUnusable} */
  remove(key: string): void {
    try {
      for (const file of this.#files()) if (file.key === key) this.#removeFile(file);
    } catch (error) {
      throw new CacheUnusable(`nothing can be removed from '${this.path}': ${systemErrorText(error)}`);
    }
  }

  /** Removes what was not used for long. Fails silently: it is a favour. */
  prune(now: number = Date.now()): void {
    try {
      for (const file of this.#files()) {
        const stat = lstatSync(this.#pathOf(file.name), { throwIfNoEntry: false });
        if (stat !== undefined && now - stat.mtimeMs > UNUSED_MS) this.#removeFile(file);
      }
    } catch {
      // Tomorrow is another day.
    }
  }

  /** What is ours by its name; nothing else is ever touched. */
  #files(): CacheFile[] {
    return readdirSync(this.#pathOf('.')).flatMap((name) => {
      const [, key, kind] = FILE.exec(name) ?? [];
      return key === undefined || kind === undefined ? [] : [{ name, key, kind }];
    });
  }

  #removeFile({ name, kind }: CacheFile): void {
    const path = this.#pathOf(name);
    // Held: somebody is making the snapshot, and takes the lock away.
    if (kind === 'lock') tryLock(path)?.releaseAndRemove();
    else rmSync(path, { force: true, recursive: true });
  }

  #examine(key: string): CacheEntry['content'] {
    const fd = this.#openFile(key);
    if (fd === undefined) return 'foreign';
    try {
      const snapshot = decodeSnapshot(readFileSync(fd));
      if (typeof snapshot === 'string') return snapshot;
      return snapshot.facts.key === key ? snapshot.facts : 'damaged';
    } catch {
      return 'damaged';
    } finally {
      closeSync(fd);
    }
  }

  /** A descriptor of the file of `key`, judged; `undefined`: there is none to be trusted. Never waits, even for a pipe that was put there. */
  #openFile(key: string): number | undefined {
    let fd: number;
    try {
      fd = openSync(this.#pathOf(`${key}.snapshot`), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch {
      return undefined;
    }
    const stat = fstatSync(fd);
    const isOurs = stat.isFile() && stat.uid === process.geteuid?.() && stat.nlink === 1 && (stat.mode & 0o777) === 0o600;
    if (isOurs && stat.size <= MAX_BYTES) return fd;
    closeSync(fd);
    return undefined;
  }

  #pathOf(file: string): string {
    return `/proc/self/fd/${this.#fd}/${file}`;
  }

  /** A rename is on the disk once its directory is. */
  #sync(): void {
    const fd = openSync(this.#pathOf('.'), constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }
}

/** A read-only disk keeps no such mark; the snapshot is good all the same. */
function touch(fd: number): void {
  try {
    const now = new Date();
    futimesSync(fd, now, now);
  } catch {
    // Then it looks unused.
  }
}
