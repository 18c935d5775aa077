// One request of the command line from its start to its ending: relays signals, stops and goes on with the target. The rules of
// native/client_relay.c; knows nothing of messages and exit codes.

import { constants } from 'node:os';

import { Conversation, type ConversationRequest, type Result } from '../client/conversation.js';
import type { HoldfastError } from '../errors.js';
import type { Notice, Spawned } from '../protocol/messages.js';

export type Ended =
  | { readonly kind: 'result'; readonly result: Result }
  | { readonly kind: 'failure'; readonly error: HoldfastError }
  /** A signal ended us before the target had started. */
  | { readonly kind: 'interrupted'; readonly signal: number }
  /** The agent let the deadline pass without a word. */
  | { readonly kind: 'overdue' };

export interface RelayOptions {
  /** Above it the agent is not believed to keep the deadline; `undefined`: no deadline. */
  readonly overdueMs: number | undefined;
  onNotice(notice: Notice): void;
  /** It has waited for its turn for a second. */
  onQueued(position: number): void;
  /** The target runs. Called once. */
  onStarted(spawned: Spawned): void;
}

const RELAYED = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGTSTP', 'SIGCONT'] as const;
type Relayed = (typeof RELAYED)[number];

/** What ends or stops a command: these concern us too, as long as there is none. */
const EARLY: readonly Relayed[] = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGTSTP'];
/**
 * A signal may come while the agent's word that the command has started is still on its way. For so long it counts as the
 * command's; then as ours, so that a frozen or full session can be left with Ctrl-C.
 */
const SIGNAL_GRACE_MS = 500;
const MAX_TIMER_MS = 0x7fffffff;
const QUEUED_WORD_MS = 1000;

/** Takes `socket`. Until `stop` is called, signals of the kinds above are ours. */
export class Relay {
  readonly ended: Promise<Ended>;
  readonly #conversation: Conversation;
  #settle: (ended: Ended) => void = () => {};
  #spawned: Spawned | undefined;
  #earlyTimer: NodeJS.Timeout | undefined;
  #overdueTimer: NodeJS.Timeout | undefined;
  #queuedTimer: NodeJS.Timeout | undefined;
  /** The target has stopped by this signal, and we have not followed yet. */
  #stop: number | undefined;

  constructor(socket: number, request: ConversationRequest, options: RelayOptions) {
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
    for (const signal of RELAYED) process.on(signal, this.#onSignal);
    if (options.overdueMs !== undefined) {
      this.#overdueTimer = setTimeout(() => this.#end({ kind: 'overdue' }), Math.min(options.overdueMs, MAX_TIMER_MS));
    }
    this.#conversation = new Conversation(socket, request, {
      onNotice: (notice) => options.onNotice(notice),
      onQueued: (position) => {
        clearTimeout(this.#queuedTimer);
        this.#queuedTimer = setTimeout(() => options.onQueued(position), QUEUED_WORD_MS);
      },
      onSpawned: (spawned) => {
        this.#spawned = spawned;
        clearTimeout(this.#earlyTimer);
        clearTimeout(this.#queuedTimer);
        options.onStarted(spawned);
      },
      onStopped: (signal) => this.#onStopped(signal),
      onContinued: () => {
        this.#stop = undefined;
      },
      onEnd: (result) => this.#end({ kind: 'result', result }),
      onFailure: (error) => this.#end({ kind: 'failure', error }),
    });
  }

  get spawned(): Spawned | undefined {
    return this.#spawned;
  }

  /** Gives the signals back. Safe to call twice. */
  stop(): void {
    for (const signal of RELAYED) process.off(signal, this.#onSignal);
  }

  #end(ended: Ended): void {
    clearTimeout(this.#earlyTimer);
    clearTimeout(this.#overdueTimer);
    clearTimeout(this.#queuedTimer);
    this.#conversation.close();
    this.#settle(ended);
  }

  readonly #onSignal = (signal: Relayed): void => {
    if (signal === 'SIGCONT') {
      this.#stop = undefined;
      this.#conversation.resume();
      return;
    }
    if (this.#spawned === undefined && EARLY.includes(signal)) this.#onEarly(signal);
    this.#conversation.signal(constants.signals[signal]);
  };

  /** A second one is not discussed. */
  #onEarly(signal: Relayed): void {
    const number = constants.signals[signal];
    if (this.#earlyTimer !== undefined) {
      if (signal !== 'SIGTSTP') this.#end({ kind: 'interrupted', signal: number });
      return;
    }
    this.#earlyTimer = setTimeout(() => {
      this.#earlyTimer = undefined;
      if (signal === 'SIGTSTP') this.#stopSelf(number);
      else this.#end({ kind: 'interrupted', signal: number });
    }, SIGNAL_GRACE_MS);
  }

  /** Followed once all that came with it is read: the next word may be that it goes on. */
  #onStopped(signal: number): void {
    this.#stop = signal;
    queueMicrotask(() => {
      if (this.#stop === undefined) return;
      this.#stop = undefined;
      this.#stopSelf(signal);
    });
  }

  /**
   * Stops this process as `signal` stops one, until it is continued. Where nobody looks after our process group the kernel discards
   * the stop, as it would have discarded the target's in our place: either way the target goes on when this returns.
   */
  #stopSelf(signal: number): void {
    // Without a listener a signal has its own effect, and kill(2) to oneself takes effect before it returns.
    for (const name of ['SIGTSTP', 'SIGCONT'] as const) process.off(name, this.#onSignal);
    process.kill(process.pid, signal);
    for (const name of ['SIGTSTP', 'SIGCONT'] as const) process.on(name, this.#onSignal);
    this.#conversation.resume();
  }
}
