// A pipe by which a wrapper, or what it runs, tells the agent something small: never as much as a pipe holds, so that nobody waits.

import { closeSync, constants, openSync, readSync } from 'node:fs';
import { closeFd, makePipe } from '../native/descriptors.js';

const MOST_BYTES = 65_536;

export class ProofPipe {
  #read: number | undefined;
  #write: number | undefined;

  constructor() {
    const { read, write } = makePipe();
    this.#read = read;
    this.#write = write;
  }

  get write(): number {
    return this.#write ?? -1;
  }

  closeWrite(): void {
    if (this.#write !== undefined) closeFd(this.#write);
    this.#write = undefined;
  }

  /** What is in it, which is taken out. Without waiting: who else has the other end may keep it. */
  text(): string {
    if (this.#read === undefined) return '';
    const own = openSync(`/proc/self/fd/${this.#read}`, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const bytes = Buffer.alloc(MOST_BYTES);
      return bytes.toString('latin1', 0, readSync(own, bytes));
    } catch {
      return ''; // EAGAIN
    } finally {
      closeSync(own);
    }
  }

  close(): void {
    this.closeWrite();
    if (this.#read !== undefined) closeFd(this.#read);
    this.#read = undefined;
  }
}
