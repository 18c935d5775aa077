// Thousands of blows at random instants to everybody who has a part in a run, and after each the proof that nothing is left and that
// the session serves. One lane for each containment; the lanes run side by side. An episode's number and the seed say all of it.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../test/harness/eventually.js';
import { allProcesses, descriptorsOf } from '../test/harness/processes.js';
import { Episode } from './episode.js';
import { Held, SETTLE_MS } from './held.js';
import type { Place } from './place.js';
import { endsSession, MODES, type Mode, type Plan, planOf } from './plan.js';
import type { Report } from './report.js';

export interface FaultsSize {
  readonly seed: number;
  readonly from: number;
  readonly count: number;
  readonly withinMs: number;
}

/** A session is closed after so many episodes at the latest: an orderly end is one of the ends. */
const EPISODES_A_SESSION = 40;
/** Whoever fails all the time says nothing new. */
const FAILURES_A_LANE = 20;

interface Tally {
  episodes: number;
  sessions: number;
  blows: Map<string, number>;
  endings: Map<string, number>;
  legal: number;
}

export async function faults(place: Place, report: Report, size: FaultsSize): Promise<void> {
  const deadline = performance.now() + size.withinMs;
  const tally: Tally = { episodes: 0, sessions: 0, blows: new Map(), endings: new Map(), legal: 0 };
  await Promise.all(MODES.map((mode) => new Lane(place, report, size, tally, mode).run(deadline)));
  const { episodes, sessions, blows, endings, legal } = tally;
  report.say(`faults: seed ${size.seed}, episodes ${size.from} to ${size.from + episodes - 1}, ${sessions} sessions`);
  report.say(`faults: blows: ${listed(blows)}; ${[...blows.values()].reduce((sum, each) => sum + each, 0)} in all`);
  report.say(`faults: the clients ended with: ${listed(endings)}`);
  report.say(`faults: ${legal} processes outlived their target, as they may, and were still held by the session`);
  await eventually(() => {
    const { count, held } = pseudoTerminals();
    if (count > held) throw new Error(`of ${count} pseudo-terminals only ${held} are held by a process`);
  }, SETTLE_MS);
  const left = place.marked();
  if (left.length > 0) report.fail(`faults: left at the end: ${left.map(({ pid, command }) => `${pid} ${command}`).join('; ')}`);
}

class Lane {
  readonly #place: Place;
  readonly #report: Report;
  readonly #size: FaultsSize;
  readonly #tally: Tally;
  readonly #mode: Mode;
  #held: Held | undefined;
  #inSession = 0;
  #firstInSession = 0;
  /** Of the episodes in the session of the last one: a fault may have come earlier than it shows. */
  #first = 0;
  #last = 0;
  #failures = 0;

  constructor(place: Place, report: Report, size: FaultsSize, tally: Tally, mode: Mode) {
    this.#place = place;
    this.#report = report;
    this.#size = size;
    this.#tally = tally;
    this.#mode = mode;
  }

  async run(deadline: number): Promise<void> {
    const { seed, from, count } = this.#size;
    for (let number = from; number < from + count; number++) {
      if (MODES[number % MODES.length] !== this.#mode) continue;
      if (performance.now() > deadline || this.#failures >= FAILURES_A_LANE) break;
      await this.#episode(planOf(seed, number));
    }
    await this.#guarded('at the end', async () => await this.#close());
  }

  async #episode(plan: Plan): Promise<void> {
    await this.#guarded(`episode ${plan.episode} ${JSON.stringify(plan)}`, async () => {
      this.#last = plan.episode;
      this.#first = this.#held === undefined ? plan.episode : this.#firstInSession;
      const held = await this.#session();
      this.#inSession++;
      this.#tally.episodes++;
      const episode = new Episode(this.#place, held, plan);
      await episode.play();
      for (const [who, blow] of episode.blows) count(this.#tally.blows, `${blow} ${who}`);
      count(this.#tally.endings, episode.ending);
      this.#tally.legal += episode.legal;
      if (!endsSession(plan)) {
        await held.atRest();
        await held.mustServe();
        if (this.#inSession >= EPISODES_A_SESSION) await this.#close();
        return;
      }
      this.#held = undefined;
      if (plan.hurry) await this.#session();
      await held.gone();
      if (!plan.hurry && plan.blow === 'TERM' && held.files() !== '') throw new Error(`files are left: ${held.files()}`);
    });
  }

  async #session(): Promise<Held> {
    if (this.#held === undefined) {
      this.#held = await Held.openIn(this.#place, this.#mode);
      this.#inSession = 0;
      this.#firstInSession = this.#last;
      this.#tally.sessions++;
    }
    return this.#held;
  }

  async #close(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    await held?.close();
  }

  #evidence(): string[] {
    try {
      return evidenceOf(this.#place, this.#mode);
    } catch (error) {
      return [String(error)];
    }
  }

  /** Tells of a failure how to have it again, then clears up, so that one fault is one failure. */
  async #guarded(what: string, act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#failures++;
      this.#report.fail(`seed ${this.#size.seed} ${this.#mode} ${what}: ${error instanceof Error ? error.message : String(error)}`);
      this.#report.say(`  again: --only faults --seed ${this.#size.seed} --from ${this.#first} --count ${this.#last - this.#first + 1}`);
      for (const line of this.#evidence()) this.#report.say(`  ${line}`);
      this.#held = undefined;
      for (const mark of [this.#place.runtimeDirectory(this.#mode), `soak-${this.#mode}`]) this.#place.endMarked(mark);
      this.#place.endMarked(`${this.#mode}-e`);
    }
  }
}

/** What the agent has said, and who is there. */
function evidenceOf(place: Place, mode: Mode): string[] {
  const directory = place.runtimeDirectory(mode);
  const logs = readdirSync(directory).filter((name) => name.endsWith('.log'));
  const said = logs.flatMap((name) => readFileSync(join(directory, name), 'utf8').trim().split('\n').slice(-8));
  const there = place.marked().filter(({ command }) => command.includes(mode));
  return [
    ...said.map((line) => `log: ${line}`),
    ...there.map(({ pid, ppid, state, command }) => `there: ${pid} of ${ppid} ${state} ${command}`),
  ];
}

function count(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

function listed(counts: Map<string, number>): string {
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([name, number]) => `${number} ${name}`)
    .join(', ');
}

/**
 * Those of the whole machine, and how many are held open: other programs have some as well, but none that nobody holds. Without its
 * master one lasts for as long as a process keeps its other side; whether that is one of ours, is asked of all that we have started.
 */
function pseudoTerminals(): { count: number; held: number } {
  const count = Number(readFileSync('/proc/sys/kernel/pty/nr', 'utf8'));
  const all = allProcesses().flatMap(({ pid }) => [...descriptorsIfAny(pid).values()]);
  const masters = all.filter((target) => target.endsWith('ptmx')).length;
  const hungUp = new Set(all.filter((target) => /^\/dev\/pts\/\d+ \(deleted\)$/.test(target))).size;
  return { count, held: masters + hungUp };
}

function descriptorsIfAny(pid: number): Map<number, string> {
  try {
    return descriptorsOf(pid);
  } catch {
    return new Map(); // gone meanwhile
  }
}
