// A program that a test has started: its input, its output as it comes, its end.
//
// Node's 'pipe' is a socket pair, which differs from a pipe where it matters to some tests (`/dev/stdout` cannot be opened again).
// Those hand in descriptors of real files or pipes by number, or let a shell make the pipe.

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { eventually } from './eventually.js';

export interface RunOptions {
  /** Bytes to be read, then the end; 'open': stays open, see `write`; a number: that descriptor of ours. Default: /dev/null. */
  stdin?: Buffer | string | 'ignore' | 'open' | number;
  /** Default: captured. A number: that descriptor of ours. */
  stdout?: 'capture' | 'ignore' | number;
  stderr?: 'capture' | 'ignore' | number;
  /** Further descriptors: number in the child → our descriptor. */
  fds?: Record<number, number>;
  /** Added to the harness's environment; `undefined` takes a variable out. */
  env?: Record<string, string | undefined>;
  cwd?: string;
  argv0?: string;
  /** In a session of its own. */
  detached?: boolean;
}

export interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: Buffer;
  stderr: Buffer;
}

export class Running {
  /** Resolves when the program has ended and nobody holds its output any more. */
  readonly ended: Promise<Ended>;
  /** Resolves when the program itself has ended, whoever still holds its output. */
  readonly exited: Promise<Pick<Ended, 'code' | 'signal'>>;
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #out: Buffer[] = [];
  readonly #err: Buffer[] = [];

  constructor(argv: readonly [string, ...string[]], env: Record<string, string>, options: RunOptions) {
    const [program, ...args] = argv;
    const child = spawn(program, args, spawnOptions(env, options));
    this.#child = child;
    child.stdout?.on('data', (bytes: Buffer) => this.#out.push(bytes));
    child.stderr?.on('data', (bytes: Buffer) => this.#err.push(bytes));
    // A program may end without reading all: that is for the test to judge, not for the stream.
    child.stdin?.on('error', () => {});
    const { stdin } = options;
    if (Buffer.isBuffer(stdin) || (typeof stdin === 'string' && stdin !== 'open' && stdin !== 'ignore')) child.stdin?.end(stdin);

    this.exited = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    this.ended = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve({ code, signal, stdout: this.stdout, stderr: this.stderr }));
    });
    // Whoever awaits one of the two need not await the other.
    this.exited.catch(() => {});
    this.ended.catch(() => {});
    this.pid = child.pid ?? -1;
  }

  /** What has come so far. */
  get stdout(): Buffer {
    return Buffer.concat(this.#out);
  }

  get stderr(): Buffer {
    return Buffer.concat(this.#err);
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  write(bytes: Buffer | string): void {
    this.#child.stdin?.write(bytes);
  }

  endInput(): void {
    this.#child.stdin?.end();
  }

  /** Stops reading: closes our ends of its output. */
  closeOutput(): void {
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  /** Waits for a line of output that is `line`, or matches it. Fails at once when the program ends without. */
  async outputLine(line: string | RegExp, withinMs = 10_000): Promise<string> {
    return await this.#line(() => this.stdout, line, withinMs);
  }

  async errorLine(line: string | RegExp, withinMs = 10_000): Promise<string> {
    return await this.#line(() => this.stderr, line, withinMs);
  }

  async #line(text: () => Buffer, line: string | RegExp, withinMs: number): Promise<string> {
    let over = false;
    void this.ended.finally(() => {
      over = true;
    });
    const found = await eventually(() => {
      const wasOver = over;
      const lines = text().toString().split('\n').slice(0, -1);
      const match = lines.find((each) => (typeof line === 'string' ? each === line : line.test(each)));
      if (match !== undefined) return { match };
      if (wasOver) return { match: undefined };
      throw new Error(`no line ${line} in ${JSON.stringify(text().toString())}`);
    }, withinMs);
    if (found.match === undefined) {
      throw new Error(
        `ended without a line ${line}; stdout ${JSON.stringify(`${this.stdout}`)}, stderr ${JSON.stringify(`${this.stderr}`)}`,
      );
    }
    return found.match;
  }
}

function spawnOptions(env: Record<string, string>, options: RunOptions): SpawnOptions {
  const { stdin = 'ignore', stdout = 'capture', stderr = 'capture', fds = {} } = options;
  const stdio: ('ignore' | 'pipe' | number)[] = [
    typeof stdin === 'number' || stdin === 'ignore' ? stdin : 'pipe',
    stdout === 'capture' ? 'pipe' : stdout,
    stderr === 'capture' ? 'pipe' : stderr,
  ];
  for (const [number, fd] of Object.entries(fds)) {
    // A hole in the list would move the next one down.
    while (stdio.length < Number(number)) stdio.push('ignore');
    stdio[Number(number)] = fd;
  }
  const merged = Object.entries({ ...env, ...options.env }).filter(([, value]) => value !== undefined);
  return {
    stdio,
    env: Object.fromEntries(merged),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.argv0 === undefined ? {} : { argv0: options.argv0 }),
    ...(options.detached === undefined ? {} : { detached: options.detached }),
  };
}
