// `npm run conformance [-- OPTIONS] [-- PREFIX…]`: the matrix of what is the same directly and through a session. Fails on a difference
// that docs/differences.md does not explain, and on one it explains that never occurs. PREFIX is any other way to run a command.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { describeMachine, thisMachine } from '../../bench/machine.js';
import { foreignColumn } from './columns.js';
import { globOf } from './differences.js';
import { Peers } from './peers.js';
import { matrixOf, summaryOf, unexplained } from './report.js';
import { Suite } from './suite.js';

const HELP = `usage: npm run conformance -- [options] [-- PREFIX...]

  --columns NAMES   only these, with commas between (direct, cgroup, warden, ...)
  --scenes PATTERNS only these, with commas between
  --peers           also what else is installed here: s6-sudo, ssh, chroot, nsenter, bwrap, docker, podman
  --scratch DIR     where the probe is and reports to; a container must have it mounted under the same name
  --json FILE       results with every difference (bench/results/conformance.json)
  PREFIX            another way to run a command, as a column: docker exec -i box
`;

const { values, positionals } = parseArgs({
  options: {
    columns: { type: 'string' },
    scenes: { type: 'string', default: '*' },
    peers: { type: 'boolean', default: false },
    scratch: { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}

const json = values.json ?? join(dirname(fileURLToPath(import.meta.url)), '../../bench/results/conformance.json');
const machine = thisMachine();
const suite = new Suite(values.scratch);
const peers = new Peers(suite.scratch);
try {
  const wanted = values.columns?.split(',').map(globOf);
  const own = suite.columns.filter(({ name }) => wanted === undefined || wanted.some((glob) => glob.test(name)));
  if (values.peers) await peers.start();
  const foreign = [...peers.columns, ...(positionals.length > 0 ? [foreignColumn('the prefix', positionals)] : [])];
  const isWhole = values.scenes === '*';
  const onColumn = (name: string): void => console.error(`conformance: ${name} …`);
  const results = await suite.run([...own, ...foreign], values.scenes.split(','), { isWhole, onColumn });

  console.log(describeMachine(machine));
  console.log(matrixOf(results.columns, results.observations, results.findings));
  console.log(summaryOf(results.columns, results.observations, results.findings));
  for (const { column, absent } of [...results.absent, ...peers.absent]) console.log(`not run: ${column}: ${absent}`);
  const judged = new Set(results.columns.filter((column) => column.judged).map(({ name }) => name));
  const faults = unexplained(results.findings.filter(({ column }) => judged.has(column)));
  for (const fault of faults) console.log(`FAIL ${fault}`);
  for (const id of results.stale) console.log(`FAIL docs/differences.md: '${id}' never occurs`);
  console.log(
    `${results.observations.length} scenes played, ${faults.length} unexplained differences, ${results.stale.length} stale entries`,
  );
  mkdirSync(dirname(json), { recursive: true });
  writeFileSync(json, `${JSON.stringify({ machine, ...results }, undefined, 1)}\n`);
  if (faults.length + results.stale.length > 0) process.exitCode = 1;
} finally {
  await peers.end();
  suite.close();
}
