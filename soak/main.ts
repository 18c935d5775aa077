// `npm run soak [-- --quick --seed N --minutes M --only faults|load|heap|decoders … --from K --count N]`: docs/soak.md.

import { parseArgs } from 'node:util';
import { describeMachine, thisMachine } from '../bench/machine.js';
import { decoders } from './decoders.js';
import { faults } from './faults.js';
import { heap } from './heap.js';
import { FULL, load, QUICK } from './load.js';
import { Place } from './place.js';
import { Report } from './report.js';
import '../test/harness/setup.js';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    seed: { type: 'string' },
    minutes: { type: 'string' },
    only: { type: 'string', multiple: true },
    from: { type: 'string', default: '0' },
    count: { type: 'string' },
  },
});

function whole(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} takes a whole number, not '${text}'`);
  return Number(text);
}

const seed = values.seed === undefined ? Date.now() % 1_000_000 : whole('seed', values.seed);
const minutes = values.minutes === undefined ? undefined : whole('minutes', values.minutes);
const count = values.count === undefined ? undefined : whole('count', values.count);
const isQuick = values.quick;

const SCENARIOS: Record<string, (place: Place, report: Report) => Promise<void>> = {
  faults: (place, report) =>
    faults(place, report, {
      seed,
      from: whole('from', values.from),
      count: count ?? (isQuick ? 60 : minutes === undefined ? 3_000 : 1_000_000),
      withinMs: (minutes ?? (isQuick ? 0.4 : 60)) * 60_000,
    }),
  load: (place, report) => load(place, report, seed, isQuick ? QUICK : FULL),
  heap: (_, report) => heap(report, isQuick),
  decoders: (_, report) => decoders(report, isQuick ? 5 : (minutes ?? 5) * 60),
};

const names = values.only ?? Object.keys(SCENARIOS);
const report = new Report();
report.say(describeMachine(thisMachine()));
report.say(`soak: seed ${seed}`);
const place = new Place();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    place.remove();
    process.exit(1);
  });
}
try {
  for (const name of names) {
    const scenario = SCENARIOS[name];
    if (scenario === undefined) throw new Error(`no scenario '${name}'; there are ${Object.keys(SCENARIOS).join(', ')}`);
    const startedAt = performance.now();
    try {
      await scenario(place, report);
    } catch (error) {
      report.fail(`${name}: ${error instanceof Error ? error.message : String(error)}`);
      place.endMarked();
    }
    report.say(`-- ${name}: ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  }
} finally {
  place.remove();
}
for (const failure of report.failures) report.say(`FAILED: ${failure}`);
report.say(
  report.failures.length === 0
    ? `soak: seed ${seed}: nothing left, nothing failed`
    : `soak: seed ${seed}: ${report.failures.length} failed`,
);
if (report.failures.length > 0) process.exitCode = 1;
