// Detached requests: what is known of each while it waits or runs, and for an hour after its end. DESIGN section 6 `--detach`.
// Ids are never used twice, not by a later agent of the same session either.

import { randomInt } from 'node:crypto';
import { type CancelledBy, RefusalCode } from '../protocol/numbers.js';
import { decodeWaitStatus, type Ending } from '../protocol/outcome.js';
import type { RunRequest } from '../protocol/run.js';
import { splitStrings } from '../protocol/strings.js';
import { jobFile } from '../session/job-files.js';
import { JobOutput, OutputBudget, type OutputFacts } from './job-output.js';
import { Refused } from './refused.js';
import type { Request } from './request.js';

const KEEP_ENDED_MS = 3_600_000;
/** A program that starts thousands an hour loses the oldest records early. */
const MOST_ENDED = 5_000;
/** Of a command, as it is shown. */
const MOST_COMMAND_CHARACTERS = 1_000;

export type JobOutcome = Ending | { kind: 'cancelled'; by: 'kill' | 'deadline' | 'shutdown'; ending: Ending };

/** Times are milliseconds of the epoch. */
export interface JobFacts {
  id: string;
  state: 'queued' | 'running' | 'ended';
  /** 0 while it is queued. */
  pid: number;
  command: string[];
  /** Empty when it was passed as a descriptor without a name. */
  cwd: string;
  acceptedAt: number;
  startedAt?: number;
  endedAt?: number;
  /** As waitpid(2) gives it. */
  waitStatus?: number;
  outcome?: JobOutcome;
  /** What it left running when it ended. */
  leftovers?: number[];
  output: OutputFacts;
}

interface Job {
  facts: Omit<JobFacts, 'output' | 'leftovers'>;
  output: JobOutput;
  /** Absent once it has ended and left nothing running: with it go the variables that it was given. */
  request: Request | undefined;
  /** Called at the end. */
  waiters: (() => void)[];
  /** Called when there is more output, and at the end. */
  readers: (() => void)[];
}

export class Jobs {
  readonly #stem: string;
  readonly #outputLimitBytes: number;
  readonly #budget = new OutputBudget();
  /** Time alone would come again when a clock is set back. */
  readonly #prefix = Date.now().toString(36) + randomInt(36 ** 2, 36 ** 3).toString(36);
  readonly #jobs = new Map<string, Job>();
  readonly #ended: string[] = [];
  #count = 0;

  /** @param stem what the output files' names begin with. */
  constructor(stem: string, outputLimitBytes: number) {
    this.#stem = stem;
    this.#outputLimitBytes = outputLimitBytes;
  }

  /** The next job's id and the place of its output. @throws Refused when it cannot be had. */
  prepare(): { id: string; output: JobOutput } {
    const id = `${this.#prefix}-${++this.#count}`;
    const wakeReaders = (): void => this.#wake(this.#jobs.get(id)?.readers);
    try {
      return { id, output: new JobOutput(jobFile(this.#stem, id), this.#outputLimitBytes, this.#budget, wakeReaders) };
    } catch (error) {
      const why = error instanceof Error && 'code' in error ? String(error.code) : String(error);
      throw new Refused(
        RefusalCode.RESOURCES,
        `there is no place for the output of a job: ${why}`,
        'end some of what runs, or make room in the runtime directory',
      );
    }
  }

  add(id: string, run: RunRequest, output: JobOutput, request: Request): void {
    const facts = { id, state: 'queued', pid: 0, command: shownCommand(run), cwd: run.cwd.toString(), acceptedAt: Date.now() } as const;
    this.#jobs.set(id, { facts, output, request, waiters: [], readers: [] });
  }

  started(id: string, pid: number): void {
    const job = this.#jobs.get(id);
    if (job !== undefined) job.facts = { ...job.facts, state: 'running', pid, startedAt: Date.now() };
  }

  /** Its target has ended, or will never start; or what it left running has been ended, then for the second time. */
  ended(id: string, request: Request): void {
    const job = this.#jobs.get(id);
    if (job === undefined) return;
    if (job.facts.state !== 'ended') this.#settle(job, request);
    if (!request.hasLeft) job.request = undefined;
    this.#wake(job.waiters);
    this.#wake(job.readers);
  }

  #settle(job: Job, { waitStatus, cancelledBy }: Request): void {
    const { id } = job.facts;
    if (waitStatus === undefined) {
      this.#forget(id); // its client was told
      return;
    }
    job.output.settle();
    job.facts = { ...job.facts, state: 'ended', endedAt: Date.now(), waitStatus, outcome: outcomeOf(waitStatus, cancelledBy) };
    setTimeout(() => this.#forget(id), KEEP_ENDED_MS).unref();
    if (this.#ended.push(id) > MOST_ENDED) this.#forget(this.#ended.shift() ?? '');
  }

  /** In the order in which they came. */
  list(): JobFacts[] {
    return [...this.#jobs.values()].map(factsOf);
  }

  /** Answers when it has ended. @throws Refused when it never started. */
  async wait(id: string): Promise<JobFacts> {
    const job = this.#find(id);
    if (job.facts.state !== 'ended') await new Promise<void>((wake) => job.waiters.push(wake));
    if (job.facts.state !== 'ended') throw new Refused(RefusalCode.BAD_REQUEST, `the job '${id}' was never started`);
    return factsOf(job);
  }

  /** Ends it with all that it started, also what it left running; answers when none of it lives. */
  async kill(id: string): Promise<JobFacts> {
    const job = this.#find(id);
    if (job.request?.end() === true) await new Promise<void>((wake) => job.waiters.push(wake));
    return factsOf(job);
  }

  /** Answers when there is more than the `seen` first bytes, or it has ended; at once when `seen` is absent. */
  async logs(id: string, seen: number | undefined): Promise<{ job: JobFacts; tail: string }> {
    const job = this.#find(id);
    const { output } = job;
    if (seen !== undefined && output.bytes <= seen && job.facts.state !== 'ended')
      await new Promise<void>((wake) => job.readers.push(wake));
    return { job: factsOf(job), tail: output.tail.toString('base64') };
  }

  /** Takes the output files away: jobs die with the session. */
  close(): void {
    for (const id of [...this.#jobs.keys()]) this.#forget(id);
  }

  #wake(waiting: (() => void)[] | undefined): void {
    for (const wake of waiting?.splice(0) ?? []) wake();
  }

  #find(id: string): Job {
    const job = this.#jobs.get(id);
    if (job === undefined)
      throw new Refused(
        RefusalCode.BAD_REQUEST,
        `there is no job '${id}'`,
        "'holdfast jobs --all' lists them; an ended one is remembered for an hour",
      );
    return job;
  }

  #forget(id: string): void {
    const job = this.#jobs.get(id);
    if (job === undefined) return;
    this.#jobs.delete(id);
    const at = this.#ended.indexOf(id);
    if (at !== -1) this.#ended.splice(at, 1);
    job.request?.forget();
    job.output.remove();
  }
}

function factsOf({ facts, output, request }: Job): JobFacts {
  const leftovers = facts.state === 'ended' ? (request?.leftovers() ?? []) : [];
  return { ...facts, ...(leftovers.length === 0 ? {} : { leftovers }), output: output.facts };
}

function outcomeOf(waitStatus: number, cancelledBy: CancelledBy): JobOutcome {
  const ending = decodeWaitStatus(waitStatus);
  if (cancelledBy === 'nobody') return ending;
  return { kind: 'cancelled', by: cancelledBy === 'client' ? 'kill' : cancelledBy, ending };
}

function shownCommand(run: RunRequest): string[] {
  const shown: string[] = [];
  let left = MOST_COMMAND_CHARACTERS;
  for (const word of splitStrings(run.argv)) {
    const text = word.subarray(0, left).toString();
    shown.push(word.length > left ? `${text}…` : text);
    left -= text.length;
    if (left <= 0) break;
  }
  return shown;
}
