// One session that the soak holds open: who belongs to it, what it looks like at rest, and what its end must leave: nothing.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownCgroupDirectory } from '../src/agent/cgroup.js';
import { eventually } from '../test/harness/eventually.js';
import { descendantsOf, descriptorsOf, findProcess, isAlive, type ProcessSeen, zombiesOf } from '../test/harness/processes.js';
import type { Place } from './place.js';
import type { Mode } from './plan.js';

/** Time for what is on its way to end, on a machine that does other things too. */
export const SETTLE_MS = 30_000;

export class Held {
  readonly agent: ProcessSeen;
  readonly launcher: ProcessSeen;
  readonly name: string;
  readonly #place: Place;
  readonly #lane: string;
  readonly #cgroup: string | undefined;
  readonly #idleDescriptors: number;
  readonly #idleFiles: string;

  private constructor(place: Place, lane: string, name: string, agent: ProcessSeen, launcher: ProcessSeen, hasCgroup: boolean) {
    this.#place = place;
    this.#lane = lane;
    this.name = name;
    this.agent = agent;
    this.launcher = launcher;
    this.#cgroup = hasCgroup ? cgroupOf(agent.pid) : undefined;
    this.#idleDescriptors = descriptorsOf(agent.pid).size;
    this.#idleFiles = this.files();
  }

  /** Opens it, and runs one command, so that what an agent makes once and keeps is there. @throws Error with what was said. */
  static async open(place: Place, lane: string, name: string, ...flags: string[]): Promise<Held> {
    const { code, stdout, stderr } = await place.cli(lane, 'open', name, ...flags, '--', 'bash', place.launcher);
    if (code !== 0 || stdout + stderr !== '') throw new Error(`open of '${name}' ended with ${code}: ${stdout}${stderr}`);
    const status = JSON.parse((await place.cli(lane, 'status', name, '--json')).stdout);
    await mustServe(place, lane, name);
    const agent = findProcess(Number(status.pid));
    const launcher = agent === undefined ? undefined : findProcess(agent.ppid);
    if (agent === undefined || launcher === undefined) throw new Error(`session '${name}' has no agent, or that no launcher`);
    return new Held(place, lane, name, agent, launcher, status.containment === 'cgroup');
  }

  static async openIn(place: Place, mode: Mode): Promise<Held> {
    return await Held.open(place, mode, `soak-${mode}`, '--containment', mode);
  }

  get isAlive(): boolean {
    return isAlive(this.agent.pid, this.agent.startTicks);
  }

  get guard(): ProcessSeen | undefined {
    return descendantsOf(this.agent.pid).find(({ command }) => command.includes(' __guard '));
  }

  get descriptors(): number {
    return descriptorsOf(this.agent.pid).size;
  }

  get zombies(): number {
    return zombiesOf(this.agent.pid).length;
  }

  /** Names in the runtime directory. */
  files(): string {
    return readdirSync(this.#place.runtimeDirectory(this.#lane)).sort().join(' ');
  }

  async status(): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await this.#place.cli(this.#lane, 'status', this.name, '--json');
    if (code !== 0) throw new Error(`status ended with ${code}: ${stderr}`);
    return JSON.parse(stdout);
  }

  async mustServe(): Promise<void> {
    await mustServe(this.#place, this.#lane, this.name);
  }

  argv(...words: string[]): string[] {
    return [this.#place.runnerExec, '--session', this.name, ...words];
  }

  /** Whether a process that was started in it is still held by it, so that its end will be that one's too. */
  holds(pid: number, mode: Mode): boolean {
    if (mode === 'cgroup' && this.#cgroup !== undefined) {
      try {
        return readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(`/holdfast-${this.agent.pid}`);
      } catch {
        return true; // ended meanwhile
      }
    }
    for (let at = findProcess(pid); at !== undefined; at = findProcess(at.ppid)) if (at.ppid === this.agent.pid) return true;
    return findProcess(pid) === undefined;
  }

  /** Waits until it is as it was when nothing had run in it. */
  async atRest(): Promise<void> {
    await eventually(() => {
      if (!this.isAlive) throw new Error('the agent is dead');
      const now = descriptorsOf(this.agent.pid);
      if (now.size > this.#idleDescriptors)
        throw new Error(`the agent holds ${now.size} descriptors, ${this.#idleDescriptors} at rest: ${[...now.values()].join(' ')}`);
      if (this.zombies > 0) throw new Error(`the agent has ${this.zombies} dead children`);
      const wardens = descendantsOf(this.agent.pid).filter(({ command }) => command.includes(' __warden '));
      if (wardens.length > 0) throw new Error(`${wardens.length} wardens are left`);
      if (this.files() !== this.#idleFiles) throw new Error(`files were '${this.#idleFiles}' and are '${this.files()}'`);
      for (const each of this.#cgroups()) if (isPopulated(each)) throw new Error(`somebody lives in cgroup '${each}'`);
    }, SETTLE_MS);
  }

  /** Waits until nothing of it is there: agent, launcher, guard, cgroup. Files are told by the caller: a killed agent leaves some. */
  async gone(): Promise<void> {
    await eventually(() => {
      for (const { pid, startTicks, command } of [this.agent, this.launcher])
        if (isAlive(pid, startTicks)) throw new Error(`${pid} is left: ${command}`);
      const guards = this.#place.marked(`holdfast-${this.agent.pid}`).filter(({ command }) => command.includes(' __guard '));
      if (guards.length > 0) throw new Error(`its guard ${guards[0]?.pid} is left`);
      if (this.#cgroup !== undefined && existsSync(this.#cgroup)) throw new Error(`cgroup '${this.#cgroup}' is left`);
    }, SETTLE_MS);
  }

  /** Closes it as a user would, and looks that nothing is left. */
  async close(): Promise<void> {
    const { code, stdout, stderr } = await this.#place.cli(this.#lane, 'close', this.name);
    if (code !== 0 || stdout + stderr !== '') throw new Error(`close ended with ${code}: ${stdout}${stderr}`);
    await this.gone();
    if (this.files() !== '') throw new Error(`files are left: ${this.files()}`);
  }

  #cgroups(): string[] {
    if (this.#cgroup === undefined) return [];
    const directory = this.#cgroup;
    return readdirSync(directory)
      .filter((name) => /^r\d+$/.test(name))
      .map((name) => join(directory, name));
  }
}

async function mustServe(place: Place, lane: string, name: string): Promise<void> {
  const { code, stderr } = await place.run(lane, [place.runnerExec, '--session', name, '--', '/bin/true']);
  if (code !== 0) throw new Error(`session '${name}' does not serve (${code}): ${stderr}`);
}

/** The session's. Not looked for where it has none: there may be one of an earlier process with the same number. */
function cgroupOf(agent: number): string | undefined {
  const own = ownCgroupDirectory(readFileSync(`/proc/${agent}/mountinfo`, 'utf8'), readFileSync(`/proc/${agent}/cgroup`, 'utf8'));
  const directory = own === undefined ? undefined : join(own, `holdfast-${agent}`);
  return directory !== undefined && existsSync(directory) ? directory : undefined;
}

function isPopulated(cgroup: string): boolean {
  try {
    return readFileSync(join(cgroup, 'cgroup.events'), 'utf8').startsWith('populated 1');
  } catch {
    return false; // removed meanwhile
  }
}
