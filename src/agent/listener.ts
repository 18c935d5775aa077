// The session's socket: bound under a temporary name, then linked to its own, so that it never exists without an agent behind
// it and two agents can never both have it. DESIGN section 4 "Session life".

import { randomBytes } from 'node:crypto';
import { linkSync, statSync, unlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { closeFd } from '../native/descriptors.js';
import { openDirectory } from '../native/files.js';
import { unwatch, watch } from '../native/poll.js';
import { acceptUnix, listenUnix, send } from '../native/sockets.js';
import { NativeError } from '../native.js';
import { encodeRefused } from '../protocol/agent-message.js';
import { RefusalCode } from '../protocol/numbers.js';

/** somaxconn caps it; more clients than that at one instant are told EAGAIN and try again. */
const BACKLOG = 4096;
const PAUSE_MS = 50;

function spareDescriptor(): number {
  try {
    return openDirectory('/');
  } catch {
    return -1;
  }
}

/** Names inside a directory descriptor, since a socket's path may have only 107 bytes. */
function namesFor(path: string): { directory: number; own: string; temporary: string } {
  const directory = openDirectory(dirname(path));
  const prefix = `/proc/self/fd/${directory}`;
  return { directory, own: `${prefix}/${basename(path)}`, temporary: `${prefix}/.${process.pid}.${randomBytes(4).toString('hex')}` };
}

export class Listener {
  readonly #path: string;
  readonly #fd: number;
  readonly #inode: number;
  readonly #onConnection: (fd: number) => void;
  /** Given up for an instant when the descriptor table is full, so that the peer can be told. */
  #spare: number;
  #open = true;

  /** @param onConnection takes the descriptor. @throws EEXIST when another agent has the name. */
  constructor(path: string, onConnection: (fd: number) => void) {
    const { directory, own, temporary } = namesFor(path);
    this.#path = path;
    this.#onConnection = onConnection;
    try {
      this.#fd = listenUnix(temporary, BACKLOG);
      try {
        this.#inode = statSync(temporary).ino;
        linkSync(temporary, own);
      } catch (error) {
        closeFd(this.#fd);
        throw error;
      } finally {
        unlinkSync(temporary);
      }
    } finally {
      closeFd(directory);
    }
    this.#spare = spareDescriptor();
    watch(this.#fd, { readable: true }, () => this.#accept());
  }

  /** One at a time: while more of them wait we are told again, and accept4(2) makes a whole socket before it says that none does. */
  #accept(): void {
    try {
      const fd = acceptUnix(this.#fd);
      if (fd !== undefined) this.#onConnection(fd);
    } catch (error) {
      if (!(error instanceof NativeError) || error.syscall !== 'accept4') throw error;
      // A peer that went away while it waited is no trouble of ours.
      if (error.code === 'ECONNABORTED') return;
      if (this.#spare === -1 || !['EMFILE', 'ENFILE'].includes(error.code)) this.#pause();
      else this.#refuseOne();
    }
  }

  /** Nothing can be accepted for now, and the socket stays readable: looking at it again and again would only burn time. */
  #pause(): void {
    unwatch(this.#fd);
    setTimeout(() => {
      if (!this.#open) return;
      if (this.#spare === -1) this.#spare = spareDescriptor();
      watch(this.#fd, { readable: true }, () => this.#accept());
    }, PAUSE_MS);
  }

  /** Left in the backlog it would make the socket readable for ever, and its client wait. */
  #refuseOne(): void {
    closeFd(this.#spare);
    this.#spare = -1;
    const fd = acceptUnix(this.#fd);
    if (fd !== undefined) {
      try {
        send(
          fd,
          encodeRefused({
            code: RefusalCode.RESOURCES,
            message: 'the session has no descriptors left',
            hint: 'run fewer commands at once, or raise the limit of open files before the session is opened',
          }),
        );
      } catch {
        // It did not wait for the answer.
      }
      closeFd(fd);
    }
    this.#spare = spareDescriptor();
  }

  /** Whether clients can still find us: false once somebody has removed or replaced the socket, or its directory. */
  isReachable(): boolean {
    return statSync(this.#path, { throwIfNoEntry: false })?.ino === this.#inode;
  }

  /** Removes the socket, if it is still ours, and stops listening. Safe to call twice. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    unwatch(this.#fd);
    // Given up first: at the limit of open files, removing the name needs its place.
    if (this.#spare !== -1) closeFd(this.#spare);
    try {
      this.#removeName();
    } catch {
      // The directory is gone, and the name with it.
    }
    closeFd(this.#fd);
  }

  #removeName(): void {
    const { directory, own } = namesFor(this.#path);
    try {
      if (statSync(own, { throwIfNoEntry: false })?.ino === this.#inode) unlinkSync(own);
    } finally {
      closeFd(directory);
    }
  }
}
