// Reads the fields of one body in order, and never past its end: docs/protocol.md §3.

import { malformed, type ProtocolError } from './error.js';
import { MAX_SIGNAL } from './numbers.js';
import { checkList, type StringList } from './strings.js';

export class BodyReader {
  readonly #body: Buffer;
  /** The frame's name, for messages. */
  readonly #frame: string;
  #at = 0;

  constructor(frame: string, body: Buffer) {
    this.#frame = frame;
    this.#body = body;
  }

  u8(): number {
    return this.#body.readUInt8(this.#take(1));
  }

  i8(): number {
    return this.#body.readInt8(this.#take(1));
  }

  u16(): number {
    return this.#body.readUInt16BE(this.#take(2));
  }

  u32(): number {
    return this.#body.readUInt32BE(this.#take(4));
  }

  u64(): bigint {
    return this.#body.readBigUInt64BE(this.#take(8));
  }

  /** A u64 that must be a safe integer, or all ones, which is `undefined`. */
  optionalCount(): number | undefined {
    const at = this.#take(8);
    const high = this.#body.readUInt32BE(at);
    const low = this.#body.readUInt32BE(at + 4);
    if (high === 0xffffffff && low === 0xffffffff) return undefined;
    if (high > 0x1fffff) throw this.error('a count is over 2^53-1');
    return high * 0x100000000 + low;
  }

  count(): number {
    const value = this.optionalCount();
    if (value === undefined) throw this.error('a count is over 2^53-1');
    return value;
  }

  /** A view of a `string`; or `known`, when it is the same. */
  bytes(known?: Buffer): Buffer {
    const length = this.u32();
    const at = this.#take(length);
    const view = this.#body.subarray(at, at + length);
    if (known?.equals(view) === true) return known;
    if (length > 0 && view.includes(0)) throw this.error('a string contains a NUL byte');
    return view;
  }

  text(): string {
    return this.bytes().toString('utf8');
  }

  /** A view of a `list`, whose count is true and whose every string is ended; or `known`, when it is the same. */
  list(known?: StringList): StringList {
    const count = this.u32();
    const length = this.u32();
    const at = this.#take(length);
    const list = { count, block: this.#body.subarray(at, at + length) };
    if (known?.count === count && known.block.equals(list.block)) return known;
    const fault = checkList(list);
    if (fault !== undefined) throw this.error(fault);
    return list;
  }

  signal(): number {
    const signal = this.u8();
    if (signal < 1 || signal > MAX_SIGNAL) throw this.error(`signal ${signal} cannot be`);
    return signal;
  }

  end(): void {
    const left = this.#body.length - this.#at;
    if (left !== 0) throw this.error(`${left} bytes are left over`);
  }

  error(fault: string): ProtocolError {
    return malformed(`malformed ${this.#frame}: ${fault}`);
  }

  #take(bytes: number): number {
    const at = this.#at;
    if (bytes > this.#body.length - at) throw this.error('it ends early');
    this.#at = at + bytes;
    return at;
  }
}
