// The library's client: one request from this process, without a process of its own in between. DESIGN section 7. Long, since all that
// can become of a request, from its encoding to its end, is to be seen in one place.

import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';

import { HoldfastError } from '../errors.js';
import { closeFd, isTty } from '../native/descriptors.js';
import type { Exited, Spawned } from '../protocol/messages.js';
import type { Outcome } from '../protocol/outcome.js';
import { listenForAbort } from './abort.js';
import { nodeCaller, openCurrentDirectory } from './caller.js';
import { checkCommand } from './check-command.js';
import { connectWhenFree, readPassNames, type SessionAddress } from './connect.js';
import { Conversation, type ConversationRequest, type Result } from './conversation.js';
import { asksForCaller } from './environment.js';
import { linesOf } from './lines.js';
import { ReopenError } from './refusal.js';
import { buildRequest, encodeRequest } from './request.js';
import type { RunHandle, RunOptions, RunReport } from './run-handle.js';
import { type StdioOption, TargetStdio } from './stdio.js';

/**
 * Runs a command in a session that is open. Returns at once and never throws: what goes wrong is told by `outcome`.
 *
 * @param address from `addressOf`.
 */
export function run<const S extends StdioOption = 'pipe'>(options: RunOptions<S>, address: SessionAddress): RunHandle<S>;
export function run(options: RunOptions, address: SessionAddress): RunHandle {
  return new Run(options, address, undefined);
}

/** As `run`, by who can open the session again where it has to be before a command can run in it. */
export function runFresh(options: RunOptions, address: SessionAddress, reopen: () => Promise<unknown>): RunHandle {
  return new Run(options, address, reopen);
}

const MAX_SIGNAL = 64;

/** Ways to send a request once more, each of them once. */
interface Again {
  /** With what a wrapper needs. */
  readonly withCaller: (() => void) | undefined;
  /** To the session that has been opened again. */
  readonly whenFresh: (() => void) | undefined;
}

class Run implements RunHandle {
  readonly outcome: Promise<Outcome>;
  stdin: Writable | undefined;
  readonly #options: RunOptions;
  readonly #reopen: (() => Promise<unknown>) | undefined;
  #stdio: TargetStdio | undefined;
  #resolve: (outcome: Outcome) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #stopConnecting: (() => void) | undefined;
  /** Closes our copies of what the target gets: once the agent has them for good. */
  #release: () => void = () => {};
  #conversation: Conversation | undefined;
  /** Signals that came before there was a connection to send them on. */
  #early: number[] | undefined;
  #unlisten: (() => void) | undefined;
  #settled = false;
  #failed = false;
  #cancelled: { readonly reason: unknown } | undefined;
  #spawned: Spawned | undefined;
  #exited: Exited | undefined;
  /** Made when asked for: most callers never do. */
  #pid: { readonly promise: Promise<number | undefined>; readonly resolve: (pid: number | undefined) => void } | undefined;

  constructor(options: RunOptions, address: SessionAddress, reopen: (() => Promise<unknown>) | undefined) {
    this.#options = options;
    this.#reopen = reopen;
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    try {
      checkCommand(options, 'bytes');
      options.signal?.throwIfAborted();
      this.#start(address);
      if (!this.#settled && options.signal) this.#unlisten = listenForAbort(options.signal, this.#onAbort);
    } catch (error) {
      this.#fail(error);
    }
  }

  // biome-ignore lint/suspicious/noThenProperty: a handle is awaited for its outcome, as other spawners' are.
  then<A = Outcome, B = never>(
    onResolved?: ((outcome: Outcome) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.outcome.then(onResolved, onRejected);
  }

  [Symbol.asyncIterator](): AsyncGenerator<string, void, undefined> {
    return this.lines();
  }

  get stdout(): Readable | undefined {
    return this.#stdio?.stdout?.stream;
  }

  get stderr(): Readable | undefined {
    return this.#stdio?.stderr?.stream;
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

  signal(signal: NodeJS.Signals | number): void {
    const number = typeof signal === 'number' ? signal : constants.signals[signal];
    if (!Number.isInteger(number) || number < 1 || number > MAX_SIGNAL)
      throw new HoldfastError('REQUEST_INVALID', `'${signal}' is no signal`);
    if (this.#settled) return;
    // Until the target runs it may have to be said again, on another connection.
    if (this.#spawned === undefined) {
      this.#early ??= [];
      this.#early.push(number);
    }
    this.#conversation?.signal(number);
  }

  cancel(): void {
    this.#cancel(new HoldfastError('CANCELLED', 'the command was cancelled before it was started'));
  }

  lines(output: 'stdout' | 'stderr' = 'stdout'): AsyncGenerator<string, void, undefined> {
    // A failure is thrown to whoever reads, and that may be a turn later than its promise would count as one nobody looks after.
    this.outcome.catch(() => {});
    return this.#lines(output === 'stdout' ? this.stdout : this.stderr, output);
  }

  async *#lines(stream: Readable | undefined, output: string): AsyncGenerator<string, void, undefined> {
    if (stream === undefined) throw await this.#unread(output);
    try {
      yield* linesOf(stream);
    } finally {
      // A request that failed takes its streams with it: why is known to the outcome.
      if (this.#failed) await this.outcome;
    }
  }

  /** Why there is no stream: where Holdfast failed before it was made, that. */
  async #unread(output: string): Promise<HoldfastError> {
    if (this.#settled) await this.outcome;
    return new HoldfastError('REQUEST_INVALID', `'${output}' cannot be read: it is no pipe`, {
      hint: `leave 'stdio' out, or let it say 'pipe' for ${output}`,
    });
  }

  /** Encodes before it connects: the request is of this moment, even when the connection has to wait. */
  #start(address: SessionAddress): void {
    const stdio = new TargetStdio(this.#options.stdio ?? 'pipe');
    this.stdin = stdio.stdin;
    this.#stdio = stdio;
    let directory: number | undefined;
    this.#release = () => {
      stdio.closeTheirs();
      if (directory !== undefined) closeFd(directory);
      directory = undefined;
    };
    const send = (hasCaller: boolean, isFresh: boolean): void => {
      const passNames = readPassNames(address);
      const request = buildRequest(this.#options, {
        caller: nodeCaller(),
        numbers: stdio.numbers,
        passNames,
        seesTerminal: stdio.numbers.some((number, index) => number <= 2 && isTty(stdio.fds[index] ?? -1)),
        report: this.#options.leftovers ?? false,
        controlsTerminal: stdio.controlsTerminal,
        hasCaller: hasCaller || asksForCaller(passNames),
      });
      const frame = encodeRequest(request);
      if (request.cwdByDescriptor) directory ??= openCurrentDirectory();
      const fds = directory === undefined ? stdio.fds : [...stdio.fds, directory];
      this.#stopConnecting = connectWhenFree(
        address,
        (socket) =>
          this.#converse(
            socket,
            { frame, fds, detach: false, session: address.label },
            {
              withCaller: hasCaller ? undefined : () => send(true, isFresh),
              whenFresh: isFresh || this.#reopen === undefined ? undefined : () => send(hasCaller, true),
            },
          ),
        (error) => this.#fail(error),
      );
    };
    send(false, false);
  }

  #converse(socket: number, request: ConversationRequest, again: Again): void {
    this.#conversation = new Conversation(socket, request, {
      onNotice: ({ message }) =>
        process.emitWarning(message, { code: 'HOLDFAST_STALE', detail: 'refresh() of the session enters it again' }),
      onQueued: () => this.#release(),
      onSpawned: (spawned) => {
        this.#release();
        this.#spawned = spawned;
        this.#pid?.resolve(spawned.pid);
      },
      onEnd: (result) => this.#end(result),
      onFailure: (error) => {
        const isStale = error instanceof ReopenError;
        const isUnstarted = isStale || error.code === 'CALLER_NEEDED' || error.code === 'SESSION_STOPPING';
        if (this.#cancelled !== undefined && isUnstarted) this.#fail(this.#cancelled.reason);
        else if (error.code === 'CALLER_NEEDED' && again.withCaller !== undefined) this.#sendAgain(again.withCaller);
        else if (isStale && again.whenFresh !== undefined) this.#reopenFirst(again.whenFresh);
        else this.#fail(error);
      },
    });
    for (const signal of this.#early ?? []) this.#conversation.signal(signal);
  }

  #reopenFirst(send: () => void): void {
    this.#conversation = undefined;
    const sendUnlessOver = (): void => {
      if (!this.#settled) this.#sendAgain(send);
    };
    this.#reopen?.().then(sendUnlessOver, (error: unknown) => this.#fail(error));
  }

  #sendAgain(send: () => void): void {
    this.#conversation = undefined;
    try {
      send();
    } catch (error) {
      this.#fail(error);
    }
  }

  #end(result: Result): void {
    if (result.kind === 'detached') throw new Error('a request that is not detached was answered as if it were');
    this.#exited = result.exited;
    this.#settle();
    // Nobody reads it any more. Output may still be on its way, and is left to its reader.
    this.stdin?.destroy();
    this.#resolve(result.outcome);
    const stdio = this.#stdio;
    // Who reads the rest, as a rule, does so as soon as it hears of the end.
    if (stdio?.stdout !== undefined || stdio?.stderr !== undefined) setImmediate(() => stdio.settle());
  }

  #fail(error: unknown): void {
    if (this.#settled) return;
    this.#settle();
    this.#failed = true;
    this.stdin?.destroy();
    this.#stdio?.stdout?.destroy();
    this.#stdio?.stderr?.destroy();
    this.#reject(error);
  }

  #settle(): void {
    this.#settled = true;
    this.#release();
    this.#unlisten?.();
    this.#pid?.resolve(this.#spawned?.pid);
  }

  #makeReport(): RunReport | undefined {
    if (this.#exited === undefined || this.#spawned === undefined) return undefined;
    const { waitStatus, cancelledBy, usage, timings, tree, leftovers } = this.#exited;
    const { pid, startNs } = this.#spawned;
    return { pid, startNs, waitStatus, cancelledBy, usage, timings, tree, leftovers };
  }

  readonly #onAbort = (): void => this.#cancel(this.#options.signal?.reason);

  #cancel(reason: unknown): void {
    if (this.#settled || this.#cancelled !== undefined) return;
    this.#cancelled = { reason };
    if (this.#conversation !== undefined) {
      // Whether it runs already the agent knows, and answers accordingly.
      this.#conversation.cancel();
      return;
    }
    this.#stopConnecting?.();
    this.#fail(reason);
  }
}
