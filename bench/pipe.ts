// Does anything stand between a command and the pipe that it writes to? Rival: the same command run directly.
// The scheduler's choice of cores moves such a rate by several percent, so the direct command is measured twice: how far the two
// are apart is what a difference must exceed to mean something.

import { readdirSync, readFileSync } from 'node:fs';
import { spreadOf } from './numbers.js';
import type { Place } from './place.js';
import { type Result, ratioOf, rowsOf } from './result.js';

const BYTES = 1_000_000_000;
const DIRECT = 'direct';
const AGAIN = 'direct, again';
const HELD = 'runner-exec';

export async function pipe(place: Place, rounds: number): Promise<Result> {
  const command = ['head', '-c', String(BYTES), '/dev/zero'];
  const agent = await place.agentPid();
  const agentCpuBefore = cpuMsOf(agent);
  const [direct = [], again = [], held = []] = await place.timer().run([command, command, place.held(...command)], rounds, { drain: true });
  // With the runs that warm up, so this is an upper bound.
  const agentCpuMs = (cpuMsOf(agent) - agentCpuBefore) / rounds;
  if ([...direct, ...again, ...held].some(({ bytes }) => bytes !== BYTES)) throw new Error('bytes were lost');

  const rates = (timings: typeof direct): number[] => timings.map(({ ms }) => BYTES / 1e6 / (ms / 1000));
  const rows = rowsOf([
    [DIRECT, spreadOf(rates(direct))],
    [AGAIN, spreadOf(rates(again))],
    [HELD, spreadOf(rates(held))],
  ]);
  const both = spreadOf([...rates(direct), ...rates(again)]);
  const clientCpuMs = spreadOf(held.map(({ cpuMs }) => cpuMs)).median;
  const noise = Math.abs(1 - ratioOf(rows, AGAIN));
  return {
    name: 'pipe',
    question: 'How fast does 1 GB go through a pipe, against the same command run directly, and who else works for it?',
    unit: 'MB/s',
    rows,
    bars: [
      {
        what: `rate of 1 GB through a pipe against direct, median (direct differs from itself by ${noise.toFixed(2)})`,
        limit: 0.98 - noise,
        side: 'above',
        seen: spreadOf(rates(held)).median / both.median,
      },
      // What starting and ending any command costs; nothing of it grows with the bytes.
      { what: 'CPU time of client and agent for 1 GB, ms', limit: 5, side: 'below', seen: clientCpuMs + agentCpuMs },
    ],
    notes: [`CPU time a run: client ${clientCpuMs.toFixed(1)} ms, agent ${agentCpuMs.toFixed(1)} ms, all of it for the start and the end`],
  };
}

/** Of all its threads, to the nanosecond: the clock ticks of /proc/PID/stat are far too coarse here. */
function cpuMsOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const spentNs = threads.map((thread) => Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]));
  return spentNs.reduce((sum, each) => sum + each, 0) / 1e6;
}
