// Where benchmarks run: a scratch folder, one held session in it, and the timer.

import { execFile } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { SpawnTimer } from './spawn_timer.js';

const run = promisify(execFile);
const root = dirname(dirname(fileURLToPath(import.meta.url)));

export const SESSION = 'bench';

export class Place {
  readonly scratch: string = realpathSync(mkdtempSync(join(tmpdir(), 'hfb-')));
  readonly runnerExec: string = join(root, 'dist/runner-exec');
  readonly holdfast: string = join(root, 'dist/holdfast.cjs');
  readonly library: string = join(root, 'dist/index.js');
  /** For everything that is timed. Small on purpose: a caller's environment is copied at each exec. */
  readonly env: Record<string, string> = {
    PATH: `${dirname(process.execPath)}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin`,
    HOME: this.scratch,
    HOLDFAST_RUNTIME_DIR: join(this.scratch, 'run'),
  };

  async open(): Promise<void> {
    const launcher = join(this.scratch, 'enter.sh');
    writeFileSync(launcher, 'export HELD=yes\nexec "$@"\n');
    await run(this.holdfast, ['open', SESSION, '--', 'bash', launcher], { env: this.env });
  }

  async close(): Promise<void> {
    try {
      await run(this.holdfast, ['close', '--all'], { env: this.env });
    } finally {
      rmSync(this.scratch, { recursive: true, force: true });
    }
  }

  async agentPid(): Promise<number> {
    const { stdout } = await run(this.holdfast, ['status', SESSION, '--json'], { env: this.env });
    return JSON.parse(stdout).pid;
  }

  /** A timer whose programs also get `more` in their environment. */
  timer(more: Record<string, string> = {}): SpawnTimer {
    return new SpawnTimer(this.scratch, { ...this.env, ...more });
  }

  held(...command: string[]): string[] {
    return [this.runnerExec, '--session', SESSION, '--', ...command];
  }
}
