// One peer of the agent: its first frame decides whether it runs a target or asks about the session. A peer that says nothing
// whole in time, or nonsense, is dropped without disturbing others. docs/protocol.md §4.

import { Channel } from '../channel.js';
import { closeFd, closeFds } from '../native/descriptors.js';
import { killProcess } from '../native/processes.js';
import { peerCredentials } from '../native/sockets.js';
import { encodeAnswer, encodeRefused } from '../protocol/agent-message.js';
import { type ClientMessage, parseClientFrame } from '../protocol/client-message.js';
import { ProtocolError } from '../protocol/error.js';
import type { Frame } from '../protocol/frame.js';
import type { JsonObject } from '../protocol/json.js';
import { RefusalCode } from '../protocol/numbers.js';
import type { RunRequest } from '../protocol/run.js';
import { Refused } from './refused.js';
import type { Reply, Request } from './request.js';

const SIGCONT = 18;
/** How long a peer may take to say its first frame. */
const FIRST_FRAME_MS = 10_000;
const OWN_UID = process.geteuid?.();

/** What a connection needs of its session. */
export interface ConnectionHost {
  /** Takes `fds`. `undefined`: it was refused, and told so. */
  run(run: RunRequest, fds: readonly number[], reply: Reply): Request | undefined;
  /** @throws Refused for what it does not know. */
  control(request: JsonObject, peerPid: number): JsonObject | Promise<JsonObject>;
  opened(connection: Connection): void;
  closed(connection: Connection): void;
  /** The session is to last no longer than this connection. */
  own(connection: Connection): void;
}

export class Connection implements Reply {
  readonly #host: ConnectionHost;
  readonly #channel: Channel;
  #request: Request | undefined;
  #began = false;
  #firstFrame: NodeJS.Timeout | undefined;

  /** Serves a connection just accepted; takes `fd`. Another user's is closed unserved. */
  static serve(host: ConnectionHost, fd: number): void {
    let connection: Connection;
    try {
      if (peerCredentials(fd).uid !== OWN_UID) {
        closeFd(fd);
        return;
      }
      connection = new Connection(host, fd);
    } catch (error) {
      closeFd(fd);
      throw error;
    }
    connection.#begin();
  }

  private constructor(host: ConnectionHost, fd: number) {
    this.#host = host;
    this.#channel = new Channel(fd, 'client', {
      onFrame: (frame, fds) => this.#onFrame(frame, fds),
      onClose: () => this.#onClose(),
      lastWords: refusalOf,
    });
  }

  #begin(): void {
    this.#host.opened(this);
    this.#channel.readNow();
    if (this.#began || !this.#channel.isOpen) return;
    this.#firstFrame = setTimeout(() => this.drop(), FIRST_FRAME_MS);
  }

  get peerPid(): number {
    return peerCredentials(this.#channel.fd).pid;
  }

  send(frame: Buffer, fds?: readonly number[]): boolean {
    return this.#channel.send(frame, fds);
  }

  get isPeerGone(): boolean {
    return this.#channel.isPeerGone;
  }

  end(): void {
    this.#request = undefined; // that the peer goes now concerns it no more: a job lives on
    this.#channel.end();
    this.#closed();
  }

  wake(): void {
    if (!this.#channel.isOpen) return;
    const { pid } = peerCredentials(this.#channel.fd);
    if (pid > 1) killProcess(pid, SIGCONT); // 0: of a pid namespace that we do not see into
  }

  /** Ends it from our side, as if the peer had gone. */
  drop(): void {
    this.#channel.close();
    this.#onClose();
  }

  #onFrame(frame: Frame, fds: readonly number[]): void {
    let message: ClientMessage;
    try {
      // Its own copy: a request may wait in the queue for longer than the channel keeps the bytes.
      message = parseClientFrame(this.#began ? frame : { kind: frame.kind, fdCount: frame.fdCount, body: Buffer.from(frame.body) });
    } catch (error) {
      closeFds(fds);
      throw error;
    }
    if (message.type === 'run' || message.type === 'control') this.#start(message, fds);
    else if (this.#request === undefined) throw new ProtocolError('FRAME_KIND', `'${message.type}' before a request`);
    else if (message.type === 'signal') this.#request.signal(message.signal);
    else if (message.type === 'suspend') this.#request.suspend();
    else if (message.type === 'resume') this.#request.resume();
    else this.#request.cancel('client', undefined, true);
  }

  #start(message: { type: 'run'; request: RunRequest } | { type: 'control'; request: JsonObject }, fds: readonly number[]): void {
    if (this.#began) {
      closeFds(fds);
      throw new ProtocolError('FRAME_KIND', 'a second request on one connection');
    }
    this.#began = true;
    clearTimeout(this.#firstFrame);
    if (message.type === 'control' && message.request['op'] === 'own') this.#own();
    else if (message.type === 'control') void this.#answer(message.request);
    else if (this.#channel.isPeerGone) {
      // Its client was ended while we were busy, or frozen: nobody waits for the command any more.
      closeFds(fds);
      this.drop();
    } else this.#request = this.#host.run(message.request, fds, this);
  }

  /** The one question whose connection stays: its end is the owner's. */
  #own(): void {
    this.#host.own(this);
    this.send(encodeAnswer({ owned: true }));
  }

  async #answer(request: JsonObject): Promise<void> {
    try {
      this.send(encodeAnswer(await this.#host.control(request, this.peerPid)));
    } catch (error) {
      this.send(refusalOf(error));
    }
    this.end();
  }

  #onClose(): void {
    clearTimeout(this.#firstFrame);
    const request = this.#request;
    this.#request = undefined;
    request?.cancel('client');
    this.#closed();
  }

  #closed(): void {
    this.#host.closed(this);
  }
}

/** What a peer is told about an error of its own, of ours, or of the machine. */
export function refusalOf(error: unknown): Buffer {
  if (error instanceof Refused) return encodeRefused({ code: error.code, message: error.message, hint: error.hint });
  if (error instanceof ProtocolError) {
    if (error.code === 'VERSION')
      return encodeRefused({
        code: RefusalCode.VERSION,
        message: error.message,
        hint: 'close the session and open it again with the same version of holdfast',
      });
    const code = error.code === 'FRAME_TOO_LARGE' ? RefusalCode.TOO_LARGE : RefusalCode.BAD_REQUEST;
    return encodeRefused({ code, message: error.message, hint: '' });
  }
  // Descriptors that did not fit into our table were lost on the way.
  if (error instanceof Error && 'code' in error && ['EMSGSIZE', 'EMFILE', 'ENFILE'].includes(String(error.code)))
    return encodeRefused({
      code: RefusalCode.RESOURCES,
      message: 'the session has no descriptors left',
      hint: 'run fewer commands at once, or raise the limit of open files before the session is opened',
    });
  return encodeRefused({ code: RefusalCode.INTERNAL, message: error instanceof Error ? error.message : String(error), hint: '' });
}
