// Containment where no cgroup can be had: each target has a warden between itself and the agent (native/warden.h), the subreaper
// of all that the target starts. Costs one more small process and exec a request. DESIGN section 4 "Ending".

import { installed } from '../install.js';
import { type ChildChange, closeFd, killProcess, type Started, unwatch, wardenKill, wardenNews, wardenSignal, watch } from '../native.js';
import { descendantsOf, livingProcesses } from '../process-tree.js';
import type { Containment, ContainmentMaker } from './containment.js';

const SIGKILL = 9;

class WardenContainment implements Containment {
  readonly kind = 'warden';
  readonly cgroupFd = -1;
  readonly warden: Buffer;
  readonly #wardens: Wardens;
  /** While it holds something: the warden ends by itself when it does not. */
  #held: { warden: number; control: number } | undefined;

  constructor(wardens: Wardens, program: Buffer) {
    this.#wardens = wardens;
    this.warden = program;
  }

  bind(target: Started, onChange: (change: ChildChange) => void): void {
    if (target.warden === undefined) return;
    const { pid: warden, control } = target.warden;
    this.#held = { warden, control };
    this.#wardens.add(this, warden);
    watch(control, { readable: true }, () => {
      for (;;) {
        const news = wardenNews(control);
        if (news === undefined) return;
        if (news === 'gone') {
          unwatch(control);
          closeFd(control);
          this.#held = undefined;
          this.#wardens.remove(this, warden);
          return;
        }
        onChange(news);
      }
    });
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
  readonly #program = Buffer.from(`${installed.runnerExec}\0`);
  readonly #live = new Map<number, WardenContainment>();

  make(): Containment {
    return new WardenContainment(this, this.#program);
  }

  isHelper(pid: number): boolean {
    return this.#live.has(pid);
  }

  add(containment: WardenContainment, warden: number): void {
    this.#live.set(warden, containment);
  }

  remove(containment: WardenContainment, warden: number): void {
    if (this.#live.get(warden) === containment) this.#live.delete(warden);
  }

  /** A warden ends by itself with 0. One that was killed leaves its target, which dies by PDEATHSIG, and the rest to us, the next subreaper. */
  childEnded({ waitStatus }: ChildChange): void {
    if (waitStatus !== 0) this.#killOrphans();
  }

  /** All children of ours are wardens; whatever else is one was orphaned by a warden that was killed. */
  #killOrphans(): void {
    for (const { pid, ppid } of livingProcesses()) {
      if (ppid !== process.pid || this.#live.has(pid)) continue;
      for (const descendant of [pid, ...descendantsOf(pid).map((process) => process.pid)]) killProcess(descendant, SIGKILL);
    }
  }

  killAll(): void {
    for (const containment of this.#live.values()) containment.kill();
  }

  close(): void {
    // Each warden ends with what it holds.
  }
}
