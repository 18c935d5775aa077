// A command run through a session cannot be told from one run directly, but for what docs/differences.md says: the suite of
// `npm run conformance` in its short form, one containment and the scenes that take no time.

import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { unexplained } from '../conformance/report.js';
import { Suite } from '../conformance/suite.js';
import { eventually } from '../harness/eventually.js';
import { markedProcesses } from '../harness/processes.js';

const SHORT = [
  'plain',
  'argv-*',
  'env-*',
  'directory-*',
  'umask',
  'signals-*',
  'caller-*',
  'stdin-*',
  '*-closed',
  'program-*',
  'exit-*',
  'dies-of-*',
  'dumps-*',
];
const TERMINALS = ['terminal-*', 'typed-*', 'hung-up*', 'resized', 'types-ahead'];

let scratch: string;
let suite: Suite;

beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), 'hfc-')));
  suite = new Suite(scratch);
});

afterEach(async () => {
  // Whatever a scene starts carries the folder's name somewhere.
  await eventually(() => expect(markedProcesses(scratch).map(({ command }) => command)).toEqual([]));
  rmSync(scratch, { recursive: true, force: true });
});

async function faults(columns: readonly string[], scenes: readonly string[]): Promise<readonly string[]> {
  const wanted = suite.columns.filter(({ name }) => columns.includes(name));
  const { findings, observations, absent } = await suite.run(wanted, scenes, { isWhole: false });
  expect(absent).toEqual([]);
  expect(observations.length).toBeGreaterThan(2 * scenes.length);
  return unexplained(findings);
}

describe('a command in a session', () => {
  it('is born with what it would be born with directly', async () => {
    expect(await faults(['warden'], SHORT)).toEqual([]);
  });

  it('sees the terminal that it would see directly', async () => {
    expect(await faults(['warden', '-t'], TERMINALS)).toEqual([]);
  });

  it('has what the launcher made, limits and all', async () => {
    expect(await faults(['bash'], ['*'])).toEqual([]);
  });

  it('is told from one that differs', async () => {
    const [direct] = suite.columns;
    if (direct === undefined) throw new Error('there is no direct column');
    const column = { ...direct, name: 'other', before: ['env', 'EMPTY=full', 'nice', '-n', '3'] };
    const { findings } = await suite.run([column], ['plain'], { isWhole: false });
    expect(unexplained(findings)).toEqual([
      'other: plain: env.EMPTY: "" directly, "full" here',
      'other: plain: schedule.nice: 0 directly, 3 here',
    ]);
  });
});
