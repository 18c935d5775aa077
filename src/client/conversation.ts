// One connection and its one request: says RUN, listens until the last word. docs/protocol.md §4, §5.
// Tells by callbacks, not promises: a request in a busy program should cost no turn of the event loop more than it must.

import { Channel } from '../channel.js';
import { HoldfastError } from '../errors.js';
import { closeFd } from '../native/descriptors.js';
import { NativeError } from '../native.js';
import type { Frame } from '../protocol/frame.js';
import {
  type AgentMessage,
  type Exited,
  encodeCancel,
  encodeResume,
  encodeSignal,
  encodeSuspend,
  type Notice,
  ProtocolError,
  parseAgentFrame,
  type Spawned,
} from '../protocol/messages.js';
import { type Outcome, outcomeOf } from '../protocol/outcome.js';
import { settleLost } from './lost.js';
import { refusalError } from './refusal.js';

export type Result =
  | { readonly kind: 'ended'; readonly outcome: Outcome /** Where the agent saw the end. */; readonly exited: Exited | undefined }
  /** A detached request is over, for its client, once it runs. */
  | { readonly kind: 'detached'; readonly spawned: Spawned };

export interface ConversationRequest {
  /** The whole RUN frame. */
  readonly frame: Buffer;
  /** Ride on it; borrowed until they are sent. */
  readonly fds: readonly number[];
  readonly detach: boolean;
  /** For messages. */
  readonly session: string;
}

export interface ConversationEvents {
  /** Something to learn, before the target starts. */
  onNotice?(notice: Notice): void;
  onQueued?(position: number): void;
  onSpawned?(spawned: Spawned): void;
  onStopped?(signal: number): void;
  onContinued?(): void;
  /** Once, and the last call. The connection and the pidfd are closed by then. */
  onEnd(result: Result): void;
  /** Once, and the last call, in place of `onEnd`: our own failure. */
  onFailure(error: HoldfastError): void;
}

export class Conversation {
  readonly #channel: Channel;
  readonly #events: ConversationEvents;
  readonly #session: string;
  readonly #detach: boolean;
  #spawned: Spawned | undefined;
  #pidfd = -1;
  /** Something was said after the request: then the request is not all that a reset connection may have lost. */
  #spoke = false;
  #over = false;

  /**
   * Sends the request at once.
   *
   * @param socket a connected socket, which this takes over.
   */
  constructor(socket: number, request: ConversationRequest, events: ConversationEvents) {
    this.#events = events;
    this.#session = request.session;
    this.#detach = request.detach;
    this.#channel = new Channel(socket, 'agent', {
      onFrame: (frame, fds) => this.#onFrame(frame, fds),
      onClose: (error) => this.#onClose(error),
    });
    this.#channel.send(request.frame, request.fds);
  }

  get spawned(): Spawned | undefined {
    return this.#spawned;
  }

  /** To the target's process group. */
  signal(signal: number): void {
    this.#spoke = true;
    this.#channel.send(encodeSignal(signal));
  }

  suspend(): void {
    this.#spoke = true;
    this.#channel.send(encodeSuspend());
  }

  resume(): void {
    this.#spoke = true;
    this.#channel.send(encodeResume());
  }

  /** The agent ends everything of it, and tells how the target ended: `onEnd` follows. */
  cancel(): void {
    this.#spoke = true;
    this.#channel.send(encodeCancel());
  }

  /** Cancels the request: the agent ends everything of it. Neither `onEnd` nor `onFailure` follows. Safe to call twice. */
  close(): void {
    this.#over = true;
    this.#channel.close();
    this.#dropPidfd();
  }

  #onFrame(frame: Frame, fds: readonly number[]): void {
    // Only SPAWNED may carry one (judged from the header): kept to hold the pid while the request lasts, so that it names nobody else.
    const [pidfd] = fds;
    if (pidfd !== undefined) {
      this.#dropPidfd();
      this.#pidfd = pidfd;
    }
    let message: AgentMessage;
    try {
      message = parseAgentFrame(frame);
    } catch (error) {
      this.#fail(brokenProtocol(error));
      return;
    }
    this.#onMessage(message);
  }

  #onMessage(message: AgentMessage): void {
    switch (message.type) {
      case 'queued':
        this.#events.onQueued?.(message.position);
        return;
      case 'spawned':
        this.#spawned = message;
        this.#events.onSpawned?.(message);
        if (this.#detach) this.#end({ kind: 'detached', spawned: message });
        return;
      case 'stopped':
        this.#events.onStopped?.(message.signal);
        return;
      case 'continued':
        this.#events.onContinued?.();
        return;
      case 'exited':
        this.#end({ kind: 'ended', outcome: outcomeOf(message), exited: message });
        return;
      case 'notStarted':
        // The channel reuses the memory behind a frame's body; what outlives the call is copied.
        this.#end({
          kind: 'ended',
          outcome: outcomeOf({ ...message, subject: Buffer.from(message.subject), searched: Buffer.from(message.searched) }),
          exited: undefined,
        });
        return;
      case 'refused':
        this.#fail(refusalError(message, this.#session));
        return;
      case 'notice':
        if (this.#spawned !== undefined) this.#fail(brokenProtocol(new ProtocolError('FRAME_KIND', 'a NOTICE came after the start')));
        else this.#events.onNotice?.(message);
        return;
      case 'answer':
        this.#fail(brokenProtocol(new ProtocolError('FRAME_KIND', 'an ANSWER came where no question was asked')));
        return;
    }
  }

  /** The agent went away without a last word. Whether the target was started is known only if it was said. */
  #onClose(error?: Error): void {
    if (error instanceof ProtocolError) {
      this.#fail(brokenProtocol(error));
      return;
    }
    if (error instanceof NativeError && !PEER_IS_GONE.has(error.code)) {
      this.#fail(new HoldfastError('RESOURCES', `the request could not be sent: ${error.message}`, { cause: error }));
      return;
    }
    if (this.#spawned !== undefined) {
      const ending = this.#pidfd === -1 ? undefined : settleLost(this.#pidfd);
      this.#lose(ending === undefined ? { kind: 'lost', when: 'after-spawn' } : { kind: 'lost', when: 'after-spawn', ending });
      return;
    }
    // The kernel resets a connection whose receiver closes it unread: the request was never taken out, and may be sent again.
    const unread = error !== undefined && !this.#spoke;
    this.#lose({ kind: 'lost', when: unread ? 'before-spawn' : 'unknown' });
  }

  #lose(outcome: Outcome): void {
    this.#end({ kind: 'ended', outcome, exited: undefined });
  }

  #end(result: Result): void {
    if (this.#over) return;
    this.close();
    this.#events.onEnd(result);
  }

  #fail(error: HoldfastError): void {
    if (this.#over) return;
    this.close();
    this.#events.onFailure(error);
  }

  #dropPidfd(): void {
    if (this.#pidfd !== -1) closeFd(this.#pidfd);
    this.#pidfd = -1;
  }
}

const PEER_IS_GONE: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

function brokenProtocol(cause: unknown): HoldfastError {
  const fault = cause instanceof Error ? cause.message : String(cause);
  return new HoldfastError('PROTOCOL', `the agent of the session broke the protocol: ${fault}`, {
    hint: "close the session and open it again with this version of Holdfast; 'holdfast doctor' names both",
    cause,
  });
}
