// The launcher's process and everything that descends from it, from its start until the session serves or must be undone.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';

import { HoldfastError } from '../errors.js';
import { closeOnExecFrom, setSubreaper } from '../native.js';
import { descendantsOf, endAll, isAlive, livingProcesses, type ProcessFacts } from '../process-tree.js';
import type { LaunchCommand } from './launch-command.js';

export interface LauncherEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class Launcher {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #hasSubreaper: boolean;

  private constructor(child: ChildProcess, pid: number, hasSubreaper: boolean) {
    this.#child = child;
    this.pid = pid;
    this.#hasSubreaper = hasSubreaper;
  }

  /**
   * Starts it in a session of its own, on /dev/null and the log, with none of our other descriptors.
   *
   * @param ownsProcess this process opens the session and ends: it may become the one that orphans come to, so that a launcher
   *   that puts itself into the background is still found. A host program's own orphans must not be touched: there, false.
   * @throws {HoldfastError} `LAUNCH_FAILED`.
   */
  static async start(command: LaunchCommand, directory: string, logFd: number, ownsProcess: boolean): Promise<Launcher> {
    if (ownsProcess) setSubreaper();
    // What our own caller left open would be inherited: a pipe that it waits for would never end.
    closeOnExecFrom(3);
    const [program = '', ...args] = command.argv;
    const child = spawn(program, args, { cwd: directory, env: command.env, detached: true, stdio: ['ignore', logFd, logFd] });
    const { pid } = child;
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => reject(unstartable(program, directory, error)));
    });
    if (pid === undefined) throw new HoldfastError('LAUNCH_FAILED', `the launcher '${program}' could not be started`);
    return new Launcher(child, pid, ownsProcess);
  }

  /** `undefined`: it runs. */
  get end(): LauncherEnd | undefined {
    const { exitCode: code, signalCode: signal } = this.#child;
    return code === null && signal === null ? undefined : { code, signal };
  }

  onEnd(listener: () => void): void {
    this.#child.once('exit', listener);
  }

  /** Everything alive that came of it, whatever session or group it moved to. */
  living(): ProcessFacts[] {
    if (this.#hasSubreaper) return descendantsOf(process.pid);
    const found = new Map(descendantsOf(this.pid).map((process) => [process.pid, process]));
    // Without a subreaper orphans are lost from sight, but for those that stayed in the launcher's session.
    for (const process of livingProcesses()) if (process.pid === this.pid || process.sid === this.pid) found.set(process.pid, process);
    return [...found.values()];
  }

  isAlive(): boolean {
    return this.end === undefined && isAlive(this.pid);
  }

  /** Ends all of it; returns when it is gone. */
  async undo(graceMs: number): Promise<void> {
    await endAll(() => this.living(), graceMs);
  }

  /** From now on it neither keeps this process alive nor matters to it. */
  letGo(): void {
    this.#child.unref();
  }
}

function unstartable(program: string, directory: string, error: NodeJS.ErrnoException): HoldfastError {
  // Node says ENOENT, and blames the program, when it is the directory that is missing.
  if (!existsSync(directory)) {
    return new HoldfastError('LAUNCH_FAILED', `cannot start the launcher '${program}': its directory '${directory}' is missing`, {
      hint: 'make it, or open the session from another one',
      cause: error,
    });
  }
  const isMissing = error.code === 'ENOENT';
  return new HoldfastError('LAUNCH_FAILED', `cannot start the launcher '${program}': ${isMissing ? 'not found on PATH' : error.code}`, {
    hint: isMissing ? 'install it, or name it by its path' : `try it by hand in '${directory}'`,
    cause: error,
  });
}
