// `npm run bench [-- NAME… --quick --write-doc]`: runs the benchmarks, prints tables, writes bench/results/latest.json, and with
// --write-doc also docs/performance.md. Fails when a bar of the design is missed.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { additions } from './additions.js';
import { freshness } from './freshness.js';
import { latency } from './latency.js';
import { library } from './library.js';
import { describeMachine, thisMachine } from './machine.js';
import { opening } from './opening.js';
import { parallel } from './parallel.js';
import { pipe } from './pipe.js';
import { Place } from './place.js';
import { patience, unquiet } from './quiet.js';
import { document, printed } from './report.js';
import { isMet, type Result } from './result.js';
import { rivals } from './rivals.js';
import { spawners } from './spawners.js';
import { wrap } from './wrap.js';

const here = dirname(fileURLToPath(import.meta.url));

const BENCHMARKS: Record<string, (place: Place, isQuick: boolean) => Promise<Result>> = {
  latency: (place, isQuick) => latency(place, isQuick ? 200 : 3000),
  freshness: (place, isQuick) => freshness(place, isQuick ? 200 : 3000),
  parallel: (place, isQuick) => parallel(place, isQuick ? 3 : 11, isQuick ? 500 : 2000),
  library: (place, isQuick) => library(place, isQuick ? 200 : 2000),
  pipe: (place, isQuick) => pipe(place, isQuick ? 3 : 40),
  opening: (place, isQuick) => opening(place, isQuick ? 1 : 9),
  additions: (place, isQuick) => additions(place, isQuick ? 100 : 1500),
  rivals: (place, isQuick) => rivals(place, isQuick ? 10 : 150),
  wrap: (place, isQuick) => wrap(place, isQuick ? 5 : 150),
  // Last: its process is large from then on.
  spawners: (place, isQuick) => spawners(place, isQuick ? 40 : 500),
};

const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, 'write-doc': { type: 'boolean', default: false } },
  allowPositionals: true,
});
const names = positionals.length > 0 ? positionals : Object.keys(BENCHMARKS);
const machine = thisMachine();
const place = new Place();
const results: Result[] = [];
if (values.quick) patience.ms = 0;
try {
  await place.open();
  console.log(describeMachine(machine));
  for (const name of names) {
    const benchmark = BENCHMARKS[name];
    if (benchmark === undefined) throw new Error(`no benchmark '${name}'; there are ${Object.keys(BENCHMARKS).join(', ')}`);
    Object.assign(unquiet, { batches: 0, of: 0 });
    const result = await benchmark(place, values.quick);
    if (unquiet.batches > 0)
      result.notes.push(`${unquiet.batches} of ${unquiet.of} batches ran beside other work: the machine did not get quiet`);
    results.push(result);
    console.log(printed(result));
  }
} finally {
  await place.close();
}

mkdirSync(join(here, 'results'), { recursive: true });
writeFileSync(join(here, 'results/latest.json'), `${JSON.stringify({ machine, results }, undefined, 2)}\n`);
if (values['write-doc']) writeFileSync(join(here, '../docs/performance.md'), document(machine, results));
// A quick run says that the benchmarks work, and is too short to judge by.
if (!values.quick && results.some(({ bars }) => !bars.every(isMet))) process.exitCode = 1;
