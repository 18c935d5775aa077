// Does anything stand between a command and the pipe that it writes to? Rival: the same command run directly.

import { readFileSync } from 'node:fs';
import { spreadOf } from './numbers.js';
import type { Place } from './place.js';
import { type Result, ratioOf, rowsOf } from './result.js';

const BYTES = 1_000_000_000;
const DIRECT = 'direct';
const HELD = 'runner-exec';
/** USER_HZ: the unit of CPU times in /proc, the same on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;

export async function pipe(place: Place, rounds: number): Promise<Result> {
  const command = ['head', '-c', String(BYTES), '/dev/zero'];
  const agent = await place.agentPid();
  const agentCpuBefore = cpuMsOf(agent);
  const [direct = [], held = []] = await place.timer().run([command, place.held(...command)], rounds, { drain: true });
  // With the runs that warm up, so this is an upper bound.
  const agentCpuMs = (cpuMsOf(agent) - agentCpuBefore) / rounds;
  if ([...direct, ...held].some(({ bytes }) => bytes !== BYTES)) throw new Error('bytes were lost');

  const rates = (timings: typeof direct): number[] => timings.map(({ ms }) => BYTES / 1e6 / (ms / 1000));
  const rows = rowsOf([
    [DIRECT, spreadOf(rates(direct))],
    [HELD, spreadOf(rates(held))],
  ]);
  const clientCpuMs = spreadOf(held.map(({ cpuMs }) => cpuMs)).median;
  return {
    name: 'pipe',
    question: 'How fast does 1 GB go through a pipe, against the same command run directly, and who else works for it?',
    unit: 'MB/s',
    rows,
    bars: [
      { what: 'rate of 1 GB through a pipe against direct, median', limit: 0.98, side: 'above', seen: ratioOf(rows, HELD) },
      // What starting and ending any command costs; nothing of it grows with the bytes.
      { what: 'CPU time of client and agent for 1 GB, ms', limit: 15, side: 'below', seen: clientCpuMs + agentCpuMs },
    ],
    notes: [
      `CPU time a run: client ${clientCpuMs.toFixed(1)} ms, agent ${agentCpuMs.toFixed(1)} ms (most of it for the start and the end)`,
    ],
  };
}

function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // utime and stime: its own, without what it waited for.
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND;
}
