// A trace as text: a line for each command, with a bar that shows when it waited (.) and ran (=). Pure.

import { errnoName } from '../client/errno.js';
import { signalName } from '../client/signal-name.js';
import type { TraceRecord } from '../protocol/trace-record.js';
import { formatTable, shellWord } from './table.js';
import type { Trace } from './trace-control.js';

const BAR_WIDTH = 30;
const COMMAND_WIDTH = 60;

/** @param most the last so many commands are shown. */
export function formatTimeline(trace: Trace, most: number): string {
  const shown = trace.records.slice(-most);
  const earlier = trace.records.length - shown.length + trace.lost;
  const note = earlier === 0 ? '' : `(${earlier} earlier, of which ${trace.lost} are not kept any more)\n`;
  const [first] = shown;
  if (first === undefined) return trace.on ? 'no command was run yet\n' : 'no command was run while it was traced\n';
  const from = first.acceptedUs;
  const span = Math.max(1, ...shown.map((record) => endOf(record) - from));
  const rows = shown.map((record) => [
    `+${seconds(record.acceptedUs - from)}`,
    milliseconds(record.queuedUs),
    milliseconds(record.spawnUs),
    milliseconds(record.runUs),
    milliseconds(record.userUs + record.systemUs),
    `${record.isPeakBound ? '<' : ''}${(record.peakBytes / 1024 / 1024).toFixed(1)}M`,
    bar(record, from, span),
    endingText(record),
    wordsOf(record),
  ]);
  return note + formatTable(['AT', 'QUEUE', 'SPAWN', 'RUN', 'CPU', 'PEAK', 'TIME'.padEnd(BAR_WIDTH), 'ENDED', 'COMMAND'], rows);
}

/** `exit 0`, `SIGTERM`, `deadline`, `ENOENT`, `BUSY`, or what it does now. */
export function endingText({ ending, runUs }: TraceRecord): string {
  switch (ending?.kind) {
    case undefined:
      return runUs > 0 ? 'running' : 'waiting';
    case 'exited':
      return `exit ${ending.code}`;
    case 'signaled':
      return signalName(ending.signal);
    case 'cancelled':
      return ending.by;
    case 'notStarted':
      return errnoName(ending.errno);
    case 'refused':
      return ending.code;
  }
}

function endOf({ acceptedUs, queuedUs, spawnUs, runUs }: TraceRecord): number {
  return acceptedUs + queuedUs + spawnUs + runUs;
}

/** The shortest command still has one mark. */
function bar(record: TraceRecord, from: number, span: number): string {
  const column = (us: number): number => Math.min(BAR_WIDTH - 1, Math.floor(((us - from) / span) * BAR_WIDTH));
  const [start, run, end] = [column(record.acceptedUs), column(record.acceptedUs + record.queuedUs), column(endOf(record))];
  const mark = record.runUs > 0 ? '=' : '.';
  return `${' '.repeat(start)}${'.'.repeat(run - start)}${mark.repeat(end - run + 1)}`.padEnd(BAR_WIDTH);
}

function wordsOf({ command }: TraceRecord): string {
  const text = command.split('\0').map(shellWord).join(' ');
  return text.length <= COMMAND_WIDTH ? text : `${text.slice(0, COMMAND_WIDTH - 1)}…`;
}

function seconds(us: number): string {
  return `${(us / 1_000_000).toFixed(3)}s`;
}

function milliseconds(us: number): string {
  return us < 10_000 ? `${(us / 1000).toFixed(1)}ms` : us < 10_000_000 ? `${Math.round(us / 1000)}ms` : `${Math.round(us / 1_000_000)}s`;
}
