// What does it cost each command that its session's inputs are looked at? Rival: the same session with no input at all.

import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { spreadOf } from './numbers.js';
import type { Place } from './place.js';
import { type Result, ratioOf, rowsOf } from './result.js';

const run = promisify(execFile);
const NONE = 'no inputs';
const COUNTS = [10, 100];

export async function freshness(place: Place, rounds: number): Promise<Result> {
  const folder = join(place.scratch, 'inputs');
  mkdirSync(folder, { recursive: true });
  const programs: [string, string[]][] = [[NONE, place.held('/bin/true')]];
  for (const count of COUNTS) {
    const name = `inputs-${count}`;
    const flags = Array.from({ length: count }, (_, i) => {
      const path = join(folder, `${i}`);
      writeFileSync(path, `${i}`);
      return ['--input', path];
    });
    await run(place.holdfast, ['open', name, '--on-stale', 'refuse', ...flags.flat(), '--', 'bash', join(place.scratch, 'enter.sh')], {
      env: place.env,
    });
    programs.push([`${count} inputs`, [place.runnerExec, '--session', name, '--', '/bin/true']]);
  }
  const timings = await place.timer().run(
    programs.map(([, argv]) => argv),
    rounds,
  );
  const rows = rowsOf(programs.map(([name], index) => [name, spreadOf((timings[index] ?? []).map(({ ms }) => ms))] as const));
  return {
    name: 'freshness',
    question: 'What does it cost each command that the inputs of its session are looked at?',
    unit: 'ms',
    rows,
    bars: [{ what: '10 inputs against none, median', limit: 1.05, side: 'below', seen: ratioOf(rows, '10 inputs') }],
    notes: [],
  };
}
