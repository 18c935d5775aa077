// What does one short command cost in a held environment? Rival: the bare posix_spawn of the same command.

import { spreadOf } from './numbers.js';
import type { Place } from './place.js';
import { type Result, ratioOf, rowsOf } from './result.js';

const DIRECT = 'direct /bin/true';
const HELD = 'runner-exec -- /bin/true';

export async function latency(place: Place, rounds: number): Promise<Result> {
  const programs: [string, string[]][] = [
    [DIRECT, ['/bin/true']],
    [HELD, place.held('/bin/true')],
    ['sh -c /bin/true', ['sh', '-c', '/bin/true; :']],
  ];
  const timings = await place.timer().run(
    programs.map(([, argv]) => argv),
    rounds,
  );
  const rows = rowsOf(programs.map(([name], index) => [name, spreadOf((timings[index] ?? []).map(({ ms }) => ms))] as const));
  return {
    name: 'latency',
    question: 'What does one short command cost in a held environment, against a direct spawn of it?',
    unit: 'ms',
    rows,
    bars: [{ what: 'runner-exec against direct, median', limit: 1.7, side: 'below', seen: ratioOf(rows, HELD) }],
    notes: [],
  };
}
