// Does a large heap of the agent make its spawns slower? With fork it would: page tables are copied. Two Node processes, one of which
// holds 1 GB of heap, call the agent's own spawn() in turns. Not an agent: nothing makes that hold so much.

import { type ChildProcess, fork } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Report } from './report.js';

const holder = join(dirname(fileURLToPath(import.meta.url)), 'heap-holder.ts');
const HEAP_MB = 1024;
/** Short, so that both see the same machine. */
const BATCH = 20;
/** DESIGN section 8. */
const LIMIT = 1.1;
/** Too short to judge that by. With fork the ratio would be ten and more. */
const QUICK_LIMIT = 1.5;

export async function heap(report: Report, isQuick: boolean): Promise<void> {
  const spawns = isQuick ? 200 : 2_000;
  const holders = [0, HEAP_MB].map((mb) => fork(holder, [String(mb)], { execArgv: ['--import', 'tsx', '--max-old-space-size=4096'] }));
  const timings: number[][] = [[], []];
  try {
    const ready = await Promise.all(holders.map(answer));
    // The first round warms up.
    for (let round = 0; round <= spawns / BATCH; round++) {
      const order = round % 2 === 0 ? [0, 1] : [1, 0];
      for (const index of order) {
        const child = holders[index];
        if (child === undefined) continue;
        const next = answer(child);
        child.send(BATCH);
        const seen = await next;
        if (round > 0) timings[index]?.push(...seen);
      }
    }
    const [empty = 0, full = 0] = timings.map(lowerQuartile);
    const megabytes = ready.map(([mb = 0]) => mb.toFixed(0));
    report.say(
      `heap: spawn ${(empty * 1000).toFixed(0)} µs with ${megabytes[0]} MB of heap, ${(full * 1000).toFixed(0)} µs with ${megabytes[1]} MB; lower quartiles of ${timings[0]?.length}`,
    );
    report.judge('spawn with 1 GB of heap against an empty one', full / empty, isQuick ? QUICK_LIMIT : LIMIT);
  } finally {
    for (const each of holders) each.kill();
  }
}

async function answer(child: ChildProcess): Promise<number[]> {
  return await new Promise((resolve, reject) => {
    const over = (): void => reject(new Error('the holder of the heap has ended'));
    child.once('exit', over);
    child.once('message', (numbers) => {
      child.off('exit', over);
      resolve(Array.isArray(numbers) ? numbers.map(Number) : []);
    });
  });
}

/** Not the median: other programs of the machine make a call longer, never shorter. */
function lowerQuartile(numbers: number[]): number {
  return numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 4)] ?? Number.NaN;
}
