// Background jobs, asked of the session's agent.

import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

import * as v from 'valibot';

import { HoldfastError } from '../errors.js';
import { control } from '../session/control.js';
import { EndAs } from './ending.js';

const ANSWER_TIMEOUT_MS = 10_000;
/** A job may run for days: the longest delay that a timer takes (24.8 days). */
const WAIT_TIMEOUT_MS = 0x7fffffff;

export interface Job {
  readonly id: string;
  readonly state: 'running' | 'ended';
  readonly pid: number;
  readonly command: readonly string[];
  /** Milliseconds of the epoch. */
  readonly startedAt: number;
  readonly endedAt?: number;
  /** As waitpid(2) gives it; absent while it runs. */
  readonly waitStatus?: number;
  /** Path of the file that it writes to. */
  readonly output: string;
}

const JOB: v.GenericSchema<unknown, Job> = v.object({
  id: v.string(),
  state: v.picklist(['running', 'ended']),
  pid: v.number(),
  command: v.array(v.string()),
  startedAt: v.number(),
  endedAt: v.exactOptional(v.number()),
  waitStatus: v.exactOptional(v.number()),
  output: v.string(),
});

export async function listJobs(name: string): Promise<Job[]> {
  const answer = await control(name, { op: 'jobs', protocol: 1 }, { timeoutMs: ANSWER_TIMEOUT_MS });
  return parseAnswer(v.object({ jobs: v.array(JOB) }), answer).jobs;
}

/** @throws {EndAs} always, once the job has ended. */
export async function waitForJob(name: string, id: string): Promise<never> {
  const { waitStatus = 0 } = await askJob(name, id, 'wait', WAIT_TIMEOUT_MS);
  throw new EndAs(waitStatus);
}

export async function killJob(name: string, id: string): Promise<void> {
  await askJob(name, id, 'kill', ANSWER_TIMEOUT_MS);
}

export async function printJobLog(name: string, id: string): Promise<void> {
  const { output } = await askJob(name, id, 'logs', ANSWER_TIMEOUT_MS);
  await pipeline(createReadStream(output), process.stdout, { end: false });
}

async function askJob(name: string, id: string, action: 'wait' | 'kill' | 'logs', timeoutMs: number): Promise<Job> {
  const answer = await control(name, { op: 'job', protocol: 1, action, id }, { timeoutMs });
  return parseAnswer(v.object({ job: JOB }), answer).job;
}

function parseAnswer<T>(schema: v.GenericSchema<unknown, T>, answer: unknown): T {
  const result = v.safeParse(schema, answer);
  if (result.success) return result.output;
  throw new HoldfastError('PROTOCOL', `the agent's answer about jobs is not understood: ${result.issues[0].message}`, {
    hint: 'open the session again with the version that is installed now',
  });
}
