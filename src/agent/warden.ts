// Containment where no cgroup can be had: each target has a warden between itself and the agent (native/warden.h), the subreaper
// of all that the target starts. Costs one more small process and exec a request. DESIGN section 4 "Ending".

import { installed } from '../install.js';
import { type ChildChange, wardenKill, wardenNews, wardenSignal } from '../native/children.js';
import { closeFd } from '../native/descriptors.js';
import { unwatch, watch } from '../native/poll.js';
import { killProcess } from '../native/processes.js';
import type { Started } from '../native/spawn.js';
import { descendantsOf, findProcess, livingProcesses } from '../process-tree.js';
import type { Containment, ContainmentMaker } from './containment.js';

const SIGKILL = 9;
const ORPHAN_LOOKS = 3;
const ORPHAN_LOOK_MS = 20;

const NOTHING_USED = {
  userUs: 0,
  systemUs: 0,
  maxRssKib: 0,
  minorFaults: 0,
  majorFaults: 0,
  blocksIn: 0,
  blocksOut: 0,
  voluntarySwitches: 0,
  involuntarySwitches: 0,
};

function isEnd({ waitStatus }: ChildChange): boolean {
  return waitStatus !== 0xffff && (waitStatus & 0xff) !== 0x7f;
}

class WardenContainment implements Containment {
  readonly kind = 'warden';
  readonly cgroupFd = -1;
  readonly warden: Buffer;
  readonly #wardens: Wardens;
  /** While it holds something: the warden ends by itself when it does not. */
  #held: { warden: number; control: number } | undefined;
  /** While its end has not been told. */
  #target: number | undefined;
  #onChange: (change: ChildChange) => void = () => {};

  constructor(wardens: Wardens, program: Buffer) {
    this.#wardens = wardens;
    this.warden = program;
  }

  bind(target: Started, onChange: (change: ChildChange) => void): void {
    if (target.warden === undefined) return;
    this.#held = { warden: target.warden.pid, control: target.warden.control };
    this.#target = target.pid;
    this.#onChange = onChange;
    this.#wardens.add(this, target.warden.pid);
    watch(target.warden.control, { readable: true }, () => this.#takeNews());
  }

  #takeNews(): void {
    while (this.#held !== undefined) {
      const { warden, control } = this.#held;
      const news = wardenNews(control);
      if (news === undefined) return;
      if (news === 'gone') {
        unwatch(control);
        closeFd(control);
        this.#held = undefined;
        this.#wardens.remove(this, warden);
        return;
      }
      if (isEnd(news)) this.#target = undefined;
      this.#onChange(news);
    }
  }

  /** The warden was killed. A target that it had reaped and not yet told of is nobody's any more: how it ended is not known. */
  lost(): void {
    this.#takeNews();
    const pid = this.#target;
    if (pid === undefined || findProcess(pid) !== undefined) return;
    this.#target = undefined;
    this.#onChange({ ...NOTHING_USED, pid, waitStatus: SIGKILL });
  }

  signal(signal: number): boolean {
    return this.#held !== undefined && wardenSignal(this.#held.control, signal);
  }

  kill(): boolean {
    return this.#held !== undefined && wardenKill(this.#held.control);
  }

  isEmpty(): boolean {
    return this.members().length === 0;
  }

  members(): number[] {
    return this.#held === undefined ? [] : descendantsOf(this.#held.warden).map(({ pid }) => pid);
  }

  usage(): { cpuUs: undefined; peakBytes: undefined } {
    return { cpuUs: undefined, peakBytes: undefined };
  }

  release(): void {
    // A warden with leftovers stays until they end, or the session does.
  }
}

export class Wardens implements ContainmentMaker {
  readonly kind = 'warden';
  /** Whether a child of ours is neither a warden nor orphaned by one. */
  isOther: (pid: number) => boolean = () => false;
  readonly #program = Buffer.from(`${installed.runnerExec}\0`);
  readonly #live = new Map<number, WardenContainment>();
  readonly #unreaped = new Map<number, WardenContainment>();

  make(): Containment {
    return new WardenContainment(this, this.#program);
  }

  isHelper(pid: number): boolean {
    return this.#live.has(pid);
  }

  add(containment: WardenContainment, warden: number): void {
    this.#live.set(warden, containment);
    this.#unreaped.set(warden, containment);
  }

  remove(containment: WardenContainment, warden: number): void {
    if (this.#live.get(warden) === containment) this.#live.delete(warden);
  }

  /** A warden ends by itself with 0. One that was killed leaves its target, which dies by PDEATHSIG, and the rest to us, the next subreaper. */
  childEnded({ pid, waitStatus }: ChildChange): void {
    const containment = this.#unreaped.get(pid);
    this.#unreaped.delete(pid);
    if (waitStatus === 0) return;
    this.#killOrphans();
    containment?.lost();
  }

  /**
   * All children of ours are wardens; whatever else is one was orphaned by a warden that was killed. Looks until it has found nobody
   * for a while: a look at /proc takes time, and misses whoever changes its parent meanwhile.
   */
  #killOrphans(looks = ORPHAN_LOOKS): void {
    let found = false;
    for (const { pid, ppid } of livingProcesses()) {
      if (ppid !== process.pid || this.#live.has(pid) || this.isOther(pid)) continue;
      found = true;
      for (const descendant of [pid, ...descendantsOf(pid).map((process) => process.pid)]) killProcess(descendant, SIGKILL);
    }
    const left = found ? ORPHAN_LOOKS : looks - 1;
    if (left > 0) setTimeout(() => this.#killOrphans(left), ORPHAN_LOOK_MS);
  }

  killAll(): void {
    for (const containment of this.#live.values()) containment.kill();
  }

  close(): void {
    // Each warden ends with what it holds.
  }
}
