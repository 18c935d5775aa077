// The wait for a launcher: until what is run behind it (the agent, or the shim that takes a snapshot) has called, says that it
// cannot, or can no longer come. Whatever goes wrong, the launcher and all that it started are ended before the error is thrown.

import { setTimeout as sleep } from 'node:timers/promises';

import type { HoldfastError } from '../errors.js';
import type { Launch } from './definition.js';
import { lastWords } from './last-words.js';
import { findCure } from './launch-cure.js';
import { LaunchError } from './launch-error.js';
import type { LaunchLog } from './launch-log.js';
import type { Launcher, LauncherEnd } from './launcher.js';
import type { OpenOptions } from './open.js';
import { type Notice, ReadinessSocket } from './readiness.js';

const PROGRESS_MS = 100;
/** How often a sign of arrival is looked for. */
const ARRIVAL_MS = 10;
/** How often an ended launcher's descendants are looked for. */
const ORPHANS_MS = 25;
/** From TERM to KILL for a launcher that is given up. */
const UNDO_GRACE_MS = 1_000;
const TAIL_LINES = 15;

/** What to do about a launcher that ends without a word. */
const SILENT: Readonly<Record<Launch['style'], string>> = {
  enter: 'a launcher has to run the command that is given behind it, as "env" does: try it by hand',
  'enter-string': 'a launcher has to run the command that is given behind it, as "sh -c" does: try it by hand',
  source: 'a script that is sourced must not end its shell: look for "exit", "exec" and "set -e" in it',
  'source-command': 'code that is sourced must not end its shell: look for "exit", "exec" and "set -e" in what the command prints',
};

interface LaunchingFacts {
  readonly name: string;
  readonly style: Launch['style'];
  readonly log: LaunchLog;
  readonly logPath: string;
  /** How it calls: over a socket, as the agent does; or by something that is seen once it is there, when the launcher is then let go. */
  readonly call: { readonly notifyPath: string } | { readonly arrived: () => boolean };
  readonly options: OpenOptions;
}

/** What ended the wait. */
type Verdict =
  | { readonly kind: 'serves'; readonly pid: number }
  | { readonly kind: 'arrived' }
  | { readonly kind: 'refused'; readonly text: string }
  | { readonly kind: 'ended'; readonly end: LauncherEnd }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'interrupted' };

export class Launching {
  readonly #facts: LaunchingFacts;
  readonly #socket: ReadinessSocket | undefined;
  readonly #startedAt = performance.now();
  readonly #verdict: Promise<Verdict>;
  #decide: (verdict: Verdict) => void = () => undefined;
  #decided = false;
  #status = '';

  /** Binds the notify socket, if there is to be one: from here on the agent may call. close() it. */
  constructor(facts: LaunchingFacts) {
    this.#facts = facts;
    this.#verdict = new Promise((resolve) => {
      this.#decide = (verdict) => {
        this.#decided = true;
        resolve(verdict);
      };
    });
    const { call } = facts;
    this.#socket = 'notifyPath' in call ? new ReadinessSocket(call.notifyPath, (notice) => this.#onNotice(notice)) : undefined;
  }

  close(): void {
    this.#socket?.close();
  }

  /**
   * @returns the agent's pid; 0 when there is to be none, and the launcher still is this process's to end.
   * @throws {HoldfastError} `LAUNCH_FAILED`, `LAUNCH_TIMEOUT`, `LAUNCH_INTERRUPTED`; nothing of the launcher lives then.
   */
  async wait(launcher: Launcher, timeoutMs: number): Promise<number> {
    const { signal } = this.#facts.options;
    const onAbort = (): void => this.#decide({ kind: 'interrupted' });
    const timeout = setTimeout(() => this.#decide({ kind: 'timeout' }), Math.min(timeoutMs, 0x7fffffff));
    const progress = setInterval(() => this.#tellProgress(), PROGRESS_MS);
    const arrival = 'arrived' in this.#facts.call ? setInterval(() => this.#lookForArrival(), ARRIVAL_MS) : undefined;
    launcher.onEnd(() => void this.#watchOrphans(launcher));
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted) onAbort();
    try {
      const verdict = await this.#verdict;
      if (verdict.kind === 'serves') {
        launcher.letGo();
        return verdict.pid;
      }
      if (verdict.kind === 'arrived') return 0;
      // Read before the undoing adds its own noise.
      const error = this.#errorOf(verdict, timeoutMs);
      await launcher.undo(UNDO_GRACE_MS);
      throw error;
    } finally {
      clearTimeout(timeout);
      clearInterval(progress);
      clearInterval(arrival);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  #onNotice(notice: Notice): void {
    if (notice.readyPid !== undefined) this.#decide({ kind: 'serves', pid: notice.readyPid });
    else if (notice.failure !== undefined) this.#decide({ kind: 'refused', text: notice.failure });
    else if (notice.status !== undefined) this.#status = notice.status;
  }

  #lookForArrival(): void {
    const { call } = this.#facts;
    if ('arrived' in call && call.arrived()) this.#decide({ kind: 'arrived' });
  }

  /** An ended launcher may have gone into the background: only when nothing of it lives any more, the agent cannot call. */
  async #watchOrphans(launcher: Launcher): Promise<void> {
    while (!this.#decided && launcher.living().length > 0) await sleep(ORPHANS_MS);
    // It may have called and ended since we last looked.
    this.#socket?.drain();
    this.#lookForArrival();
    if (launcher.end !== undefined) this.#decide({ kind: 'ended', end: launcher.end });
  }

  #tellProgress(): void {
    const { log, options } = this.#facts;
    options.progress?.(log.lastLine() || this.#status, performance.now() - this.#startedAt, 'entering');
  }

  #errorOf(verdict: Exclude<Verdict, { kind: 'serves' | 'arrived' }>, timeoutMs: number): HoldfastError {
    const { name, style, log, logPath, call } = this.#facts;
    const failed = 'arrived' in call ? 'running the command behind it, which takes its variables' : 'starting the agent';
    const late = 'arrived' in call ? 'run the command behind it, which takes its variables,' : 'start the agent';
    const output = log.tail(TAIL_LINES);
    const cure = findCure(output);
    const whole = `${cure === undefined ? '' : `${cure}; `}all that it said is in '${logPath}'`;
    const hint = output.length > 0 ? whole : SILENT[style];
    const last = lastWords(output);
    const said = last === undefined ? ', and said nothing' : `; its last words were '${last}'`;
    switch (verdict.kind) {
      case 'refused':
        return new LaunchError(
          'LAUNCH_FAILED',
          `the agent of session '${name}' could not start: ${verdict.text}`,
          output,
          "'holdfast doctor' checks this machine",
        );
      case 'ended':
        return new LaunchError(
          'LAUNCH_FAILED',
          `the launcher of session '${name}' ${endText(verdict.end)} without ${failed}${said}`,
          output,
          hint,
        );
      case 'timeout':
        return new LaunchError(
          'LAUNCH_TIMEOUT',
          `the launcher of session '${name}' did not ${late} within ${timeoutMs / 1000} s${said}`,
          output,
          `${output.length > 0 ? `${whole}; ` : ''}open_timeout is how long it may take`,
        );
      case 'interrupted':
        return new LaunchError('LAUNCH_INTERRUPTED', `opening session '${name}' was interrupted`, output, 'nothing of it is left');
    }
  }
}

function endText({ code, signal }: LauncherEnd): string {
  return signal === null ? `ended with status ${code}` : `was ended by ${signal}`;
}
