// Frames over a connected Unix socket that libuv does not know. Used by the agent for its peers and by the clients for theirs.
// Pairs descriptors with the frame that names them (docs/protocol.md §1, §2): they ride on a frame's first byte, and recvmsg(2)
// never reads past the bytes of the next message that carries descriptors, so those that arrive belong to the last frame begun.

import { closeFd, closeFds } from './native/descriptors.js';
import { unwatch, watch } from './native/poll.js';
import { receive, send } from './native/sockets.js';
import { NativeError } from './native.js';
import { ProtocolError } from './protocol/error.js';
import { type Frame, parseHeader } from './protocol/frame.js';
import { HEADER_BYTES } from './protocol/limits.js';

export interface ChannelEvents {
  /** Takes `fds`: whoever handles the frame closes them. `frame.body` is only valid during the call. */
  onFrame(frame: Frame, fds: readonly number[]): void;
  /** Once, when the peer is gone or broke the protocol (`error`), not after our own close(). The channel is closed by then. */
  onClose(error?: Error): void;
  /** What to tell a peer that broke the protocol, before it is dropped. */
  lastWords?(error: Error): Buffer | undefined;
}

const FIRST_READ_BYTES = 16 * 1024;
/** A peer that lets this much pile up unread is gone for us. */
const MAX_UNSENT_BYTES = 32 * 1024 * 1024;
const NO_FDS: readonly number[] = [];
const NOTHING = Buffer.alloc(0);

/** Most frames fit in here whole, so one read and no allocation serve a request; shared since reading is synchronous. */
const scratch = Buffer.allocUnsafeSlow(FIRST_READ_BYTES);

/** Owns `fd` from construction; close() is idempotent. */
export class Channel {
  readonly #fd: number;
  readonly #from: 'client' | 'agent';
  readonly #events: ChannelEvents;
  /** The beginning of a frame that has not arrived whole, or undefined. */
  #partial: Buffer | undefined;
  #partialBytes = 0;
  #pendingFds: readonly number[] = NO_FDS;
  #unsent: Buffer[] = [];
  #unsentBytes = 0;
  #open = true;
  #endAfterSending = false;

  /** @param from who is on the other side: its frames are judged by that. */
  constructor(fd: number, from: 'client' | 'agent', events: ChannelEvents) {
    this.#fd = fd;
    this.#from = from;
    this.#events = events;
    watch(fd, { readable: true }, (ready) => this.#onReady(ready));
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** Whether the peer has closed, even if what it sent before is still unread: then it cannot be sent so much as nothing. */
  get isPeerGone(): boolean {
    try {
      send(this.#fd, NOTHING);
      return false;
    } catch {
      return true;
    }
  }

  /** True while a frame has begun and not ended. */
  get isMidFrame(): boolean {
    return this.#partial !== undefined;
  }

  get fd(): number {
    return this.#fd;
  }

  /**
   * Sends a whole frame, or keeps what the socket does not take and sends it later. `fds` are borrowed: they must have gone at once.
   *
   * @returns false: the peer is gone, and onClose will come.
   * @throws {NativeError} ETOOMANYREFS when too many descriptors of this user are on their way already: nothing was sent.
   */
  send(frame: Buffer, fds?: readonly number[]): boolean {
    if (!this.#open) return false;
    let sent = 0;
    if (this.#unsent.length === 0) {
      try {
        sent = send(this.#fd, frame, 0, fds) ?? 0;
      } catch (error) {
        if (error instanceof NativeError && error.code === 'ETOOMANYREFS') throw error;
        // The peer is gone. What it said last may still be unread, and onClose must not run inside the caller's own step.
        if (error instanceof Error) queueMicrotask(() => this.#onLost(error));
        return false;
      }
    }
    if (sent === frame.length) return true;
    this.#unsent.push(frame.subarray(sent));
    this.#unsentBytes += frame.length - sent;
    if (this.#unsentBytes > MAX_UNSENT_BYTES)
      queueMicrotask(() => this.#fail(new ProtocolError('FRAME_TOO_LARGE', 'the peer does not read')));
    else watch(this.#fd, { readable: true, writable: true }, (ready) => this.#onReady(ready));
    return true;
  }

  /** Closes at once, or after what is still unsent. */
  end(): void {
    if (this.#unsent.length === 0) this.close();
    else this.#endAfterSending = true;
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    unwatch(this.#fd);
    closeFd(this.#fd);
    closeFds(this.#pendingFds);
    this.#pendingFds = NO_FDS;
    this.#partial = undefined;
    this.#unsent = [];
  }

  /** Reads what is already there, without waiting to be told: right after accept(2) the request often is. */
  readNow(): void {
    this.#onReady({ readable: true, writable: false, hangup: false });
  }

  #fail(error?: Error): void {
    if (!this.#open) return;
    const words = error === undefined ? undefined : this.#events.lastWords?.(error);
    if (words !== undefined) this.send(words);
    this.close();
    this.#events.onClose(error);
  }

  #onLost(error: Error): void {
    this.readNow();
    this.#fail(error);
  }

  #onReady(ready: { readable: boolean; writable: boolean; hangup: boolean }): void {
    try {
      // Reading comes first: what a peer said before it went away counts, and writing to it fails.
      if (ready.readable || ready.hangup) this.#read();
      if (ready.writable) this.#flush();
    } catch (error) {
      this.#fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #flush(): void {
    while (this.#unsent.length > 0) {
      const [first = Buffer.alloc(0)] = this.#unsent;
      const sent = send(this.#fd, first);
      if (sent === undefined) return;
      this.#unsentBytes -= sent;
      if (sent < first.length) this.#unsent[0] = first.subarray(sent);
      else this.#unsent.shift();
    }
    if (this.#endAfterSending) this.close();
    else watch(this.#fd, { readable: true }, (ready) => this.#onReady(ready));
  }

  #read(): void {
    while (this.#open) {
      const into = this.#partial ?? scratch;
      const got = receive(this.#fd, into, this.#partialBytes);
      if (got === undefined) return;
      if (got.bytes === 0) {
        closeFds(got.fds);
        this.#fail(this.#partial === undefined ? undefined : new ProtocolError('BODY_MALFORMED', 'the stream ended inside a frame'));
        return;
      }
      if (got.fds.length > 0) {
        if (this.#pendingFds.length > 0) {
          closeFds(got.fds);
          throw new ProtocolError('FRAME_FDS', 'descriptors of two frames at once');
        }
        this.#pendingFds = got.fds;
      }
      const filled = this.#partialBytes + got.bytes;
      this.#take(into.subarray(0, filled));
      // A read that did not fill its buffer has emptied the socket: the next would only say so.
      if (filled < into.length) return;
    }
  }

  /** Hands out every whole frame in `bytes` and keeps the rest. */
  #take(bytes: Buffer): void {
    let offset = 0;
    while (this.#open) {
      const header = parseHeader(bytes, offset, this.#from);
      if (header === undefined) break;
      const end = offset + HEADER_BYTES + header.bodyBytes;
      // They belong to the last frame begun, and came with its first byte.
      if (header.fdCount !== (end >= bytes.length || header.fdCount > 0 ? this.#pendingFds.length : 0))
        throw new ProtocolError('FRAME_FDS', 'the descriptors do not match the header');
      if (end > bytes.length) {
        this.#keep(bytes.subarray(offset), HEADER_BYTES + header.bodyBytes);
        return;
      }
      let fds = NO_FDS;
      if (header.fdCount > 0) {
        fds = this.#pendingFds;
        this.#pendingFds = NO_FDS;
      }
      this.#events.onFrame({ kind: header.kind, fdCount: header.fdCount, body: bytes.subarray(offset + HEADER_BYTES, end) }, fds);
      offset = end;
    }
    if (this.#open) this.#keep(bytes.subarray(offset), FIRST_READ_BYTES);
  }

  /** `capacity` comes from a judged header, so it is under the cap of its kind. */
  #keep(rest: Buffer, capacity: number): void {
    if (rest.length === 0) {
      this.#partial = undefined;
      this.#partialBytes = 0;
      return;
    }
    if (
      this.#partial === undefined ||
      rest.buffer !== this.#partial.buffer ||
      rest.byteOffset !== this.#partial.byteOffset ||
      capacity > this.#partial.length
    ) {
      const grown = Buffer.allocUnsafe(Math.max(capacity, rest.length));
      rest.copy(grown);
      this.#partial = grown;
    }
    this.#partialBytes = rest.length;
  }
}
