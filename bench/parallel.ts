// Do commands queue behind one another in the agent? Rival: `xargs -P8` on the bare command.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { spreadOf } from './numbers.js';
import type { Place } from './place.js';
import { quiet } from './quiet.js';
import { type Result, ratioOf, rowsOf } from './result.js';

const DIRECT = 'xargs -P8 /bin/true';
const HELD = 'xargs -P8 runner-exec -- /bin/true';

export async function parallel(place: Place, rounds: number, commands: number): Promise<Result> {
  const numbers = Array.from({ length: commands }, (_, index) => index).join('\n');
  // Each command gets its number as an argument, and ignores it.
  const programs: [string, string[]][] = [
    [DIRECT, ['/bin/true']],
    [HELD, place.held('/bin/true')],
  ];
  const perSecond = programs.map((): number[] => []);
  for (let round = 0; round < rounds + 1; round++) {
    await quiet();
    for (const [index, [, argv]] of programs.entries()) {
      const rate = await rateOf(argv, numbers, commands, place.env);
      // The first round warms up.
      if (round > 0) perSecond[index]?.push(rate);
    }
  }
  const rows = rowsOf(programs.map(([name], index) => [name, spreadOf(perSecond[index] ?? [])] as const));
  return {
    name: 'parallel',
    question: 'How many commands a second, eight at a time, against the same without Holdfast?',
    unit: 'commands/s',
    rows,
    bars: [{ what: 'throughput of 8 in parallel against direct, median', limit: 0.8, side: 'above', seen: ratioOf(rows, HELD) }],
    notes: [`${commands} commands a round`],
  };
}

async function rateOf(argv: readonly string[], numbers: string, commands: number, env: Record<string, string>): Promise<number> {
  const child = spawn('xargs', ['-P8', '-n1', ...argv], { env, stdio: ['pipe', 'ignore', 'inherit'] });
  const startedAt = performance.now();
  child.stdin.end(numbers);
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`xargs ended with ${code}`);
  return commands / ((performance.now() - startedAt) / 1000);
}
