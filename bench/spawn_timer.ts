// Drives bench/spawn_timer.c: several programs, run in turns by one small C process, timed each.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quiet } from './quiet.js';

const BATCHES = 20;

export interface Timing {
  ms: number;
  /** CPU time of the program itself and of what it reaped. */
  cpuMs: number;
  /** What it wrote, when it was drained. */
  bytes: number;
}

export class SpawnTimer {
  readonly #program: string;
  readonly #env: Record<string, string>;

  /** Compiles the timer into `scratch`. Everything that it starts gets `env`. */
  constructor(scratch: string, env: Record<string, string>) {
    this.#program = join(scratch, 'spawn_timer');
    this.#env = env;
    execFileSync('cc', ['-std=c11', '-O2', '-o', this.#program, join(dirname(fileURLToPath(import.meta.url)), 'spawn_timer.c')]);
  }

  /**
   * Runs each of `programs` once a round, in shuffled order. In batches, each of which waits for a quiet machine and begins with a
   * round that does not count.
   */
  async run(programs: readonly (readonly string[])[], rounds: number, options: { drain?: boolean } = {}): Promise<Timing[][]> {
    const plan = programs.map((argv) => `${argv.map((word) => `${word}\0`).join('')}\0`).join('');
    const timings: Timing[][] = programs.map(() => []);
    const batches = Math.min(BATCHES, rounds);
    for (let batch = 0; batch < batches; batch++) {
      const size = Math.floor(((batch + 1) * rounds) / batches) - Math.floor((batch * rounds) / batches);
      await quiet();
      const lines = await this.#batch(plan, size + 1, options);
      for (const line of lines.slice(programs.length)) {
        const [index = 0, ns = 0, cpuMicros = 0, bytes = 0] = line.split(' ').map(Number);
        timings[index]?.push({ ms: ns / 1e6, cpuMs: cpuMicros / 1e3, bytes });
      }
    }
    return timings;
  }

  async #batch(plan: string, rounds: number, options: { drain?: boolean }): Promise<string[]> {
    const args = [String(rounds), ...(options.drain ? ['--drain'] : [])];
    const child = spawn(this.#program, args, { env: this.#env, stdio: ['pipe', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.on('data', (bytes: Buffer) => {
      text += bytes;
    });
    child.stdin.end(plan);
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error('the run broke off; why is said above');
    return text.trimEnd().split('\n');
  }
}
