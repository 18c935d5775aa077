// Detached requests: what is known of each while it runs, and for an hour after its end. DESIGN section 6 `--detach`.
// Output goes straight to a file of the target's own, so it costs the agent nothing; ids are never used twice.

import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { splitStrings } from '../protocol/strings.js';
import type { RunRequest } from '../protocol/run.js';
import { Refused } from './connection.js';
import { RefusalCode } from '../protocol/numbers.js';
import type { Request } from './request.js';

const KEEP_ENDED_MS = 3_600_000;

export interface JobFacts {
  id: string;
  state: 'running' | 'ended';
  pid: number;
  command: string[];
  startedAt: number;
  endedAt?: number;
  waitStatus?: number;
  output: string;
}

interface Job {
  facts: JobFacts;
  request: Request | undefined;
  waiters: (() => void)[];
}

export class Jobs {
  readonly #stem: string;
  readonly #prefix = Date.now().toString(36);
  readonly #jobs = new Map<string, Job>();
  #count = 0;

  /** @param stem what the output files' names begin with. */
  constructor(stem: string) {
    this.#stem = stem;
  }

  /** The id of the next job and its descriptors: nothing to read, and one file for both kinds of output. The caller owns them. */
  prepare(): { id: string; fds: number[]; output: string } {
    const id = `${this.#prefix}-${++this.#count}`;
    const output = `${this.#stem}.job-${id}`;
    const input = openSync('/dev/null', 'r');
    try {
      const file = openSync(output, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND, 0o600);
      return { id, output, fds: [input, file] };
    } catch (error) {
      closeSync(input);
      throw error;
    }
  }

  add(id: string, run: RunRequest, output: string, request: Request): void {
    const command = splitStrings(run.argv).map((word) => word.toString());
    this.#jobs.set(id, { request, waiters: [], facts: { id, state: 'running', pid: 0, command, startedAt: Date.now(), output } });
  }

  started(id: string, pid: number): void {
    const job = this.#jobs.get(id);
    if (job !== undefined) job.facts.pid = pid;
  }

  ended(id: string, waitStatus: number | undefined): void {
    const job = this.#jobs.get(id);
    if (job === undefined) return;
    job.request = undefined;
    job.facts = { ...job.facts, state: 'ended', endedAt: Date.now(), ...(waitStatus === undefined ? {} : { waitStatus }) };
    for (const wake of job.waiters.splice(0)) wake();
    if (waitStatus === undefined) {
      this.#forget(id); // it never started, and its client was told so
      return;
    }
    setTimeout(() => this.#forget(id), KEEP_ENDED_MS).unref();
  }

  list(): JobFacts[] {
    return [...this.#jobs.values()].map((job) => job.facts);
  }

  facts(id: string): JobFacts {
    return this.#find(id).facts;
  }

  async wait(id: string): Promise<JobFacts> {
    const job = this.#find(id);
    if (job.facts.state === 'running') await new Promise<void>((wake) => job.waiters.push(wake));
    return job.facts;
  }

  kill(id: string): JobFacts {
    const job = this.#find(id);
    job.request?.cancel('client');
    return job.facts;
  }

  /** Takes the output files away: jobs die with the session. */
  close(): void {
    for (const id of [...this.#jobs.keys()]) this.#forget(id);
  }

  #find(id: string): Job {
    const job = this.#jobs.get(id);
    if (job === undefined) throw new Refused(RefusalCode.BAD_REQUEST, `there is no job '${id}'`, "'holdfast jobs' lists them");
    return job;
  }

  #forget(id: string): void {
    const job = this.#jobs.get(id);
    if (job === undefined || !this.#jobs.delete(id)) return;
    try {
      unlinkSync(job.facts.output);
    } catch {
      // Somebody tidied up already.
    }
  }
}
