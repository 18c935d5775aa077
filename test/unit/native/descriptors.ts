// Our own descriptors, to see that none is left.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { afterEach, beforeEach, expect } from 'vitest';

/** Number → what it is. Without epoll and event descriptors, which Node and the poller make when first needed. */
export function openDescriptors(): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync('/proc/self/fd')) {
    try {
      const target = readlinkSync(`/proc/self/fd/${name}`);
      if (!target.startsWith('anon_inode:[event')) found[name] = target;
    } catch {
      // The one that read the directory.
    }
  }
  return found;
}

/** Fails each test of the file after which other descriptors are open than before. */
export function expectNoDescriptorsLeft(): void {
  let before: Record<string, string> = {};
  beforeEach(() => {
    before = openDescriptors();
  });
  afterEach(() => expect(openDescriptors()).toEqual(before));
}

/** Our soft limit. Not asked of a child: libuv's way to wait for one takes SIGCHLD from the addon. */
export function openFilesLimit(): number {
  return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1]);
}
