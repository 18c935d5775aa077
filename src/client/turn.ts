// A session that cannot be reached just now, since another process opens it, closes it, or does the one after the other: that is
// waited for. The lock of whoever does so tells: ID.lock beside the socket ID.sock.

import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { closeFd } from '../native/descriptors.js';
import { lockFile } from '../native/files.js';
import type { SessionAddress } from './connect.js';

const NAP_MS = 20;
const ENDING = '.sock';

/** True, after a wait, where another process held it: a connection is worth another try. */
export async function awaitTurn({ socket }: Pick<SessionAddress, 'socket'>): Promise<boolean> {
  const path = socket.toString('latin1');
  if (!path.endsWith(ENDING)) return false;
  const lock = Buffer.from(`${path.slice(0, -ENDING.length)}.lock`, 'latin1');
  let waited = false;
  for (; isLocked(lock); waited = true) await sleep(NAP_MS);
  return waited;
}

function isLocked(path: Buffer): boolean {
  // Asked first: to lock a file is to make it.
  if (!existsSync(path)) return false;
  try {
    const fd = lockFile(path, false);
    if (fd !== undefined) closeFd(fd);
    return fd === undefined;
  } catch {
    return false;
  }
}
