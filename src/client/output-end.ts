// Our end of a pipe that a target writes to. It becomes a stream when somebody asks for one; where nobody has by the target's end, what
// is in the pipe is kept in memory and the descriptor is given back, so that a program that only awaits outcomes holds none.

import { closeSync, constants, openSync, readSync } from 'node:fs';
import { Socket } from 'node:net';
import { Readable } from 'node:stream';

import { closeFd } from '../native/descriptors.js';

/** What a pipe holds unless somebody has enlarged it; one more read finds its end. */
const CHUNK_BYTES = 64 * 1024;
/** More than that comes from something that the target left running. */
const MAX_KEPT_BYTES = 1024 * 1024;

export class OutputEnd {
  /** Ours until it is a stream's, or closed. */
  #fd: number | undefined;
  #stream: Readable | undefined;
  #kept: Buffer = Buffer.alloc(0);

  /** Takes `fd`. */
  constructor(fd: number) {
    this.#fd = fd;
  }

  /** The same at each call. */
  get stream(): Readable {
    if (this.#stream === undefined) {
      this.#stream =
        this.#fd === undefined
          ? Readable.from(this.#kept.length === 0 ? [] : [this.#kept], { objectMode: false })
          : new Socket({ fd: this.#fd, readable: true, writable: false });
      this.#fd = undefined;
    }
    return this.#stream;
  }

  /** The target has ended. */
  settle(): void {
    if (this.#fd === undefined) return;
    const fd = this.#fd;
    this.#fd = undefined;
    const { bytes, isWhole } = readWhatIsThere(fd);
    this.#kept = bytes;
    if (isWhole) closeFd(fd);
    else drain(fd);
  }

  destroy(): void {
    this.#stream?.destroy();
    if (this.#fd !== undefined) closeFd(this.#fd);
    this.#fd = undefined;
  }
}

/** Something that the target left running still writes: nobody reads that, and it does not keep this process from ending. */
function drain(fd: number): void {
  const rest = new Socket({ fd, readable: true, writable: false });
  rest.on('error', () => undefined);
  rest.resume();
  rest.unref();
}

/** Through a description of its own, since this must not wait. */
function readWhatIsThere(fd: number): { bytes: Buffer; isWhole: boolean } {
  const chunks: Buffer[] = [];
  let isWhole = false;
  let pipe: number | undefined;
  try {
    pipe = openSync(`/proc/self/fd/${fd}`, constants.O_RDONLY | constants.O_NONBLOCK);
    for (let bytes = 0; bytes < MAX_KEPT_BYTES && !isWhole; ) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const got = readSync(pipe, chunk);
      isWhole = got === 0;
      bytes += got;
      chunks.push(chunk.subarray(0, got));
    }
  } catch {
    // EAGAIN: empty, and somebody can still write.
  } finally {
    if (pipe !== undefined) closeSync(pipe);
  }
  return { bytes: Buffer.concat(chunks), isWhole };
}
