// What one detached job writes. It comes through a pipe of ours, so that a limit holds whatever the job does: its first bytes go to
// a file, and once that is full, or the disk is, the last ones are kept in memory, and those between are only counted.

import { closeSync, constants, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { closeFd, makePipe } from '../native/descriptors.js';
import { unwatch, watch } from '../native/poll.js';

/** As much as a pipe holds: one read empties it. */
const CHUNK_BYTES = 64 * 1024;
const MOST_TAIL_BYTES = 64 * 1024;
/** A pipe of an ordinary user holds no more (fs.pipe-max-size): what a job wrote before its end is within these bytes. */
const MOST_PIPE_BYTES = 1024 * 1024;

/** Shared since reading is synchronous. */
const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);

/** Of every 8 ms the agent gives 2 to the output of all jobs together. A job that writes faster waits, as it would for a disk. */
const WINDOW_MS = 8;
const SHARE_MS = 2;

export class OutputBudget {
  #windowEnd = 0;
  #spentMs = 0;

  /** Counts what was just spent. @returns for how long nothing more is to be; 0: there is some left. */
  spend(from: number, to: number): number {
    if (to >= this.#windowEnd) {
      this.#windowEnd = to + WINDOW_MS;
      this.#spentMs = 0;
    }
    this.#spentMs += to - from;
    return this.#spentMs < SHARE_MS ? 0 : this.#windowEnd - to;
  }
}

export interface OutputFacts {
  /** All that was written. */
  bytes: number;
  path: string;
  /** The first bytes, which are in the file. */
  fileBytes: number;
  /** The last bytes, in memory; 0 while all is in the file. What is in neither was left out. */
  tailBytes: number;
  /** Why the file takes no more: an error's name, or absent for the limit. */
  cut?: string;
}

function isWouldBlock(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}

export class JobOutput {
  readonly path: string;
  readonly #budget: OutputBudget;
  readonly #onMore: () => void;
  #file: number;
  #pipe = -1;
  /** For the job; −1 once taken. */
  #input = -1;
  #write = -1;
  #fileRoom: number;
  #fileBytes = 0;
  #bytes = 0;
  #cut: string | undefined;
  #tailRoom: number;
  /** A ring, made when the file is full. `#tailBytes` of it are in use; the next byte goes to `#tailAt`. */
  #tail: Buffer | undefined;
  #tailBytes = 0;
  #tailAt = 0;
  #pause: NodeJS.Timeout | undefined;

  /** Makes the file, which must not be there. @param limitBytes of file and tail together. @param onMore there is more to read. */
  constructor(path: string, limitBytes: number, budget: OutputBudget, onMore: () => void) {
    this.path = path;
    this.#budget = budget;
    this.#onMore = onMore;
    this.#tailRoom = Math.min(MOST_TAIL_BYTES, Math.floor(limitBytes / 2));
    this.#fileRoom = limitBytes - this.#tailRoom;
    this.#file = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
    try {
      this.#input = openSync('/dev/null', 'r');
      const { read, write } = makePipe();
      this.#write = write;
      try {
        // Opened once more: an open file of our own, so that not waiting for bytes is no affair of the job's.
        this.#pipe = openSync(`/proc/self/fd/${read}`, constants.O_RDONLY | constants.O_NONBLOCK);
      } finally {
        closeFd(read);
      }
      watch(this.#pipe, { readable: true }, () => this.#onReadable());
    } catch (error) {
      this.remove();
      this.#closeAll();
      throw error;
    }
  }

  /** Standard input and output of the job, which are the caller's from now on. */
  takeDescriptors(): [input: number, output: number] {
    const taken: [number, number] = [this.#input, this.#write];
    this.#input = this.#write = -1;
    return taken;
  }

  get facts(): OutputFacts {
    const cut = this.#cut === undefined ? {} : { cut: this.#cut };
    return { bytes: this.#bytes, path: this.path, fileBytes: this.#fileBytes, tailBytes: this.#tailBytes, ...cut };
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** A copy. */
  get tail(): Buffer {
    if (this.#tail === undefined) return Buffer.alloc(0);
    if (this.#tailBytes < this.#tail.length) return Buffer.from(this.#tail.subarray(0, this.#tailBytes));
    return Buffer.concat([this.#tail.subarray(this.#tailAt), this.#tail.subarray(0, this.#tailAt)]);
  }

  /** The job has ended: takes in what it wrote before. What it left running may hold the pipe, and is read for as long as it does. */
  settle(): void {
    for (let left = MOST_PIPE_BYTES; left > 0 && this.#pipe !== -1; ) {
      const got = this.#read();
      if (got === undefined) return;
      left -= got;
    }
  }

  #onReadable(): void {
    const before = performance.now();
    if (this.#read() === undefined || this.#pipe === -1) return;
    const restMs = this.#budget.spend(before, performance.now());
    if (restMs === 0) return;
    unwatch(this.#pipe);
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      if (this.#pipe !== -1) watch(this.#pipe, { readable: true }, () => this.#onReadable());
    }, restMs);
  }

  /** `undefined`: there is nothing for now. At the end of all its writers the pipe is given back. */
  #read(): number | undefined {
    let got: number;
    try {
      got = readSync(this.#pipe, chunk);
    } catch (error) {
      if (isWouldBlock(error)) return undefined;
      throw error;
    }
    if (got === 0) this.#closeAll();
    else {
      this.#take(chunk.subarray(0, got));
      this.#onMore();
    }
    return got;
  }

  #take(bytes: Buffer): void {
    this.#bytes += bytes.length;
    const inFile = this.#store(bytes.subarray(0, this.#fileRoom));
    if (inFile < bytes.length) this.#remember(bytes.subarray(inFile));
  }

  /** @returns how many bytes the file took. It takes none after the first that it did not: the file has no gap. */
  #store(bytes: Buffer): number {
    let stored = 0;
    try {
      while (stored < bytes.length) stored += writeSync(this.#file, bytes, stored);
    } catch (error) {
      this.#cut = error instanceof Error && 'code' in error ? String(error.code) : 'EIO';
    }
    this.#fileBytes += stored;
    this.#fileRoom = this.#cut === undefined ? this.#fileRoom - stored : 0;
    return stored;
  }

  #remember(bytes: Buffer): void {
    if (this.#tailRoom === 0) return;
    this.#tail ??= Buffer.alloc(this.#tailRoom);
    const room = this.#tail.length;
    const last = bytes.subarray(Math.max(0, bytes.length - room));
    const untilEnd = Math.min(last.length, room - this.#tailAt);
    last.copy(this.#tail, this.#tailAt, 0, untilEnd);
    last.copy(this.#tail, 0, untilEnd);
    this.#tailAt = (this.#tailAt + last.length) % room;
    this.#tailBytes = Math.min(room, this.#tailBytes + last.length);
  }

  /** Removes the file and the tail. Whoever still holds the pipe may go on writing, to nobody. Safe to call twice. */
  remove(): void {
    try {
      rmSync(this.path, { force: true });
    } catch {
      // The directory is gone, and the file with it.
    }
    this.#fileRoom = this.#tailRoom = this.#tailBytes = this.#tailAt = 0;
    this.#tail = undefined;
    if (this.#input !== -1) closeSync(this.#input);
    if (this.#write !== -1) closeFd(this.#write);
    if (this.#file !== -1) closeSync(this.#file);
    this.#input = this.#write = this.#file = -1;
  }

  #closeAll(): void {
    clearTimeout(this.#pause);
    if (this.#pipe !== -1) {
      unwatch(this.#pipe);
      closeSync(this.#pipe);
    }
    if (this.#file !== -1) closeSync(this.#file);
    this.#pipe = this.#file = -1;
  }
}
