// What a descriptor is, and its end: native/fd.c.

import { addon, check } from '../native.js';

/** Closes a descriptor that the caller owns. */
export function closeFd(fd: number): void {
  addon.close(fd);
}

/** As many as one call takes. */
const MOST_AT_ONCE = 12;

export function closeFds(fds: readonly number[]): void {
  for (let at = 0; at < fds.length; at += MOST_AT_ONCE) addon.close(...fds.slice(at, at + MOST_AT_ONCE));
}

/** Marks every descriptor from `first` up CLOEXEC, so that no child started later inherits what we were given by mistake. */
export function closeOnExecFrom(first: number): void {
  check(addon.cloexecFrom(first), 'close_range');
}

const pipeOut = new Int32Array(2);

/** pipe2(O_CLOEXEC): both ends are the caller's. */
export function makePipe(): { read: number; write: number } {
  check(addon.pipe(pipeOut), 'pipe2');
  const [read = -1, write = -1] = pipeOut;
  return { read, write };
}

/** File status flags (fcntl F_GETFL), or `undefined` when the number is not open. */
export function fdFlags(fd: number): number | undefined {
  const result = addon.flags(fd);
  return result < 0 ? undefined : result;
}

export function isTty(fd: number): boolean {
  return addon.isTty(fd) === 1;
}
