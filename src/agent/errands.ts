// Small commands that the agent runs for itself, through a session's wrapper: nobody waits for their output, their time is bounded, and
// they are no requests. Their children are ended with their process group.

import { closeSync, openSync } from 'node:fs';
import type { ChildChange } from '../native/children.js';
import { closeFd } from '../native/descriptors.js';
import { killGroup } from '../native/processes.js';
import { PLAIN, spawn } from '../native/spawn.js';
import type { StringList } from '../protocol/strings.js';
import type { TargetEnvironment } from './base-environment.js';

const SIGKILL = 9;

/** Where and as whom a wrapper runs. */
export interface WrapperPlace {
  /** And the PATH on which it is looked up. */
  readonly env: TargetEnvironment;
  /** With a final NUL. The caller's, which may be one of the inside alone: then the wrapper is in `/`. */
  readonly cwd: Buffer;
}

interface Running {
  readonly settle: (exitCode: number) => void;
  readonly timer: NodeJS.Timeout;
}

/** No shell and no wrapper ends with it. */
export const NOT_RUN = -1;

export class Errands {
  readonly #running = new Map<number, Running>();
  readonly #limits: Float64Array;

  /** @param limits what Node changed about itself, as it was before. */
  constructor(limits: Float64Array) {
    this.#limits = limits;
  }

  isHelper(pid: number): boolean {
    return this.#running.has(pid);
  }

  /**
   * Its exit code; 128 and more for a signal, `NOT_RUN` when it could not be started. Never rejects.
   *
   * @param extra a descriptor of ours that it gets too, borrowed.
   */
  run(argv: StringList, place: WrapperPlace, withinMs: number, extra?: { fd: number; number: number }): Promise<number> {
    const nothing = openSync('/dev/null', 'r+');
    try {
      const result = spawn({
        ...PLAIN,
        searchPath: place.env.path,
        argv,
        env: place.env,
        cwd: place.cwd,
        cwdOrRoot: true,
        // What it complains about goes to the session's log.
        fds: [nothing, nothing, 2, ...(extra === undefined ? [] : [extra.fd])],
        numbers: [0, 1, 2, ...(extra === undefined ? [] : [extra.number])],
        limits: this.#limits,
      });
      if (!result.started) return Promise.resolve(NOT_RUN);
      const { pid, pidfd } = result;
      if (pidfd >= 0) closeFd(pidfd);
      return new Promise((settle) => {
        this.#running.set(pid, { settle, timer: setTimeout(() => killGroup(pid, SIGKILL), withinMs) });
      });
    } catch {
      return Promise.resolve(NOT_RUN); // out of descriptors or processes
    } finally {
      closeSync(nothing);
    }
  }

  /** True: it was one of ours. */
  changed({ pid, waitStatus }: ChildChange): boolean {
    const running = this.#running.get(pid);
    if (running === undefined) return false;
    const isEnd = waitStatus !== 0xffff && (waitStatus & 0xff) !== 0x7f;
    if (!isEnd) return true;
    this.#running.delete(pid);
    clearTimeout(running.timer);
    const signal = waitStatus & 0x7f;
    running.settle(signal === 0 ? waitStatus >> 8 : 128 + signal);
    return true;
  }
}
