// What do a shim and a running trace add to one short command? Rival: the same command without them.

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { spreadOf } from './numbers.js';
import { type Place, SESSION } from './place.js';
import { type Result, ratioOf, rowsOf } from './result.js';

const run = promisify(execFile);
const PLAIN = 'runner-exec -- true';
const SHIM = 'true, a shim';
const TRACED = 'runner-exec -- true, traced';
const TRACED_SESSION = 'bench-traced';

export async function additions(place: Place, rounds: number): Promise<Result> {
  const shims = join(place.scratch, 'shims');
  await run(place.holdfast, ['shim', 'install', shims, 'true'], { env: place.env });
  await run(place.holdfast, ['open', TRACED_SESSION, '--', 'env'], { env: place.env });
  await run(place.holdfast, ['trace', TRACED_SESSION, '--on'], { env: place.env });
  const programs: [string, string[]][] = [
    [PLAIN, place.held('true')],
    [SHIM, [join(shims, 'true')]],
    [TRACED, [place.runnerExec, '--session', TRACED_SESSION, '--', 'true']],
  ];
  // A shim takes no option: the session is named as it is for any other tool.
  const timings = await place.timer({ HOLDFAST_SESSION: SESSION }).run(
    programs.map(([, argv]) => argv),
    rounds,
  );
  await run(place.holdfast, ['close', TRACED_SESSION], { env: place.env });
  const rows = rowsOf(programs.map(([name], index) => [name, spreadOf((timings[index] ?? []).map(({ ms }) => ms))] as const));
  return {
    name: 'additions',
    question: 'What do a shim and a running trace add to one short command?',
    unit: 'ms',
    rows,
    bars: [
      { what: 'a shim against runner-exec, median', limit: 1.2, side: 'below', seen: ratioOf(rows, SHIM) },
      { what: 'traced against not traced, median', limit: 1.1, side: 'below', seen: ratioOf(rows, TRACED) },
    ],
    notes: [],
  };
}
