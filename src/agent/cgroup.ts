// One cgroup (v2) for each request, inside one for the session: whatever a target forks is born in it and cannot leave it by
// setsid or by forking twice, and cgroup.kill ends it whole, also a fork storm. DESIGN section 4 "Ending"; the kernel's
// Documentation/admin-guide/cgroup-v2.rst. Needs a writable cgroup2 mount and Linux 5.14 (cgroup.kill).

import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChildChange } from '../native/children.js';
import { closeFd } from '../native/descriptors.js';
import { cgroupState, openDirectory } from '../native/files.js';
import { killProcess } from '../native/processes.js';
import { isAlive } from '../process-tree.js';
import type { RunRequest } from '../protocol/run.js';
import type { Containment, ContainmentMaker } from './containment.js';
import { type Guard, startGuard } from './guard.js';

/** Empty cgroups kept ready, from the start on, so that the agent's descriptors are as many at rest as after any load. */
const SPARE = 8;

/** Where this process stands in the cgroup2 hierarchy, also in a hybrid set-up; `undefined`: there is none, or it is not visible. */
export function ownCgroupDirectory(mountinfo: string, cgroups: string): string | undefined {
  const own = /^0::(.*)$/m.exec(cgroups)?.[1];
  if (own === undefined) return undefined;
  for (const line of mountinfo.split('\n')) {
    // proc_pid_mountinfo(5): … root mountpoint options [optional fields] - fstype source superoptions
    const [left = '', right = ''] = line.split(' - ');
    if (!right.startsWith('cgroup2 ')) continue;
    const [, , , root = '/', mountPoint = ''] = left.split(' ');
    const inside = pathBelow(unescapeOctal(root), own);
    if (inside !== undefined) return join(unescapeOctal(mountPoint), inside);
  }
  return undefined;
}

/** Compared as text: inside a cgroup namespace both may begin with `/..`, which is no path to be resolved (cgroup_namespaces(7)). */
function pathBelow(root: string, own: string): string | undefined {
  if (own === root) return '';
  const prefix = root === '/' ? '/' : `${root}/`;
  if (!own.startsWith(prefix)) return undefined;
  const inside = own.slice(prefix.length);
  return inside.split('/').includes('..') ? undefined : inside;
}

/** Blanks and the like are octal escapes in mountinfo. */
function unescapeOctal(path: string): string {
  return path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function subdirectories(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(directory, entry.name));
  } catch {
    return [];
  }
}

/** Living processes of a cgroup and of those that its members made beneath it. */
function processesIn(directory: string): number[] {
  const own = read(join(directory, 'cgroup.procs'))
    .split('\n')
    .map(Number)
    .filter((pid) => pid > 1 && isAlive(pid));
  return [...own, ...subdirectories(directory).flatMap(processesIn)];
}

/** Removes a cgroup and those beneath it. False: somebody lives there still. */
function remove(directory: string): boolean {
  for (const below of subdirectories(directory)) remove(below);
  try {
    rmdirSync(directory);
    return true;
  } catch {
    return !existsSync(directory);
  }
}

class RequestCgroup implements Containment {
  readonly kind = 'cgroup';
  readonly directory: string;
  readonly cgroupFd: number;
  readonly warden = undefined;
  /**
   * Then nobody may be born in it any more: Linux 6.18 compares the kill counter of a new task's cgroup with that of its
   * parent's, and kills it when they differ (kernel/cgroup/cgroup.c, cgroup_css_set_fork and cgroup_post_fork).
   */
  wasKilled = false;
  readonly #events: number;
  readonly #session: SessionCgroup;

  constructor(session: SessionCgroup, directory: string) {
    this.#session = session;
    this.directory = directory;
    this.cgroupFd = openDirectory(directory);
    try {
      this.#events = openSync(join(directory, 'cgroup.events'), 'r');
    } catch (error) {
      closeFd(this.cgroupFd);
      throw error;
    }
  }

  bind(): void {
    // The target was born in here.
  }

  signal(signal: number): boolean {
    const pids = this.members();
    for (const pid of pids) killProcess(pid, signal);
    return pids.length > 0;
  }

  kill(): boolean {
    this.wasKilled = true;
    writeFileSync(join(this.directory, 'cgroup.kill'), '1');
    return !this.isEmpty();
  }

  state(): ReturnType<typeof cgroupState> {
    return cgroupState(this.cgroupFd, this.#events);
  }

  isEmpty(): boolean {
    return this.state() !== 'occupied';
  }

  members(): number[] {
    return this.isEmpty() ? [] : processesIn(this.directory);
  }

  usage(): { cpuUs: number | undefined; peakBytes: number | undefined } {
    const cpu = /^usage_usec (\d+)$/m.exec(read(join(this.directory, 'cpu.stat')))?.[1];
    const peak = read(join(this.directory, 'memory.peak')).trim();
    return { cpuUs: cpu === undefined ? undefined : Number(cpu), peakBytes: peak === '' ? undefined : Number(peak) };
  }

  release(): void {
    this.#session.takeBack(this);
  }

  close(): boolean {
    if (!remove(this.directory)) return false;
    closeFd(this.cgroupFd);
    closeSync(this.#events);
    return true;
  }
}

export class SessionCgroup implements ContainmentMaker {
  readonly kind = 'cgroup';
  readonly directory: string;
  #guard: Guard | undefined;
  readonly #spare: RequestCgroup[] = [];
  /** Released while something lived in them, or before the kernel had counted the last one out. */
  #occupied: RequestCgroup[] = [];
  #count = 0;

  /** `undefined` where cgroups cannot be had. */
  static find(): SessionCgroup | undefined {
    const own = ownCgroupDirectory(read('/proc/self/mountinfo'), read('/proc/self/cgroup'));
    if (own === undefined) return undefined;
    const directory = join(own, `holdfast-${process.pid}`);
    try {
      // An agent of this very number may have been killed together with its guard: what it left is nobody's.
      if (existsSync(directory)) writeFileSync(join(directory, 'cgroup.kill'), '1');
      remove(directory);
      mkdirSync(directory);
    } catch {
      return undefined;
    }
    if (existsSync(join(directory, 'cgroup.kill'))) return new SessionCgroup(directory);
    remove(directory);
    return undefined;
  }

  private constructor(directory: string) {
    this.directory = directory;
    this.#guard = startGuard(directory);
    while (this.#spare.length < SPARE) this.#spare.push(this.#fresh());
  }

  make(run: RunRequest): Containment {
    this.#recheck();
    // For a report it is one that nobody has used: its counters are the request's alone.
    const spare = run.report ? undefined : this.#spare.pop();
    return spare ?? this.#fresh();
  }

  #fresh(): RequestCgroup {
    const directory = join(this.directory, `r${++this.#count}`);
    mkdirSync(directory);
    try {
      return new RequestCgroup(this, directory);
    } catch (error) {
      remove(directory);
      throw error;
    }
  }

  takeBack(cgroup: RequestCgroup): void {
    const state = cgroup.state();
    if (state === 'occupied') this.#occupied.push(cgroup);
    else if (state === 'empty' && !cgroup.wasKilled && this.#spare.length < SPARE) this.#spare.push(cgroup);
    else if (!cgroup.close()) this.#occupied.push(cgroup);
  }

  #recheck(): void {
    if (this.#occupied.length === 0) return;
    const before = this.#occupied;
    this.#occupied = [];
    for (const cgroup of before) this.takeBack(cgroup);
  }

  isHelper(pid: number): boolean {
    return pid === this.#guard?.pid;
  }

  /** A guard that was killed has a successor: else an agent that is killed later would leave its cgroups. */
  childEnded({ pid, waitStatus }: ChildChange): void {
    if (this.#guard === undefined || pid !== this.#guard.pid) return;
    closeFd(this.#guard.pipe);
    this.#guard = undefined;
    // One that has ended by itself would do so again.
    if ((waitStatus & 0x7f) !== 0) this.#guard = startGuard(this.directory);
  }

  killAll(): void {
    try {
      writeFileSync(join(this.directory, 'cgroup.kill'), '1');
    } catch {
      // Removed by somebody else; the processes are signalled one by one as well.
    }
  }

  close(): void {
    for (const cgroup of [...this.#spare.splice(0), ...this.#occupied.splice(0)]) cgroup.close();
    remove(this.directory); // if the kernel still counts somebody out, the guard does it
  }
}
