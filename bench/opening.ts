// What does an opening cost beyond the environment's own entry, and what once a snapshot is kept? Rival: the launcher by itself.

import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { spreadOf } from './numbers.js';
import type { Place } from './place.js';
import { type Result, rowsOf } from './result.js';

const run = promisify(execFile);
/** As long as a `devenv shell` that has nothing to build. */
const ENTRY_SECONDS = 2;
const NAME = 'bench-opening';

const ALONE = 'the launcher alone';
const SESSION = 'holdfast open';
const COLD = 'holdfast open --mode snapshot, first';
const WARM = 'holdfast open --mode snapshot, again';

export async function opening(place: Place, rounds: number): Promise<Result> {
  const launcher = join(place.scratch, 'slow.sh');
  const cache = join(place.scratch, '.cache');
  writeFileSync(launcher, `sleep ${ENTRY_SECONDS}\nexport HELD=yes\nexec "$@"\n`);
  const open = (...flags: string[]): [string, string[]] => [place.holdfast, ['open', NAME, ...flags, '--', 'bash', launcher]];
  const programs: [name: string, command: [string, string[]], before?: () => void][] = [
    [ALONE, ['bash', [launcher, 'true']]],
    [SESSION, open()],
    [COLD, open('--mode', 'snapshot'), () => rmSync(cache, { recursive: true, force: true })],
    // After COLD in each round, so that there is one to use again.
    [WARM, open('--mode', 'snapshot')],
  ];
  const ms = new Map<string, number[]>(programs.map(([name]) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const [name, [program, args], before] of programs) {
      before?.();
      const startedAt = performance.now();
      await run(program, args, { env: place.env });
      ms.get(name)?.push(performance.now() - startedAt);
      if (name !== ALONE) await run(place.holdfast, ['close', NAME], { env: place.env });
    }
  }
  const rows = rowsOf(programs.map(([name]) => [name, spreadOf(ms.get(name) ?? [])] as const));
  const median = (name: string): number => rows.find((row) => row.name === name)?.spread.median ?? Number.NaN;
  return {
    name: 'opening',
    question: `What does opening cost, when the environment takes ${ENTRY_SECONDS} s to enter?`,
    unit: 'ms',
    rows,
    bars: [
      { what: 'an opening beyond the entry itself, ms', limit: 200, side: 'below', seen: median(SESSION) - median(ALONE) },
      {
        what: 'an opening with a snapshot that is kept, against one that enters',
        limit: 0.25,
        side: 'below',
        seen: median(WARM) / median(COLD),
      },
    ],
    notes: [],
  };
}
