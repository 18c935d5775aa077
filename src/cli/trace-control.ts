// The trace of a session, asked of its agent. src/agent/trace.ts keeps it.

import * as v from 'valibot';

import { HoldfastError } from '../errors.js';
import type { Ending } from '../protocol/outcome.js';
import type { TraceRecord } from '../protocol/trace-record.js';
import { control } from '../session/control.js';

const TIMEOUT_MS = 10_000;

export interface Trace {
  readonly on: boolean;
  /** Milliseconds of the epoch; `null`: never. */
  readonly since: number | null;
  readonly capacity: number;
  readonly lost: number;
  /** Microseconds of the epoch. */
  readonly now: number;
  readonly records: readonly TraceRecord[];
}

const ENDING: v.GenericSchema<unknown, Ending> = v.variant('kind', [
  v.object({ kind: v.literal('exited'), code: v.number() }),
  v.object({ kind: v.literal('signaled'), signal: v.number(), core: v.boolean() }),
]);

const RECORD: v.GenericSchema<unknown, TraceRecord> = v.object({
  acceptedUs: v.number(),
  queuedUs: v.number(),
  spawnUs: v.number(),
  runUs: v.number(),
  userUs: v.number(),
  systemUs: v.number(),
  peakBytes: v.number(),
  isPeakBound: v.boolean(),
  pid: v.number(),
  command: v.string(),
  job: v.string(),
  ending: v.exactOptional(
    v.union([
      ENDING,
      v.object({ kind: v.literal('cancelled'), by: v.string(), ending: ENDING }),
      v.object({ kind: v.literal('notStarted'), step: v.string(), errno: v.number() }),
      v.object({ kind: v.literal('refused'), code: v.string() }),
    ]),
  ),
});

const TRACE: v.GenericSchema<unknown, Trace> = v.object({
  on: v.boolean(),
  since: v.nullable(v.number()),
  capacity: v.number(),
  lost: v.number(),
  now: v.number(),
  records: v.array(RECORD),
});

/** Oldest first, by the time of acceptance. @throws {HoldfastError} `UNSUPPORTED` when none was ever started, and as `control`. */
export async function readTrace(name: string): Promise<Trace> {
  const answer = v.safeParse(TRACE, await control(name, { op: 'trace', protocol: 1, action: 'read' }, { timeoutMs: TIMEOUT_MS }));
  if (!answer.success) {
    throw new HoldfastError('PROTOCOL', `the trace of session '${name}' is not understood`, {
      hint: 'close the session and open it again with this version of Holdfast',
    });
  }
  if (answer.output.since === null) {
    throw new HoldfastError('UNSUPPORTED', `session '${name}' is not traced`, { hint: "'holdfast trace --on' starts it" });
  }
  return { ...answer.output, records: [...answer.output.records].sort((a, b) => a.acceptedUs - b.acceptedUs) };
}

export async function switchTrace(name: string, action: 'start' | 'stop'): Promise<void> {
  await control(name, { op: 'trace', protocol: 1, action }, { timeoutMs: TIMEOUT_MS });
}
