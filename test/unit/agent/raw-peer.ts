// A scripted peer on an agent's socket: any bytes, at any cut, with any descriptors; frames read by the eight bytes of
// docs/protocol.md §2 alone. On the addon's plain calls, which test/unit/native checks against other programs: no event loop, so a
// test decides what is read when.

import { closeFd, closeFds } from '../../../src/native/descriptors.js';
import { connectUnix, receive, send } from '../../../src/native/sockets.js';
import { NativeError } from '../../../src/native.js';
import { eventually } from '../../harness/eventually.js';

const HEADER_BYTES = 8;

export class RawPeer {
  /** Descriptors received; closed by `destroy`. */
  readonly fds: number[] = [];
  readonly #fd: number;
  readonly #into = Buffer.alloc(1 << 16);
  #bytes: Buffer = Buffer.alloc(0);
  #hasEnded = false;
  #isOpen = true;

  constructor(path: string) {
    this.#fd = connectUnix(path);
  }

  send(bytes: Buffer, fds: readonly number[] = []): void {
    let sent: number | undefined;
    try {
      sent = send(this.#fd, bytes, 0, fds);
    } catch (error) {
      if (error instanceof NativeError && error.code === 'EPIPE') return; // it has closed already: reading will tell
      throw error;
    }
    if (sent !== bytes.length) throw new Error(`the agent takes only ${sent} of ${bytes.length} bytes`);
  }

  /** Reads what is there. */
  #read(): void {
    while (!this.#hasEnded && this.#isOpen) {
      let got: ReturnType<typeof receive>;
      try {
        got = receive(this.#fd, this.#into, 0);
      } catch {
        this.#hasEnded = true; // ECONNRESET: it was closed with bytes of ours unread
        return;
      }
      if (got === undefined) return;
      this.fds.push(...got.fds);
      this.#hasEnded = got.bytes === 0;
      this.#bytes = Buffer.concat([this.#bytes, this.#into.subarray(0, got.bytes)]);
    }
  }

  /** Takes the next whole frame off what came. Rejects at once when there will be none. */
  async nextFrame(): Promise<{ kind: number; fdCount: number; body: Buffer }> {
    const end = await eventually(() => {
      this.#read();
      const bytes = this.#bytes.length < HEADER_BYTES ? Infinity : HEADER_BYTES + this.#bytes.readUInt32BE(0);
      if (this.#bytes.length >= bytes) return bytes;
      if (this.#hasEnded) return undefined;
      throw new Error(`no whole frame in ${this.#bytes.length} bytes`);
    });
    if (end === undefined) throw new Error(`the agent has closed after ${this.#bytes.length} bytes of a frame`);
    const frame = { kind: this.#bytes.readUInt8(4), fdCount: this.#bytes.readUInt8(5), body: this.#bytes.subarray(HEADER_BYTES, end) };
    this.#bytes = this.#bytes.subarray(end);
    return frame;
  }

  /** Waits until the agent has closed the connection. */
  async closed(withinMs = 15_000): Promise<void> {
    await eventually(() => {
      this.#read();
      if (!this.#hasEnded) throw new Error('the agent has not closed the connection');
    }, withinMs);
  }

  /** Goes away. Safe to call twice. */
  destroy(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeFd(this.#fd);
    closeFds(this.fds.splice(0));
  }
}
