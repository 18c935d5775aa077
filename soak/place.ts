// Where the soak runs: a scratch directory with a copy of the product, so that a build meanwhile changes nothing, and with the programs
// in C. Everything that the soak starts carries the directory's path in its arguments, by which it is found again.

import { execFile, execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findProcess, type ProcessSeen } from '../test/harness/processes.js';

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const COMMAND_MS = 120_000;

export class Place {
  readonly scratch: string = realpathSync(mkdtempSync(join(tmpdir(), 'hfs-')));
  readonly runnerExec: string = join(this.scratch, 'product/dist/runner-exec');
  readonly holdfast: string = join(this.scratch, 'product/dist/holdfast.cjs');
  readonly family: string = join(this.scratch, 'family');
  readonly driver: string = join(this.scratch, 'driver');
  /** Stays beside the agent as its parent, as a real environment's entry may. */
  readonly launcher: string = join(this.scratch, 'launcher.sh');

  constructor() {
    for (const part of ['dist', 'share', 'package.json'])
      cpSync(join(root, part), join(this.scratch, 'product', part), { recursive: true });
    for (const program of ['family', 'driver'])
      execFileSync('cc', ['-std=c11', '-O2', '-Wall', '-o', join(this.scratch, program), join(here, `${program}.c`)]);
    writeFileSync(this.launcher, 'export HELD=yes\n"$@"\nexit\n');
    mkdirSync(join(this.scratch, 'tmp'));
  }

  runtimeDirectory(lane: string): string {
    return join(this.scratch, `run-${lane}`);
  }

  env(lane: string): Record<string, string> {
    return {
      PATH: `${dirname(process.execPath)}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
      HOME: this.scratch,
      TMPDIR: join(this.scratch, 'tmp'),
      HOLDFAST_RUNTIME_DIR: this.runtimeDirectory(lane),
    };
  }

  /** Runs a program to its end. Never throws for its status. */
  async run(lane: string, argv: readonly string[]): Promise<{ code: number | string; stdout: string; stderr: string }> {
    const [program = '', ...args] = argv;
    return await new Promise((resolve) => {
      execFile(program, args, { env: this.env(lane), cwd: '/', timeout: COMMAND_MS, killSignal: 'SIGKILL' }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : (error.code ?? error.signal ?? 'unknown'), stdout, stderr });
      });
    });
  }

  async cli(lane: string, ...args: string[]): Promise<{ code: number | string; stdout: string; stderr: string }> {
    return await this.run(lane, [process.execPath, this.holdfast, ...args]);
  }

  /** Live processes that carry `mark`, and the scratch directory's path, in their arguments. */
  marked(mark = ''): ProcessSeen[] {
    return readdirSync('/proc').flatMap((name) => {
      if (!/^\d+$/.test(name)) return [];
      try {
        const words = readFileSync(`/proc/${name}/cmdline`, 'latin1');
        if (!words.includes(this.scratch) || !words.includes(mark)) return [];
      } catch {
        return [];
      }
      const seen = findProcess(Number(name));
      return seen === undefined || seen.state === 'Z' || seen.state === 'X' ? [] : [seen];
    });
  }

  /** Ends what is left of everything, for after a failure. Guards end by themselves, and take the cgroups of their agents with them. */
  endMarked(mark = ''): void {
    for (const { pid, command } of this.marked(mark)) if (!command.includes(' __guard ')) strike(pid, 'SIGKILL');
  }

  remove(): void {
    this.endMarked();
    rmSync(this.scratch, { recursive: true, force: true });
  }
}

/** False: nobody is there any more. */
export function strike(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

export function residentMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}
