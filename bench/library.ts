// Is a command that a Node program runs through the library cheaper than one it spawns itself? Rival: child_process.spawn and its
// 'exit', in the same process.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type * as Holdfast from '../src/index.js';
import { spreadOf } from './numbers.js';
import { type Place, SESSION } from './place.js';
import { quiet } from './quiet.js';
import { type Result, ratioOf, rowsOf } from './result.js';

const DIRECT = 'child_process.spawn /bin/true';
const HELD = 'run() of /bin/true';
const BATCH = 100;

export async function library(place: Place, rounds: number): Promise<Result> {
  // As shipped: the bundle. Its types are the sources'.
  const { addressOf, run }: typeof Holdfast = await import(place.library);
  const address = addressOf(SESSION, join(place.scratch, 'run'));
  const held = async (): Promise<void> => {
    const outcome = await run({ program: '/bin/true', stdio: 'ignore' }, address).outcome;
    if (outcome.kind !== 'exited' || outcome.code !== 0) throw new Error(`ended as ${JSON.stringify(outcome)}`);
  };
  const direct = async (): Promise<void> => {
    const code = await new Promise((resolve, reject) => {
      spawn('/bin/true', { env: place.env, stdio: 'ignore' }).once('error', reject).once('exit', resolve);
    });
    if (code !== 0) throw new Error(`ended with ${code}`);
  };

  const took = { direct: [] as number[], held: [] as number[] };
  const warmUp = Math.ceil(rounds / 10);
  for (let round = -warmUp; round < rounds; round++) {
    // Which comes first is by turns, so that what one leaves behind falls on both.
    if (round % BATCH === 0) await quiet();
    const order = round % 2 === 0 ? (['direct', 'held'] as const) : (['held', 'direct'] as const);
    for (const which of order) {
      const startedAt = performance.now();
      await (which === 'direct' ? direct() : held());
      if (round >= 0) took[which].push(performance.now() - startedAt);
    }
  }
  const rows = rowsOf([
    [DIRECT, spreadOf(took.direct)],
    [HELD, spreadOf(took.held)],
  ]);
  return {
    name: 'library',
    question: 'What does run() cost a Node program, against child_process.spawn in the same process?',
    unit: 'ms',
    rows,
    bars: [{ what: 'run() against child_process.spawn, median', limit: 0.8, side: 'below', seen: ratioOf(rows, HELD) }],
    notes: [],
  };
}
