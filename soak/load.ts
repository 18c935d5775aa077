// Many runs, many at once, and peers that stall, dawdle or talk nonsense meanwhile: the agent is to be the same afterwards.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { eventually } from '../test/harness/eventually.js';
import { Held, SETTLE_MS } from './held.js';
import { IllPeers } from './ill-peers.js';
import { type Place, residentMb, strike } from './place.js';
import { Random } from './random.js';
import type { Report } from './report.js';

const LANE = 'load';
const PARALLEL = 4;
/** Of the samples: until here compiled code and the heap grow to their usual size. */
const WARM_SHARE = 5;
/** The heap breathes by this much from one collection to the next. */
const BREATH_MB = 12;
/** DESIGN section 8. */
const IDLE_MB = 60;
const BUSY_MB = 70;
/** An agent that does not come to accept: what its backlog holds then waits. */
const PAUSE_MS = 500;

export interface LoadSize {
  runs: number;
  /** Between them the ill peers are let go, and the agent is looked at. */
  samples: number;
  targets: number;
  crowds: number[];
}

export const FULL: LoadSize = { runs: 100_000, samples: 20, targets: 500, crowds: [120, 1000] };
export const QUICK: LoadSize = { runs: 5_000, samples: 10, targets: 100, crowds: [120] };

export async function load(place: Place, report: Report, seed: number, size: LoadSize): Promise<void> {
  const held = await Held.open(place, LANE, 'load');
  report.say(`load: containment ${(await held.status())['containment']}`);
  report.judge('memory at rest, MB', residentMb(held.agent.pid), IDLE_MB);
  await many(place, report, held, seed, size);
  for (const clients of size.crowds) await crowd(place, report, held, clients);
  await atOnce(place, report, held, size.targets);
  await held.close();
}

/** Runs, with ill peers beside them. */
async function many(place: Place, report: Report, held: Held, seed: number, { runs, samples: count }: LoadSize): Promise<void> {
  const warmSample = count / WARM_SHARE - 1;
  const socket = join(place.runtimeDirectory(LANE), 'load.sock');
  const peers = new IllPeers(socket, new Random(seed, 0));
  const samples: { descriptors: number; zombies: number; mb: number }[] = [];
  const startedAt = performance.now();
  for (let sample = 0; sample < count; sample++) {
    peers.start();
    await drive(place, PARALLEL, runs / count, held);
    await peers.stop();
    const rest = await eventually(() => {
      const seen = { descriptors: held.descriptors, zombies: held.zombies, mb: residentMb(held.agent.pid) };
      const before = samples[warmSample];
      if (seen.zombies > 0 || (before !== undefined && seen.descriptors > before.descriptors)) throw new Error(JSON.stringify(seen));
      return seen;
    }, SETTLE_MS);
    samples.push(rest);
    if (sample % 5 === 0 || sample === count - 1)
      report.say(
        `load: after ${(runs / count) * (sample + 1)} runs: ${rest.descriptors} descriptors, ${rest.zombies} zombies, ${rest.mb.toFixed(1)} MB`,
      );
  }
  const perSecond = Math.round(runs / ((performance.now() - startedAt) / 1000));
  report.say(`load: ${runs} runs, ${PARALLEL} at once, ${perSecond}/s, all ended with 0; beside them ${peers.summary}`);
  const warm = samples[warmSample]?.mb ?? 0;
  const last = samples[count - 1]?.mb ?? 0;
  report.judge('memory after all runs, against a fifth of them, MB more', last - warm, BREATH_MB);
  // Of that, what V8 has not collected yet: it lets garbage lie until the heap has doubled.
  report.judge('memory at rest after all runs, MB', last, BUSY_MB);
  if (peers.wrong.length > 0) report.fail(`load: ill peers: ${peers.wrong.slice(0, 3).join('; ')}`);
  const { runs: counted } = await held.status();
  if (Number(counted) < runs) report.fail(`load: the agent counts ${counted} runs of ${runs}`);
}

async function drive(place: Place, parallel: number, runs: number, held: Held): Promise<number> {
  const { code, stdout, stderr } = await place.run(LANE, [place.driver, `${parallel}`, `${runs}`, '--', ...held.argv('--', '/bin/true')]);
  if (code !== 0) throw new Error(`of ${runs} runs, ${parallel} at once: ${code} ${stdout.trim()} ${stderr.trim()}`);
  return Number(/ms (\d+)/.exec(stdout)?.[1]);
}

/** All at one instant, while the agent stands still, so that they have to wait in the backlog. */
async function crowd(place: Place, report: Report, held: Held, clients: number): Promise<void> {
  process.kill(held.agent.pid, 'SIGSTOP');
  const driven = drive(place, clients, clients, held);
  try {
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  } finally {
    strike(held.agent.pid, 'SIGCONT');
  }
  const ms = await driven;
  await held.atRest();
  report.say(`load: ${clients} clients at once before an agent that stands still for ${PAUSE_MS} ms: all served, ${ms} ms`);
}

/** Many targets that run at the same time, ended by the death of all their clients. */
async function atOnce(place: Place, report: Report, held: Held, targets: number): Promise<void> {
  const argv = ['--hold', `${targets}`, '--', ...held.argv('--kill-grace', '1s', '--', '/bin/sleep', '86399')];
  const driver = spawn(place.driver, argv, { env: place.env(LANE), stdio: ['pipe', 'ignore', 'pipe'] });
  let said = '';
  driver.stderr.on('data', (bytes: Buffer) => {
    said += bytes;
  });
  try {
    await eventually(async () => {
      const { running } = await held.status();
      if (running !== targets) throw new Error(`${running} of ${targets} run; ${said}`);
    }, SETTLE_MS);
    const startedAt = performance.now();
    await held.mustServe();
    const serveMs = performance.now() - startedAt;
    const mb = residentMb(held.agent.pid);
    report.say(
      `load: ${targets} targets at once: agent ${mb.toFixed(1)} MB, ${held.descriptors} descriptors, serves in ${serveMs.toFixed(1)} ms`,
    );
    report.judge(`memory with ${targets} targets, MB`, mb, BUSY_MB);
  } finally {
    driver.stdin.end();
    await once(driver, 'exit');
  }
  await held.atRest();
  await held.mustServe();
  report.say(`load: ${targets} clients killed at once: nothing left, agent ${residentMb(held.agent.pid).toFixed(1)} MB`);
}
