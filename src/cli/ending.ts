// How the `holdfast` command ends, decided in one place: 0 done, 1 failed, 2 misuse, or the signal that interrupted it.
// The agent and the `runner-exec` fallback have rules of their own, and so has `job wait`.

import { HoldfastError } from '../errors.js';
import { visibleText } from './shell-bytes.js';

const EXIT_OURS = 125;

export type Ending = { readonly kind: 'exit'; readonly code: number } | { readonly kind: 'signal'; readonly signal: number };

/** The command failed, and has already said all there is to say. */
export class SilentFailure extends Error {}

/** A signal ended the command's work; what it had begun is undone. */
export class Interrupted extends Error {
  readonly signal: number;
  constructor(signal: number) {
    super(`interrupted by signal ${signal}`);
    this.signal = signal;
  }
}

/** `job wait`: the command ends as the job did. */
export class EndAs extends Error {
  readonly ending: Ending;
  /** What is to be said all the same; empty: nothing. */
  readonly words: string;
  /** @param waitStatus as waitpid(2) gives it for a process that ended. */
  constructor(waitStatus: number, words = '') {
    super(`ends as wait status ${waitStatus}`);
    this.words = words;
    const signal = waitStatus & 0x7f;
    this.ending = signal === 0 ? { kind: 'exit', code: (waitStatus >> 8) & 0xff } : { kind: 'signal', signal };
  }
}

/** `job wait` could not tell how the job ended. 125, as of runner-exec: a job may well end with 1 or 2. */
export class UnlikeJob extends Error {
  override readonly cause: HoldfastError;
  constructor(cause: HoldfastError) {
    super(cause.message, { cause });
    this.cause = cause;
  }
}

/** The ending for what a command threw; for `undefined`, that of a command that succeeded. */
export function endingOf(thrown: unknown): Ending {
  if (thrown === undefined) return { kind: 'exit', code: 0 };
  if (thrown instanceof Interrupted) return { kind: 'signal', signal: thrown.signal };
  if (thrown instanceof EndAs) return thrown.ending;
  if (thrown instanceof UnlikeJob) return { kind: 'exit', code: EXIT_OURS };
  if (thrown instanceof HoldfastError && (thrown.code === 'USAGE' || thrown.code === 'NAME_INVALID')) return { kind: 'exit', code: 2 };
  return { kind: 'exit', code: 1 };
}

/** What goes to stderr for it, whole lines, in which no name acts on the terminal; empty when nothing is to be said. */
export function describeFailure(thrown: unknown): string {
  if (thrown === undefined || thrown instanceof SilentFailure || thrown instanceof Interrupted) return '';
  if (thrown instanceof EndAs) return thrown.words === '' ? '' : `holdfast: ${thrown.words}\n`;
  if (thrown instanceof UnlikeJob) return describeFailure(thrown.cause);
  if (thrown instanceof HoldfastError) {
    const hint = thrown.hint === undefined ? '' : `hint: ${visibleText(thrown.hint)}\n`;
    return `holdfast: ${visibleText(thrown.message)}\n${outputOf(thrown)}${hint}`;
  }
  const detail = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  return `holdfast: a fault of its own: ${detail}\nhint: please report this with the command that you typed\n`;
}

/** The end of what a launcher or a compiler wrote, indented. A single line of it is in the message already. */
function outputOf(error: HoldfastError): string {
  // By its member, not its class: that would load the sessions' code before the agent is picked out.
  if (!('output' in error) || !Array.isArray(error.output) || error.output.length < 2) return '';
  return error.output.map((line) => `  ${String(line)}\n`).join('');
}
