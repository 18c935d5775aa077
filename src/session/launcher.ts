// The launcher's process and everything that descends from it, from its start until the session serves or must be undone.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

import { HoldfastError } from '../errors.js';
import { setSubreaper } from '../native/processes.js';
import { descendantsOf, endAll, isAlive, livingProcesses, type ProcessFacts } from '../process-tree.js';
import { startBare } from './bare-start.js';
import type { LaunchCommand } from './launch-command.js';

export interface LauncherEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface LauncherOptions {
  /**
   * This process opens the session and ends: it may become the one that orphans come to, so that a launcher that puts itself into the
   * background is still found. A host program's own orphans must not be touched: there, false.
   */
  readonly ownsProcess: boolean;
  /** A child of ours that is not the launcher's, with all that descends from it. */
  readonly apart?: number;
}

export class Launcher {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #hasSubreaper: boolean;
  readonly #apart: number | undefined;

  private constructor(child: ChildProcess, pid: number, { ownsProcess, apart }: LauncherOptions) {
    this.#child = child;
    this.pid = pid;
    this.#hasSubreaper = ownsProcess;
    this.#apart = apart;
  }

  /**
   * Starts it in a session of its own, on /dev/null and the log, with none of our other descriptors.
   *
   * @throws {HoldfastError} `LAUNCH_FAILED`.
   */
  static async start(command: LaunchCommand, directory: string, logFd: number, options: LauncherOptions): Promise<Launcher> {
    if (options.ownsProcess) setSubreaper();
    const [program = '', ...args] = command.argv;
    const start = (): ChildProcess =>
      spawn(program, args, { cwd: directory, env: command.env, detached: true, stdio: ['ignore', logFd, logFd] });
    const child = startBare(start);
    const { pid } = child;
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => reject(unstartable(program, directory, error)));
    });
    if (pid === undefined) throw new HoldfastError('LAUNCH_FAILED', `the launcher '${program}' could not be started`);
    return new Launcher(child, pid, options);
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
    if (this.#hasSubreaper) return this.#ours(descendantsOf(process.pid));
    const found = new Map(descendantsOf(this.pid).map((process) => [process.pid, process]));
    // Without a subreaper orphans are lost from sight, but for those that stayed in the launcher's session.
    for (const process of livingProcesses()) if (process.pid === this.pid || process.sid === this.pid) found.set(process.pid, process);
    return [...found.values()];
  }

  #ours(found: readonly ProcessFacts[]): ProcessFacts[] {
    if (this.#apart === undefined) return [...found];
    const others = new Set([this.#apart, ...descendantsOf(this.#apart).map(({ pid }) => pid)]);
    return found.filter(({ pid }) => !others.has(pid));
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
  const { reason, hint } = reasonOf(program, directory, error.code);
  return new HoldfastError('LAUNCH_FAILED', `cannot start the launcher '${program}': ${reason}`, { hint, cause: error });
}

function reasonOf(program: string, directory: string, code: string | undefined): { reason: string; hint: string } {
  if (code !== 'ENOENT') return { reason: String(code), hint: `try it by hand in '${directory}'` };
  if (!program.includes('/')) return { reason: 'not found on PATH', hint: 'install it, or name it by its path' };
  const path = resolve(directory, program);
  if (existsSync(path))
    return { reason: 'the interpreter that its first line names is missing', hint: 'install that, or correct the line' };
  return { reason: 'no such file', hint: program.startsWith('/') ? 'correct the path' : `the path is taken from '${directory}'` };
}
