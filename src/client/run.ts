// The library's client: one request from this process, without a process of its own in between. DESIGN section 7.

import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';

import { HoldfastError } from '../errors.js';
import { closeFd, isTty } from '../native.js';
import type { Exited, Spawned } from '../protocol/messages.js';
import type { Outcome } from '../protocol/outcome.js';
import { nodeCaller, openCurrentDirectory } from './caller.js';
import { connectWhenFree, readPassNames, type SessionAddress } from './connect.js';
import { Conversation, type ConversationRequest, type Result } from './conversation.js';
import { buildRequest, encodeRequest, type RunSpec } from './request.js';
import { type StdioOption, TargetStdio } from './stdio.js';

export interface RunOptions extends RunSpec {
  /** As for child_process; `'pipe'` when absent. Pipes are the kernel's own: output that nobody reads stops the target, not us. */
  readonly stdio?: StdioOption | undefined;
  /** Aborting sends TERM to the target's group, and KILL after the grace; the outcome then is `cancelled` by `client`. */
  readonly signal?: AbortSignal | undefined;
  /** Have the agent look for processes that the target left running, for the report. */
  readonly leftovers?: boolean | undefined;
}

/** What a target cost. */
export interface RunReport extends Exited {
  readonly pid: number;
  /** Nanoseconds of CLOCK_MONOTONIC. */
  readonly startNs: bigint;
}

/** A request under way. */
export interface RunHandle {
  /** Our ends of the pipes; `undefined` where there is none. */
  readonly stdin: Writable | undefined;
  readonly stdout: Readable | undefined;
  readonly stderr: Readable | undefined;
  /** Of the target, once it runs; `undefined` when it never did. Never rejects. */
  readonly pid: Promise<number | undefined>;
  /**
   * How it ended. The target's last output may still wait in a pipe then: a stream's own `end` tells when it is through.
   *
   * Rejects with a `HoldfastError` when Holdfast failed (`NO_SESSION`, `BUSY`, …), and with the reason of the AbortSignal when
   * that came before anything was started.
   */
  readonly outcome: Promise<Outcome>;
  /** Resolves with the outcome; `undefined` where the agent did not see an end. Never rejects. */
  readonly report: Promise<RunReport | undefined>;
  /** To the target's process group, or to it as soon as it runs. Nothing happens when it has ended. @throws {HoldfastError} `REQUEST_INVALID`. */
  kill(signal?: NodeJS.Signals | number): void;
}

/**
 * Runs a command in a session. Returns at once and never throws: what goes wrong is told by `outcome`.
 *
 * @param address from `addressOf`.
 */
export function run(options: RunOptions, address: SessionAddress): RunHandle {
  return new Run(options, address);
}

/** The session's own grace is for what the agent ends; an abort is carried out by us, who are not told it. */
const ABORT_GRACE_MS = 2000;
const TERM = constants.signals.SIGTERM;
const KILL = constants.signals.SIGKILL;
const MAX_SIGNAL = 64;

class Run implements RunHandle {
  readonly outcome: Promise<Outcome>;
  stdin: Writable | undefined;
  stdout: Readable | undefined;
  stderr: Readable | undefined;
  readonly #options: RunOptions;
  #resolve: (outcome: Outcome) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #stopConnecting: (() => void) | undefined;
  #conversation: Conversation | undefined;
  /** Signals that came before there was a connection to send them on. */
  #early: number[] | undefined;
  #settled = false;
  #aborted = false;
  #killTimer: NodeJS.Timeout | undefined;
  #spawned: Spawned | undefined;
  #exited: Exited | undefined;
  /** Made when asked for: most callers never do. */
  #pid: { readonly promise: Promise<number | undefined>; readonly resolve: (pid: number | undefined) => void } | undefined;

  constructor(options: RunOptions, address: SessionAddress) {
    this.#options = options;
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    try {
      options.signal?.throwIfAborted();
      this.#start(address);
      if (!this.#settled) options.signal?.addEventListener('abort', this.#onAbort);
    } catch (error) {
      this.#fail(error);
    }
  }

  get pid(): Promise<number | undefined> {
    if (this.#pid === undefined) {
      let resolve: (pid: number | undefined) => void = () => {};
      const promise = new Promise<number | undefined>((settle) => {
        resolve = settle;
      });
      this.#pid = { promise, resolve };
      if (this.#spawned !== undefined || this.#settled) resolve(this.#spawned?.pid);
    }
    return this.#pid.promise;
  }

  get report(): Promise<RunReport | undefined> {
    const report = () => this.#makeReport();
    return this.outcome.then(report, report);
  }

  kill(signal: NodeJS.Signals | number = TERM): void {
    const number = typeof signal === 'number' ? signal : constants.signals[signal];
    if (!Number.isInteger(number) || number < 1 || number > MAX_SIGNAL)
      throw new HoldfastError('REQUEST_INVALID', `'${signal}' is no signal`);
    if (this.#settled) return;
    if (this.#conversation !== undefined) this.#conversation.signal(number);
    else {
      this.#early ??= [];
      this.#early.push(number);
    }
  }

  /** Encodes before it connects: the request is of this moment, even when the connection has to wait. */
  #start(address: SessionAddress): void {
    const stdio = new TargetStdio(this.#options.stdio ?? 'pipe');
    this.stdin = stdio.stdin;
    this.stdout = stdio.stdout;
    this.stderr = stdio.stderr;
    let directory: number | undefined;
    // The descriptors ride on the request's first byte, which has gone by the time this runs (or never will).
    const closeOurCopies = (): void => {
      stdio.closeTheirs();
      if (directory !== undefined) closeFd(directory);
      directory = undefined;
    };
    try {
      const request = buildRequest(this.#options, {
        caller: nodeCaller(),
        numbers: stdio.numbers,
        passNames: readPassNames(address),
        seesTerminal: stdio.numbers.some((number, index) => number <= 2 && isTty(stdio.fds[index] ?? -1)),
        report: this.#options.leftovers ?? false,
      });
      const frame = encodeRequest(request);
      if (request.cwdByDescriptor) directory = openCurrentDirectory();
      const fds = directory === undefined ? stdio.fds : [...stdio.fds, directory];
      const stop = connectWhenFree(
        address,
        (socket) => {
          this.#converse(socket, { frame, fds, detach: false, session: address.label });
          closeOurCopies();
        },
        (error) => {
          closeOurCopies();
          this.#fail(error);
        },
      );
      this.#stopConnecting = () => {
        stop();
        closeOurCopies();
      };
    } catch (error) {
      closeOurCopies();
      throw error;
    }
  }

  #converse(socket: number, request: ConversationRequest): void {
    this.#conversation = new Conversation(socket, request, {
      onSpawned: (spawned) => {
        this.#spawned = spawned;
        this.#pid?.resolve(spawned.pid);
      },
      onEnd: (result) => this.#end(result),
      onFailure: (error) => this.#fail(error),
    });
    for (const signal of this.#early ?? []) this.#conversation.signal(signal);
  }

  #end(result: Result): void {
    if (result.kind === 'detached') throw new Error('a request that is not detached was answered as if it were');
    const { outcome } = result;
    this.#exited = result.exited;
    this.#settle();
    // Nobody reads it any more. Output may still be on its way, and is left to its reader.
    this.stdin?.destroy();
    // The agent saw an ordinary end: that we caused it is ours to tell.
    const byUs = this.#aborted && (outcome.kind === 'exited' || outcome.kind === 'signaled');
    this.#resolve(byUs ? { kind: 'cancelled', by: 'client', ending: outcome } : outcome);
  }

  #fail(error: unknown): void {
    if (this.#settled) return;
    this.#settle();
    this.stdin?.destroy();
    this.stdout?.destroy();
    this.stderr?.destroy();
    this.#reject(error);
  }

  #settle(): void {
    this.#settled = true;
    clearTimeout(this.#killTimer);
    this.#options.signal?.removeEventListener('abort', this.#onAbort);
    this.#pid?.resolve(this.#spawned?.pid);
  }

  #makeReport(): RunReport | undefined {
    if (this.#exited === undefined || this.#spawned === undefined) return undefined;
    const { waitStatus, cancelledBy, usage, timings, tree, leftovers } = this.#exited;
    const { pid, startNs } = this.#spawned;
    return { pid, startNs, waitStatus, cancelledBy, usage, timings, tree, leftovers };
  }

  readonly #onAbort = (): void => {
    if (this.#settled) return;
    if (this.#conversation === undefined || this.#spawned === undefined) {
      // Nothing runs that we know of. What may be about to is the agent's to end, once the connection is gone.
      this.#stopConnecting?.();
      this.#conversation?.close();
      this.#fail(this.#options.signal?.reason);
      return;
    }
    this.#aborted = true;
    this.#conversation.signal(TERM);
    this.#killTimer = setTimeout(() => this.#conversation?.signal(KILL), this.#options.killGraceMs ?? ABORT_GRACE_MS);
  };
}
