// Writes the fields of one frame in order into a buffer of exactly its size: docs/protocol.md §3.

import { malformed } from './error.js';
import { startFrame } from './frame.js';
import { HEADER_BYTES, type Kind } from './limits.js';
import type { StringList } from './strings.js';

export class FrameWriter {
  readonly #frame: Buffer;
  #at = HEADER_BYTES;

  /** @throws {ProtocolError} `FRAME_TOO_LARGE`, `FRAME_FDS`. */
  constructor(kind: Kind, bodyBytes: number, fdCount = 0) {
    this.#frame = startFrame(kind, bodyBytes, fdCount);
  }

  u8(value: number): void {
    this.#at = this.#frame.writeUInt8(value, this.#at);
  }

  i8(value: number): void {
    this.#at = this.#frame.writeInt8(value, this.#at);
  }

  u16(value: number): void {
    this.#at = this.#frame.writeUInt16BE(value, this.#at);
  }

  u32(value: number): void {
    this.#at = this.#frame.writeUInt32BE(value, this.#at);
  }

  u64(value: bigint): void {
    this.#at = this.#frame.writeBigUInt64BE(value, this.#at);
  }

  /** A u64 from a number, a fraction cut off; `undefined` is all ones. Two stores, because a BigInt costs an allocation. */
  count(value: number | undefined): void {
    this.u32(value === undefined ? 0xffffffff : Math.floor(value / 0x100000000));
    this.u32(value === undefined ? 0xffffffff : Math.trunc(value % 0x100000000));
  }

  bytes(value: Buffer): void {
    if (value.includes(0)) throw malformed('a string contains a NUL byte');
    this.u32(value.length);
    this.#at += value.copy(this.#frame, this.#at);
  }

  list(value: StringList): void {
    this.u32(value.count);
    this.u32(value.block.length);
    this.#at += value.block.copy(this.#frame, this.#at);
  }

  /** The whole frame. A size that was computed wrong is our bug, and would send memory that was never written. */
  end(): Buffer {
    if (this.#at !== this.#frame.length) throw new RangeError(`frame of ${this.#frame.length} bytes was filled with ${this.#at}`);
    return this.#frame;
  }
}
