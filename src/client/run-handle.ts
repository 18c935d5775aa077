// What a program asks for when it runs a command from within, and what it holds while that runs. DESIGN section 7.

import type { Exited } from '../protocol/messages.js';
import type { Outcome } from '../protocol/outcome.js';
import type { RunSpec } from './request.js';
import type { StderrOf, StdinOf, StdioOption, StdoutOf } from './stdio.js';

/** A command, its descriptors, and how it may be ended. */
export interface RunOptions<S extends StdioOption = StdioOption> extends RunSpec {
  /** `'pipe'` when absent. Pipes are the kernel's own: output that nobody reads stops the target, not this process. */
  readonly stdio?: S | undefined;
  /**
   * Aborting ends everything that the command started: TERM, KILL after `killGraceMs`. The outcome then is `cancelled` by `client`;
   * it rejects with the signal's reason when nothing had been started.
   */
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

/**
 * A command under way. Awaiting it gives its outcome, iterating over it the lines of its standard output:
 *
 * ```ts
 * const make = session.run({ program: 'make' });
 * for await (const line of make) console.log(line);
 * const outcome = await make;
 * ```
 */
export interface RunHandle<S extends StdioOption = StdioOption> extends PromiseLike<Outcome>, AsyncIterable<string> {
  /** Our ends of the pipes; `undefined` where there is none, which their types know. */
  readonly stdin: StdinOf<S>;
  readonly stdout: StdoutOf<S>;
  readonly stderr: StderrOf<S>;
  /** Of the target, once it runs; `undefined` when it never did. Never rejects. */
  readonly pid: Promise<number | undefined>;
  /**
   * How it ended. The target's last output may still wait in a pipe then: a stream's own `end` tells when it is through.
   *
   * Rejects with a `HoldfastError` when Holdfast failed (`NO_SESSION`, `BUSY`, `DEADLINE`, …), and with the reason of the AbortSignal
   * when that came before anything was started.
   */
  readonly outcome: Promise<Outcome>;
  /** Resolves with the outcome; `undefined` where the agent did not see an end. Never rejects. */
  readonly report: Promise<RunReport | undefined>;
  /** Once, to the target's process group, or to it as soon as it runs. Nothing happens when it has ended. @throws {HoldfastError} `REQUEST_INVALID`. */
  signal(signal: NodeJS.Signals | number): void;
  /** As an abort: ends the target and everything that it started. A second call changes nothing. */
  cancel(): void;
  /**
   * The lines of an output that is a pipe, as they come. Rejects as `outcome` does when Holdfast failed.
   *
   * @throws {HoldfastError} `REQUEST_INVALID` where it is no pipe.
   */
  lines(output?: 'stdout' | 'stderr'): AsyncGenerator<string, void, undefined>;
}
