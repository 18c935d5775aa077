// The agent's tie to the keeper of what the session holds (native/keeper.c): a FIFO that is open for writing as long as the agent
// lives. Whatever ends the agent closes it, and the keeper then runs the stop command.

import { closeSync, constants, openSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 20;

export class Keep {
  readonly #path: string;
  #fd: number | undefined;

  /** @throws Error when the keeper is gone: then nobody would stop what is held. */
  constructor(path: string) {
    this.#path = path;
    const fd = openWriter(path);
    if (typeof fd === 'string') throw new Error(`the keeper of what the session holds is gone (${fd})`);
    this.#fd = fd;
  }

  /** Lets the keeper stop what is held. True when that is done; false: the keeper is gone without having done it. */
  async end(): Promise<boolean> {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    // The keeper bounds the time that this takes.
    for (;;) {
      const fd = openWriter(this.#path);
      if (typeof fd === 'string') return fd === 'ENOENT';
      closeSync(fd);
      await sleep(POLL_MS);
    }
  }
}

/** A descriptor, or the error: ENOENT, the FIFO has been removed; ENXIO, nobody reads it. */
function openWriter(path: string): number | string {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
    throw error;
  }
}
