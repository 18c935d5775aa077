// What holds everything that one request started, so that it can be ended whole. DESIGN section 4 "Ending".
// This file: the interface, and its plainest form, the process group. cgroup.ts has the exact one.

import type { ChildChange } from '../native/children.js';
import { killGroup } from '../native/processes.js';
import type { Started } from '../native/spawn.js';
import { groupMembers } from '../process-tree.js';
import type { RunRequest } from '../protocol/run.js';

export interface Containment {
  readonly kind: 'group' | 'cgroup' | 'warden';
  /** −1, or the descriptor of the cgroup that the target is born in. */
  readonly cgroupFd: number;
  /** What serves as warden between the agent and the target, with a final NUL; `undefined`: nothing does. */
  readonly warden: Buffer | undefined;
  /** The target, once it runs. @param onChange where a containment that hears of its changes reports them. */
  bind(target: Started, onChange: (change: ChildChange) => void): void;
  /** To everything that is held. False: nothing is. */
  signal(signal: number): boolean;
  /** SIGKILL to everything that is held, also to what forks meanwhile. False: nothing is. */
  kill(): boolean;
  isEmpty(): boolean;
  members(): number[];
  /** CPU time of the whole tree, microseconds, and peak memory, bytes, where that is known. */
  usage(): { cpuUs: number | undefined; peakBytes: number | undefined };
  /** Gives its resources back; what still lives stays until the session closes. */
  release(): void;
}

/** What makes the containments of one session, and ends all of them at once. */
export interface ContainmentMaker {
  readonly kind: Containment['kind'];
  make(run: RunRequest): Containment;
  /** Whether a descendant of the agent is a helper of ours and not something that a target started. */
  isHelper(pid: number): boolean;
  /** A child of the agent has ended that was no target: a helper, or an orphan. */
  childEnded?(change: ChildChange): void;
  /** SIGKILL to whatever any of them still holds. */
  killAll(): void;
  /** Gives everything back; for the session's end. */
  close(): void;
}

const UNKNOWN_USAGE = { cpuUs: undefined, peakBytes: undefined };
const SIGKILL = 9;

/** A process group: what leaves it by setsid or setpgid is out of reach until the session closes. */
export class GroupContainment implements Containment {
  readonly kind = 'group';
  readonly cgroupFd = -1;
  readonly warden = undefined;
  #pgid = 0;

  bind(target: Started): void {
    this.#pgid = target.pid;
  }

  signal(signal: number): boolean {
    return this.#pgid > 1 && killGroup(this.#pgid, signal);
  }

  kill(): boolean {
    return this.signal(SIGKILL);
  }

  isEmpty(): boolean {
    return this.members().length === 0;
  }

  members(): number[] {
    return this.#pgid > 1 && killGroup(this.#pgid, 0) ? groupMembers(this.#pgid).map(({ pid }) => pid) : [];
  }

  usage(): typeof UNKNOWN_USAGE {
    return UNKNOWN_USAGE;
  }

  release(): void {
    this.#pgid = 0;
  }
}

/** Groups need nothing made beforehand; what left them is found among the agent's descendants. */
export const groups: ContainmentMaker = {
  kind: 'group',
  make: () => new GroupContainment(),
  isHelper: () => false,
  killAll: () => {},
  close: () => {},
};
