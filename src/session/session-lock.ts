// The lock that serialises openings and closings of one session: flock(2) on ID.lock. Asked again and again rather than waited
// for in the kernel, which would stop this process from hearing a Ctrl-C.

import { fstatSync, rmSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { closeFd } from '../native/descriptors.js';
import { lockFile } from '../native/files.js';

const POLL_MS = 20;

/** A held lock. The kernel gives it back when the process dies. */
export class SessionLock {
  readonly #path: string;
  #fd: number | undefined;

  constructor(path: string, fd: number) {
    this.#path = path;
    this.#fd = fd;
  }

  /** Gives the lock back; its file stays for those who wait. A second call does nothing. */
  release(): void {
    if (this.#fd !== undefined) closeFd(this.#fd);
    this.#fd = undefined;
  }

  /** Removes the file while nobody else can hold it, then gives it back: those who wait will notice. */
  releaseAndRemove(): void {
    if (this.#fd !== undefined) rmSync(this.#path, { force: true });
    this.release();
  }
}

/** `undefined`: another process holds it. */
export function tryLock(path: string): SessionLock | undefined {
  for (;;) {
    const fd = lockFile(path, false);
    if (fd === undefined) return undefined;
    // Between open(2) and flock(2) the holder may have removed the file: then we hold a lock that nobody else will ever meet.
    const ours = fstatSync(fd);
    const there = statSync(path, { throwIfNoEntry: false });
    if (there !== undefined && there.ino === ours.ino && there.dev === ours.dev) return new SessionLock(path, fd);
    closeFd(fd);
  }
}

/**
 * Waits for the lock.
 *
 * @param onWait called on every turn; may throw to give up.
 * @returns `undefined` after `timeoutMs`.
 */
export async function waitForLock(path: string, timeoutMs: number, onWait: () => void = () => undefined): Promise<SessionLock | undefined> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const lock = tryLock(path);
    if (lock !== undefined) return lock;
    if (performance.now() >= deadline) return undefined;
    onWait();
    await sleep(POLL_MS);
  }
}
