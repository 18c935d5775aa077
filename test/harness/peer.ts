// A scripted peer on a session's socket: sends any bytes, at any cut, with any descriptors, and reads frames by the eight bytes of
// docs/protocol.md §2 alone. It shares no code with our codec or addon (usocket carries the descriptors), so the two are checked
// against the specification and not against each other.

import { closeSync } from 'node:fs';
import { USocket } from 'usocket';
import { eventually } from './eventually.js';

const HEADER_BYTES = 8;

/** usocket's native part lets itself be collected while libuv still closes it, which ends the process: it is kept until the end. */
const kept: unknown[] = [];

export interface SeenFrame {
  kind: number;
  fdCount: number;
  body: Buffer;
}

export class Peer {
  /** Descriptors received; closed by `destroy`. */
  readonly fds: number[] = [];
  readonly #socket: USocket;
  #bytes: Buffer = Buffer.alloc(0);
  #isClosed = false;

  private constructor(socket: USocket) {
    this.#socket = socket;
    socket.on('fds', (fds: number[]) => this.fds.push(...fds));
    socket.on('data', (bytes: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, bytes]);
    });
    for (const event of ['end', 'close', 'error']) {
      socket.on(event, () => {
        this.#isClosed = true;
      });
    }
  }

  static async connect(path: string): Promise<Peer> {
    const socket = new USocket({ path });
    kept.push(Reflect.get(socket, '_wrap'));
    await new Promise((resolve, reject) => {
      socket.on('connected', resolve);
      socket.on('error', reject);
    });
    return new Peer(socket);
  }

  /** A frame as the specification has it: header, then body. */
  static frame(kind: number, body: Buffer, fdCount = 0): Buffer {
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt32BE(body.length, 0);
    header.writeUInt8(kind, 4);
    header.writeUInt8(fdCount, 5);
    return Buffer.concat([header, body]);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  send(bytes: Buffer, fds: number[] = []): void {
    this.#socket.write(fds.length > 0 ? { data: bytes, fds } : { data: bytes });
  }

  /** Takes the next whole frame off what came. */
  async nextFrame(withinMs = 10_000): Promise<SeenFrame> {
    return await eventually(() => {
      const frame = this.#takeFrame();
      if (frame !== undefined) return frame;
      throw new Error(`no whole frame in ${this.#bytes.length} bytes${this.#isClosed ? ', and the other side has closed' : ''}`);
    }, withinMs);
  }

  /** Waits until the other side has closed the connection. */
  async closed(withinMs = 15_000): Promise<void> {
    await eventually(() => {
      if (!this.#isClosed) throw new Error('the other side has not closed the connection');
    }, withinMs);
  }

  destroy(): void {
    this.#socket.destroy();
    for (const fd of this.fds.splice(0)) closeSync(fd);
  }

  #takeFrame(): SeenFrame | undefined {
    if (this.#bytes.length < HEADER_BYTES) return undefined;
    const end = HEADER_BYTES + this.#bytes.readUInt32BE(0);
    if (this.#bytes.length < end) return undefined;
    const frame = { kind: this.#bytes.readUInt8(4), fdCount: this.#bytes.readUInt8(5), body: this.#bytes.subarray(HEADER_BYTES, end) };
    this.#bytes = this.#bytes.subarray(end);
    return frame;
  }
}
