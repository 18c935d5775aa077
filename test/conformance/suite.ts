// Runs scenes in columns and judges what they show; for main.ts and for the e2e test.

import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Column, LAUNCHER, ownColumns } from './columns.js';
import { readDifferences } from './differences.js';
import { type Judgement, judge } from './judge.js';
import { type AbsentColumn, type Observation, parseLine } from './observation.js';

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(dirname(here));

export interface Results extends Judgement {
  columns: readonly Column[];
  observations: readonly Observation[];
  absent: readonly AbsentColumn[];
}

export class Suite {
  /** Seen by every program under the same name: a container needs it mounted. */
  readonly scratch: string;
  readonly #isOurs: boolean;
  readonly columns: Column[];

  constructor(scratch?: string) {
    this.#isOurs = scratch === undefined;
    this.scratch = realpathSync(scratch ?? mkdtempSync(join(tmpdir(), 'hfc-')));
    // Peers that run as somebody else must get to the probe.
    chmodSync(this.scratch, 0o755);
    mkdirSync(join(this.scratch, 'run'), { mode: 0o700, recursive: true });
    writeFileSync(join(this.scratch, 'launch.bash'), LAUNCHER);
    compile(join(here, 'probe.c'), join(this.scratch, 'probe'));
    const programs = {
      runnerExec: join(root, 'dist/runner-exec'),
      holdfast: join(root, 'dist/holdfast.cjs'),
      libraryRunner: join(here, 'library-runner.mjs'),
    };
    this.columns = ownColumns(programs, this.scratch);
  }

  /** @param isWhole every scene is run, so that a difference that does not occur is stale. */
  async run(
    columns: readonly Column[],
    scenes: readonly string[],
    options: { isWhole: boolean; onColumn?: (name: string) => void },
  ): Promise<Results> {
    const all = [...new Set([...columns.flatMap(({ against }) => this.columns.filter(({ name }) => name === against)), ...columns])];
    const observations: Observation[] = [];
    const absent: AbsentColumn[] = [];
    let last = '';
    for await (const line of this.#play(all, scenes)) {
      const said = parseLine(line);
      if ('absent' in said) absent.push(said);
      else observations.push(said);
      if (said.column !== last) options.onColumn?.(said.column);
      last = said.column;
    }
    const differences = readDifferences(join(root, 'docs/differences.md'));
    return { columns: all, observations, absent, ...judge(all, observations, differences, options.isWhole) };
  }

  async *#play(columns: readonly Column[], scenes: readonly string[]): AsyncGenerator<string> {
    const own = { HOLDFAST_RUNTIME_DIR: join(this.scratch, 'run') };
    const work = { scratch: this.scratch, probe: join(this.scratch, 'probe'), columns, scenes, ownEnvironment: own };
    // Not the shim of a version manager, which is slow and changes the environment.
    const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';
    const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
    const child = spawn(python, [join(here, 'caller.py')], { stdio: ['pipe', 'pipe', 'inherit'], env });
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    child.stdin.end(JSON.stringify(work));
    yield* createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY });
    const code = await ended;
    if (code !== 0) throw new Error(`caller.py ended with ${code}`);
  }

  close(): void {
    if (this.#isOurs) rmSync(this.scratch, { recursive: true, force: true });
  }
}

/** Static where that can be had, so that it runs in a container that holds no C library. */
function compile(source: string, program: string): void {
  const flags = ['-std=c11', '-O1', '-Wall', '-Wextra', '-Werror', '-o', program, source];
  try {
    execFileSync('cc', ['-static', ...flags], { stdio: ['ignore', 'ignore', 'pipe'] });
  } catch {
    execFileSync('cc', flags, { stdio: ['ignore', 'ignore', 'inherit'] });
  }
}
