// Background jobs, asked of the session's agent.

import * as v from 'valibot';

import { HoldfastError } from '../errors.js';
import { control } from '../session/control.js';
import { EndAs, UnlikeJob } from './ending.js';

const ANSWER_TIMEOUT_MS = 10_000;
/** A job may run for days: the longest delay that a timer takes (24.8 days). */
const WAIT_TIMEOUT_MS = 0x7fffffff;
/** As runner-exec ends for a command that did not keep its deadline. */
const EXIT_DEADLINE = 124;

export type JobEnding =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signaled'; readonly signal: number; readonly core: boolean };
export type JobOutcome =
  | JobEnding
  | { readonly kind: 'cancelled'; readonly by: 'kill' | 'deadline' | 'shutdown'; readonly ending: JobEnding };

/** As src/agent/jobs.ts tells it. Times are milliseconds of the epoch. */
export interface Job {
  readonly id: string;
  readonly state: 'queued' | 'running' | 'ended';
  /** 0 while it is queued. */
  readonly pid: number;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly acceptedAt: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  /** As waitpid(2) gives it. */
  readonly waitStatus?: number;
  readonly outcome?: JobOutcome;
  /** Processes that it left running. */
  readonly leftovers?: readonly number[];
  /** Of `bytes`, the first are in the file at `path`, the last in the agent's memory, and the rest was left out: `cut` tells why, if not for the limit. */
  readonly output: {
    readonly bytes: number;
    readonly path: string;
    readonly fileBytes: number;
    readonly tailBytes: number;
    readonly cut?: string;
  };
}

const ENDING: v.GenericSchema<unknown, JobEnding> = v.variant('kind', [
  v.object({ kind: v.literal('exited'), code: v.number() }),
  v.object({ kind: v.literal('signaled'), signal: v.number(), core: v.boolean() }),
]);

const JOB: v.GenericSchema<unknown, Job> = v.object({
  id: v.string(),
  state: v.picklist(['queued', 'running', 'ended']),
  pid: v.number(),
  command: v.array(v.string()),
  cwd: v.string(),
  acceptedAt: v.number(),
  startedAt: v.exactOptional(v.number()),
  endedAt: v.exactOptional(v.number()),
  waitStatus: v.exactOptional(v.number()),
  outcome: v.exactOptional(
    v.union([v.object({ kind: v.literal('cancelled'), by: v.picklist(['kill', 'deadline', 'shutdown']), ending: ENDING }), ENDING]),
  ),
  leftovers: v.exactOptional(v.array(v.number())),
  output: v.object({ bytes: v.number(), path: v.string(), fileBytes: v.number(), tailBytes: v.number(), cut: v.exactOptional(v.string()) }),
});

export async function listJobs(name: string): Promise<Job[]> {
  const answer = await control(name, { op: 'jobs', protocol: 1 }, { timeoutMs: ANSWER_TIMEOUT_MS });
  return parseAnswer(v.object({ jobs: v.array(JOB) }), answer).jobs;
}

/** @throws {EndAs | UnlikeJob} always: the first once the job has ended, the second when that cannot be told. */
export async function waitForJob(name: string, id: string): Promise<never> {
  let job: Job;
  try {
    job = await askJob(name, id, 'wait');
  } catch (error) {
    throw error instanceof HoldfastError ? new UnlikeJob(error) : error;
  }
  const { outcome, waitStatus = 0 } = job;
  if (outcome?.kind === 'cancelled' && outcome.by === 'deadline') {
    throw new EndAs(EXIT_DEADLINE << 8, `job '${id}' did not end within its deadline and was ended`);
  }
  if (outcome?.kind === 'cancelled' && outcome.by === 'shutdown') {
    throw new UnlikeJob(new HoldfastError('SESSION_STOPPING', `session '${name}' was closed while job '${id}' ran`));
  }
  throw new EndAs(waitStatus);
}

/** Returns when nothing of the job lives any more. */
export async function killJob(name: string, id: string): Promise<void> {
  await askJob(name, id, 'kill');
}

/** Output of a job, as far as it is known now. `tail` is the last of it, once the file takes no more. */
export interface JobOutput {
  readonly job: Job;
  readonly tail: Buffer;
}

/** @param seen answers only when there is more than so many bytes, or the job has ended. */
export async function readJobOutput(name: string, id: string, seen: number | undefined): Promise<JobOutput> {
  const request = { op: 'job', protocol: 1, action: 'logs', id, ...(seen === undefined ? {} : { seen }) };
  const answer = await control(name, request, { timeoutMs: WAIT_TIMEOUT_MS });
  const { job, tail } = parseAnswer(v.object({ job: JOB, tail: v.string() }), answer);
  return { job, tail: Buffer.from(tail, 'base64') };
}

async function askJob(name: string, id: string, action: 'wait' | 'kill'): Promise<Job> {
  const answer = await control(name, { op: 'job', protocol: 1, action, id }, { timeoutMs: WAIT_TIMEOUT_MS });
  return parseAnswer(v.object({ job: JOB }), answer).job;
}

function parseAnswer<T>(schema: v.GenericSchema<unknown, T>, answer: unknown): T {
  const result = v.safeParse(schema, answer);
  if (result.success) return result.output;
  throw new HoldfastError('PROTOCOL', `the agent's answer about jobs is not understood: ${result.issues[0].message}`, {
    hint: 'open the session again with the version that is installed now',
  });
}
