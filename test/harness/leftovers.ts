// What a test must not leave behind, and the check for it.

import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import { descriptorsOf, isAlive, markedProcesses, type ProcessSeen } from './processes.js';
import type { Session } from './session.js';

/** Time for the end of what is on its way to end. */
const SETTLE_MS = 5_000;

export class Leftovers {
  readonly #mark: string;
  readonly #runtimeDirectory: string;
  readonly #settleMs: number;
  #ownDescriptors = new Map<number, string>();
  #expectedGone: ProcessSeen[] = [];

  /** `mark`: a path that every process of the test file carries somewhere. */
  constructor(mark: string, runtimeDirectory: string, settleMs: number = SETTLE_MS) {
    this.#mark = mark;
    this.#settleMs = settleMs;
    this.#runtimeDirectory = runtimeDirectory;
  }

  startTest(): void {
    this.#ownDescriptors = descriptorsOf('self');
  }

  /** These have no business after their session is closed, wherever they have been re-parented to by then. */
  expectGone(processes: readonly ProcessSeen[]): void {
    this.#expectedGone.push(...processes);
  }

  /** @throws when something is left that does not belong to `open`. Ends what is left, so that one leak fails one test. */
  async check(open: readonly Session[]): Promise<void> {
    try {
      await eventually(() => {
        this.#checkProcesses(open);
        this.#checkFiles(open);
        this.#checkDescriptors();
        for (const session of open) session.checkIdle();
      }, this.#settleMs);
    } finally {
      this.#clearUp(open);
    }
  }

  #clearUp(open: readonly Session[]): void {
    for (const { pid } of this.#strangers(open)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended meanwhile.
      }
    }
    for (const name of this.#strangeFiles(open)) rmSync(join(this.#runtimeDirectory, name), { recursive: true, force: true });
    this.#expectedGone = [];
  }

  #strangers(open: readonly Session[]): ProcessSeen[] {
    const known = new Set(open.flatMap((session) => session.idleProcesses.map(({ pid, startTicks }) => `${pid} ${startTicks}`)));
    const left = this.#expectedGone.filter(({ pid, startTicks }) => isAlive(pid, startTicks));
    const marked = markedProcesses(this.#mark).filter(({ pid, startTicks }) => !known.has(`${pid} ${startTicks}`));
    return [...left, ...marked.filter(({ pid }) => !left.some((each) => each.pid === pid))];
  }

  #checkProcesses(open: readonly Session[]): void {
    const left = this.#strangers(open);
    if (left.length === 0) return;
    throw new Error(`processes are left: ${left.map(({ pid, state, command }) => `${pid} (${state}) ${command}`).join('; ')}`);
  }

  #strangeFiles(open: readonly Session[]): string[] {
    const stems = open.map((session) => session.socket.slice(session.socket.lastIndexOf('/') + 1, -'.sock'.length));
    // A log may stay: it is how one learns why a session ended.
    return readdirSync(this.#runtimeDirectory).filter(
      (name) => !name.endsWith('.log') && !stems.some((stem) => name.startsWith(`${stem}.`)),
    );
  }

  #checkFiles(open: readonly Session[]): void {
    const left = this.#strangeFiles(open);
    if (left.length > 0) throw new Error(`files are left in the runtime directory: ${left.join(', ')}`);
  }

  #checkDescriptors(): void {
    const left = [...descriptorsOf('self')].filter(([fd, target]) => this.#ownDescriptors.get(fd) !== target);
    // Node's own, made when first needed.
    const ours = left.filter(([, target]) => !target.startsWith('anon_inode:'));
    if (ours.length > 0) throw new Error(`descriptors are left in the test itself: ${ours.map((each) => each.join(' ')).join(', ')}`);
  }
}
