// One client of the faults: runner-exec on a family (family.c), seen from outside. Not the tests' Running, which looks every 10 ms:
// here the instant counts.

import { type ChildProcess, spawn } from 'node:child_process';

/** runner-exec's own status, which comes with a line on stderr. */
const OURS = 125;
const LAST_WORDS_MS = 5_000;

export interface Ended {
  /** "7", "125", "SIGKILL" … */
  how: string;
  stderr: string;
}

export class Client {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  readonly #pids = new Map<string, number>();
  readonly #waiting = new Map<string, () => void>();
  #text = '';
  #stderr = '';
  #hasEnded = false;

  constructor(argv: readonly string[], env: Record<string, string>) {
    const [program = '', ...args] = argv;
    const child = spawn(program, args, { env, stdio: 'pipe', cwd: '/' });
    this.#child = child;
    this.pid = child.pid ?? -1;
    child.stdout.on('data', (bytes: Buffer) => this.#read(bytes));
    child.stderr.on('data', (bytes: Buffer) => {
      this.#stderr += bytes;
    });
    child.stdin.on('error', () => {});
    this.ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      // Not its 'close': what a killed client leaves running holds its output.
      child.once('exit', (code, signal) => {
        this.#hasEnded = true;
        for (const wake of this.#waiting.values()) wake();
        const tell = (): void => resolve({ how: String(code ?? signal), stderr: this.#stderr });
        // Its last words may be in the pipe still, whose end never comes while somebody else holds it.
        if (this.#stderr !== '' || code !== OURS) setImmediate(tell);
        else {
          child.stderr.once('data', () => setImmediate(tell));
          setTimeout(tell, LAST_WORDS_MS).unref();
        }
      });
    });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get stderr(): string {
    return this.#stderr;
  }

  pidOf(kind: string): number | undefined {
    return this.#pids.get(kind);
  }

  /** Everybody that the family has named, the target first. */
  get family(): [kind: string, pid: number][] {
    return [...this.#pids].filter(([kind]) => kind !== 'ready');
  }

  /** Resolves with the word, or with the client's end. */
  async said(kind: string): Promise<void> {
    if (this.#pids.has(kind) || this.#hasEnded) return;
    await new Promise<void>((resolve) => this.#waiting.set(kind, resolve));
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  endInput(): void {
    this.#child.stdin?.end();
  }

  /** Lets go of its pipes. */
  close(): void {
    this.#child.stdin?.destroy();
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  #read(bytes: Buffer): void {
    this.#text += bytes;
    const lines = this.#text.split('\n');
    this.#text = lines.pop() ?? '';
    for (const line of lines) {
      const [kind = '', pid] = line.trim().split(' ');
      this.#pids.set(kind, Number(pid));
      this.#waiting.get(kind)?.();
    }
  }
}
