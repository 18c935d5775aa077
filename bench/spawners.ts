// What does one command cost a Node program, and for how long does its event loop do nothing else, by the library and by the spawners
// that there are, while the program is small and while it is large? Rivals: child_process, execa, tinyexec, nano-spawn, all in one process.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { execa } from 'execa';
import { x } from 'tinyexec';
import type * as Holdfast from '../src/index.js';
import { spreadOf } from './numbers.js';
import { type Place, SESSION } from './place.js';
import { quiet } from './quiet.js';
import { type Result, type Row, rowsOf } from './result.js';

const DIRECT = 'child_process.spawn';
const HELD = 'run()';
/** Not among programs that fork this one, which leaves all of its pages to be copied at the next write. */
const ALONE = 'run() alone';
const BATCH = 50;
const LARGE_BYTES = 1e9;
const PAGE_BYTES = 4096;
const BLOCK_BYTES = 64 * 1024 * 1024;

type Spawner = () => Promise<void>;
interface Taken {
  readonly latency: number[];
  /** Time in which the event loop did not wait. */
  readonly blocked: number[];
}

export async function spawners(place: Place, rounds: number): Promise<Result> {
  const { ways, notes } = await findSpawners(place);
  const small = await measured(ways, rounds);
  const ballast = fill(LARGE_BYTES);
  const large = await measured(ways, Math.ceil(rounds / 2));
  if (ballast.length === 0) throw new Error('nothing was filled');
  const rows = [...rowsFor('', small), ...rowsFor(' at 1 GB', large)];
  const seen = (name: string, against: string): number => medianOf(rows, name) / medianOf(rows, against);
  return {
    name: 'spawners',
    question: 'What does /bin/true cost a Node program, and how long is its event loop blocked, by the library and by other spawners?',
    unit: 'ms',
    rows,
    bars: [
      { what: 'run() against child_process.spawn, median', limit: 0.8, side: 'below', seen: seen(HELD, DIRECT) },
      { what: 'the same in a program of 1 GB', limit: 0.8, side: 'below', seen: seen(`${HELD} at 1 GB`, `${DIRECT} at 1 GB`) },
      {
        what: 'loop blocked by run(), against child_process.spawn',
        limit: 0.8,
        side: 'below',
        seen: seen(`${HELD}, blocked`, `${DIRECT}, blocked`),
      },
      {
        what: 'loop blocked by run() at 1 GB against a small program',
        limit: 1.5,
        side: 'below',
        seen: seen(`${ALONE}, blocked at 1 GB`, `${ALONE}, blocked`),
      },
    ],
    notes,
  };
}

async function findSpawners({ library, scratch, env }: Place): Promise<{ ways: Map<string, Spawner>; notes: string[] }> {
  // As shipped: the bundle. Its types are the sources'.
  const { addressOf, run }: typeof Holdfast = await import(library);
  const address = addressOf(SESSION, join(scratch, 'run'));
  const program = '/bin/true';
  const ways = new Map<string, Spawner>([
    [
      DIRECT,
      () =>
        new Promise((resolve, reject) => {
          spawn(program, { env, stdio: 'ignore' })
            .once('error', reject)
            .once('exit', () => resolve());
        }),
    ],
    [
      HELD,
      async () => {
        const outcome = await run({ program, stdio: 'ignore' }, address);
        if (outcome.kind !== 'exited' || outcome.code !== 0) throw new Error(`ended as ${JSON.stringify(outcome)}`);
      },
    ],
    ['execa', async () => void (await execa(program, { env, extendEnv: false, stdio: 'ignore' }))],
    ['tinyexec', async () => void (await x(program, [], { nodeOptions: { env, stdio: 'ignore' } }))],
  ]);
  const nano = await findNanoSpawn();
  if (nano !== undefined) ways.set('nano-spawn', async () => void (await nano(program, [], { env, stdio: 'ignore' })));
  return { ways, notes: nano === undefined ? ['nano-spawn took no part: it is not installed'] : [] };
}

type NanoSpawn = (program: string, args: string[], options: object) => Promise<unknown>;

async function findNanoSpawn(): Promise<NanoSpawn | undefined> {
  // Not a dependency: its name is hidden from the type checker.
  const name = 'nano-spawn';
  try {
    return (await import(name)).default;
  } catch {
    return undefined;
  }
}

async function measured(ways: ReadonlyMap<string, Spawner>, rounds: number): Promise<Map<string, Taken>> {
  const held = ways.get(HELD) ?? (() => Promise.resolve());
  return new Map([...(await takeTurns(ways, rounds)), ...(await takeTurns(new Map([[ALONE, held]]), rounds))]);
}

/** Which comes first changes by turns, so that what one leaves behind falls on all. */
async function takeTurns(ways: ReadonlyMap<string, Spawner>, rounds: number): Promise<Map<string, Taken>> {
  const taken = new Map([...ways.keys()].map((name): [string, Taken] => [name, { latency: [], blocked: [] }]));
  const order = [...ways];
  for (let round = -Math.ceil(rounds / 10); round < rounds; round++) {
    if (round % BATCH === 0) await quiet();
    order.push(...order.splice(0, 1));
    for (const [name, way] of order) {
      await new Promise(setImmediate);
      const before = performance.eventLoopUtilization();
      const startedAt = performance.now();
      await way();
      const ms = performance.now() - startedAt;
      const { active } = performance.eventLoopUtilization(before);
      if (round < 0) continue;
      taken.get(name)?.latency.push(ms);
      taken.get(name)?.blocked.push(active);
    }
  }
  return taken;
}

function rowsFor(when: string, taken: ReadonlyMap<string, Taken>): Row[] {
  const latency = [...taken].map(([name, { latency: values }]) => [`${name}${when}`, spreadOf(values)] as const);
  const blocked = [...taken].map(([name, { blocked: values }]) => [`${name}, blocked${when}`, spreadOf(values)] as const);
  // Each kind is compared with its own first.
  return [...rowsOf(latency), ...rowsOf(blocked)];
}

/** Memory that is really there: every page has been written to. */
function fill(bytes: number): Buffer[] {
  return Array.from({ length: Math.ceil(bytes / BLOCK_BYTES) }, () => {
    const block = Buffer.alloc(BLOCK_BYTES);
    for (let at = 0; at < block.length; at += PAGE_BYTES) block[at] = 1;
    return block;
  });
}

function medianOf(rows: readonly Row[], name: string): number {
  const row = rows.find((each) => each.name === name);
  if (row === undefined) throw new Error(`no row '${name}'`);
  return row.spread.median;
}
