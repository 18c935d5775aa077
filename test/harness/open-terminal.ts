// A pseudo-terminal with no program on it, made by node-pty: for what is run on it by other means.

import { closeSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import * as nodePty from 'node-pty';
import { eventually } from './eventually.js';

export class OpenTerminal {
  /** Of the side that programs get. */
  readonly path: string;
  /** A descriptor of it, which also keeps the terminal from ending before its output is read. */
  readonly slave: number;
  readonly #master: ReadStream;
  #text = '';

  constructor() {
    // node-pty exports its native part, and its types do not say so.
    const native: { open(columns: number, rows: number): { master: number; slave: number; pty: string } } = Reflect.get(nodePty, 'native');
    const { master, slave, pty } = native.open(80, 24);
    this.path = pty;
    this.slave = slave;
    this.#master = new ReadStream(master);
    this.#master.on('data', (bytes: Buffer) => {
      this.#text += bytes.toString();
    });
  }

  /** All that was written to it so far, echo included. */
  get text(): string {
    return this.#text;
  }

  /** '\x03' is Ctrl-C. */
  type(text: string): void {
    // In its type a stream to read from, in fact one to write to as well.
    Reflect.apply(Reflect.get(this.#master, 'write'), this.#master, [text]);
  }

  async sees(text: RegExp, withinMs = 30_000): Promise<void> {
    await eventually(() => {
      if (!text.test(this.#text)) throw new Error(`no ${text} on the terminal: ${JSON.stringify(this.#text)}`);
    }, withinMs);
  }

  close(): void {
    this.#master.destroy();
    closeSync(this.slave);
  }
}
