// What the agent tells of itself by sd_notify(3): to the opener that waits for it, and to systemd where that holds the session.

import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { closeFd } from '../native/descriptors.js';
import { openDirectory } from '../native/files.js';
import { notify } from '../native/sockets.js';
import { NativeError } from '../native.js';

/** True when the datagram was taken. */
function tell(address: string, message: string): boolean {
  try {
    notify(address, message);
    return true;
  } catch (error) {
    if (error instanceof NativeError) return false;
    throw error;
  }
}

export class Readiness {
  readonly #opener: string;
  readonly #supervisor: string | undefined;

  /** @param opener path of the opener's socket, of any length. @param supervisor the value of its NOTIFY_SOCKET. */
  constructor(opener: string, supervisor: string | undefined) {
    this.#opener = opener;
    this.#supervisor = supervisor;
  }

  /** False when there was an opener and it is gone: then nobody wants this session. */
  tell(message: string): boolean {
    if (this.#supervisor !== undefined) tell(this.#supervisor, message);
    let directory: number;
    try {
      directory = openDirectory(dirname(this.#opener));
    } catch {
      return false; // the runtime directory is gone
    }
    try {
      const path = `/proc/self/fd/${directory}/${basename(this.#opener)}`;
      return existsSync(path) && tell(path, message);
    } finally {
      closeFd(directory);
    }
  }
}
