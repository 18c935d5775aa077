// A trace in the Trace Event Format that chrome://tracing and https://ui.perfetto.dev read. Pure.
// Each command is a slice, with its queue, start and run inside it, on the first lane that is free; counters show how many run and wait.

import type { TraceRecord } from '../protocol/trace-record.js';
import type { Trace } from './trace-control.js';
import { endingText } from './trace-timeline.js';

/** Times in microseconds. `X`: a slice · `C`: a counter · `M`: a name for a process or a lane. */
export type TraceEvent =
  | { ph: 'X'; name: string; cat: string; ts: number; dur: number; pid: number; tid: number; args: Readonly<Record<string, unknown>> }
  | { ph: 'C'; name: string; ts: number; pid: number; tid: number; args: Readonly<Record<string, number>> }
  | { ph: 'M'; name: string; pid: number; tid: number; args: Readonly<Record<string, string>> };

export interface TraceFile {
  readonly displayTimeUnit: 'ms';
  readonly otherData: Readonly<Record<string, unknown>>;
  readonly traceEvents: readonly TraceEvent[];
}

/** All slices belong to one process, the session. */
const PROCESS = 1;

export function traceFile(session: string, trace: Trace): TraceFile {
  const lanes = lanesOf(trace.records);
  const names = [...new Set(lanes)].sort((a, b) => a - b);
  return {
    displayTimeUnit: 'ms',
    otherData: { session, lost: trace.lost, capacity: trace.capacity },
    traceEvents: [
      { ph: 'M', name: 'process_name', pid: PROCESS, tid: 0, args: { name: `holdfast ${session}` } },
      ...names.map((tid): TraceEvent => ({ ph: 'M', name: 'thread_name', pid: PROCESS, tid, args: { name: `lane ${tid}` } })),
      ...trace.records.flatMap((record, index) => slicesOf(record, lanes[index] ?? 1)),
      ...countersOf(trace),
    ],
  };
}

const durationOf = ({ queuedUs, spawnUs, runUs }: TraceRecord): number => queuedUs + spawnUs + runUs;

/** A slice may lie inside another one, but never across its edge: what runs side by side needs lanes of its own. */
function lanesOf(records: readonly TraceRecord[]): number[] {
  const freeAt: number[] = [];
  return records.map((record) => {
    const found = freeAt.findIndex((time) => time <= record.acceptedUs);
    const lane = found === -1 ? freeAt.length : found;
    freeAt[lane] = record.acceptedUs + durationOf(record);
    return lane + 1;
  });
}

function slicesOf(record: TraceRecord, tid: number): TraceEvent[] {
  const { acceptedUs, queuedUs, spawnUs, runUs } = record;
  const argv = record.command.split('\0');
  const slice = (name: string, cat: string, ts: number, dur: number, args: Readonly<Record<string, unknown>> = {}): TraceEvent => {
    return { ph: 'X', name, cat, ts, dur, pid: PROCESS, tid, args };
  };
  const facts = {
    argv,
    pid: record.pid,
    ended: endingText(record),
    cpuUserMs: record.userUs / 1000,
    cpuSystemMs: record.systemUs / 1000,
    ...(record.isPeakBound ? { peakBytesAtMost: record.peakBytes } : { peakBytes: record.peakBytes }),
    ...(record.job === '' ? {} : { job: record.job }),
  };
  return [
    slice(argv[0] ?? '', 'command', acceptedUs, durationOf(record), facts),
    slice('queue', 'queue', acceptedUs, queuedUs),
    slice('spawn', 'spawn', acceptedUs + queuedUs, spawnUs),
    slice('run', 'run', acceptedUs + queuedUs + spawnUs, runUs),
  ].filter((event) => event.ph !== 'X' || event.cat === 'command' || event.dur > 0);
}

function countersOf(trace: Trace): TraceEvent[] {
  const steps = trace.records.flatMap(({ acceptedUs, queuedUs, spawnUs, runUs, ending }) => {
    const startUs = acceptedUs + queuedUs;
    const began = runUs > 0 ? 1 : 0;
    const ends = ending === undefined && began === 0 ? [] : [{ ts: startUs, waiting: -1, running: began }];
    const over = ending === undefined || began === 0 ? [] : [{ ts: startUs + spawnUs + runUs, waiting: 0, running: -1 }];
    return [{ ts: acceptedUs, waiting: 1, running: 0 }, ...ends, ...over];
  });
  let [running, waiting] = [0, 0];
  return steps
    .sort((a, b) => a.ts - b.ts)
    .map((step): TraceEvent => {
      running += step.running;
      waiting += step.waiting;
      return { ph: 'C', name: 'commands', ts: step.ts, pid: PROCESS, tid: 0, args: { running, waiting } };
    });
}
