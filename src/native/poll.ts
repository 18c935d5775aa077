// Readiness of descriptors that libuv does not know: native/addon_poll.c.

import { addon, check } from '../native.js';

export interface Readiness {
  readable: boolean;
  writable: boolean;
  /** The peer is gone (EPOLLHUP, EPOLLRDHUP, EPOLLERR). What it had sent may still be there to read. */
  hangup: boolean;
}

const EPOLLIN = 0x1;
const EPOLLOUT = 0x4;
const EPOLLERR = 0x8;
const EPOLLHUP = 0x10;
const EPOLLRDHUP = 0x2000;

const watchers = new Map<number, (ready: Readiness) => void>();
let ready: Int32Array | undefined;

function dispatch(count: number): void {
  for (let i = 0; i < count; i++) {
    const fd = ready?.[2 * i] ?? -1;
    const events = ready?.[2 * i + 1] ?? 0;
    // A watcher earlier in this batch may have closed fd, and its number may be in use again: then this readiness is false, which
    // every watcher bears, since all reads and writes can answer "would block".
    watchers.get(fd)?.({
      readable: (events & EPOLLIN) !== 0,
      writable: (events & EPOLLOUT) !== 0,
      hangup: (events & (EPOLLHUP | EPOLLRDHUP | EPOLLERR)) !== 0,
    });
  }
}

/** Watches a descriptor (level-triggered) without handing it to libuv. A second call changes what is waited for. */
export function watch(fd: number, on: { readable?: boolean; writable?: boolean }, callback: (ready: Readiness) => void): void {
  if (ready === undefined) {
    const pairs = new Int32Array(128);
    check(addon.startPoller(dispatch, pairs), 'epoll_create1');
    ready = pairs;
  }
  const events = (on.readable === true ? EPOLLIN | EPOLLRDHUP : 0) | (on.writable === true ? EPOLLOUT : 0);
  check(addon.watch(fd, events, watchers.has(fd) ? 2 : 1), 'epoll_ctl');
  watchers.set(fd, callback);
}

/** Must come before the descriptor is closed. Safe to call twice. */
export function unwatch(fd: number): void {
  if (watchers.delete(fd)) check(addon.watch(fd, 0, 3), 'epoll_ctl');
}
