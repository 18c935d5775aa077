// A program on a fresh controlling terminal, for what only a terminal shows: isatty, SIGWINCH, Ctrl-C, raw mode, job control.
//
// Node 20 and 22 lose the tail of a pseudo-terminal whose last slave is closed (libuv #4992), so a slave is held open until the
// program has ended and its output is read. node-pty's master is not close-on-exec: children of the same test inherit it.

import { closeSync, constants, openSync } from 'node:fs';
import { spawn } from 'node-pty';
import { eventually } from './eventually.js';

export interface TerminalOptions {
  env: Record<string, string>;
  cwd?: string;
  columns?: number;
  rows?: number;
}

export class Terminal {
  readonly pid: number;
  readonly exited: Promise<{ code: number; signal: number }>;
  readonly #pty: ReturnType<typeof spawn>;
  readonly #ptsName: string;
  #heldSlave: number;
  #text = '';

  constructor(argv: readonly [string, ...string[]], options: TerminalOptions) {
    const [program, ...args] = argv;
    const pty = spawn(program, args, {
      name: options.env.TERM ?? 'xterm-256color',
      cols: options.columns ?? 80,
      rows: options.rows ?? 24,
      env: options.env,
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
    // In the object, but not in its type.
    if (!('ptsName' in pty) || typeof pty.ptsName !== 'string') throw new Error('node-pty no longer tells the name of its terminal');
    this.#pty = pty;
    this.#ptsName = pty.ptsName;
    this.#heldSlave = openSync(this.#ptsName, constants.O_RDWR | constants.O_NOCTTY);
    this.pid = pty.pid;
    pty.onData((text) => {
      this.#text += text;
    });
    this.exited = new Promise((resolve) => pty.onExit(({ exitCode, signal }) => resolve({ code: exitCode, signal: signal ?? 0 })));
  }

  /** The terminal's device. */
  get device(): string {
    return this.#ptsName;
  }

  /** All that was written to it so far, echo included. */
  get text(): string {
    return this.#text;
  }

  /** Types. '\x03' is Ctrl-C, '\x1a' Ctrl-Z. */
  type(text: string): void {
    this.#pty.write(text);
  }

  resize(columns: number, rows: number): void {
    this.#pty.resize(columns, rows);
  }

  async sees(text: string | RegExp, withinMs = 10_000): Promise<void> {
    await eventually(() => {
      const found = typeof text === 'string' ? this.#text.includes(text) : text.test(this.#text);
      if (!found) throw new Error(`no ${text} on the terminal: ${JSON.stringify(this.#text)}`);
    }, withinMs);
  }

  /** Hangs the terminal up: the program gets SIGHUP as it would when a window is closed. Safe to call again. */
  close(): void {
    if (this.#heldSlave === -1) return;
    closeSync(this.#heldSlave);
    this.#heldSlave = -1;
    this.#pty.kill('SIGHUP');
  }

  /** Waits for the program's end, closes the terminal and tells how it ended. */
  async ended(): Promise<{ code: number; signal: number; text: string }> {
    // With the slave held, the exit is told by the child's own end; what it wrote is read by then.
    const end = await this.exited;
    this.close();
    return { ...end, text: this.#text };
  }
}
