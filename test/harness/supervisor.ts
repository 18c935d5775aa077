// Plays the supervisor (systemd) that a session tells about its readiness: receives sd_notify datagrams, through a library that
// shares no code with ours. Paths only: the library cannot do abstract addresses.

import { rmSync } from 'node:fs';
import { createSocket } from 'unix-dgram';
import { eventually } from './eventually.js';

export class Supervisor {
  /** What NOTIFY_SOCKET is to be. */
  readonly path: string;
  /** Every datagram so far. */
  readonly messages: string[] = [];
  readonly #socket: ReturnType<typeof createSocket>;

  constructor(path: string) {
    this.path = path;
    this.#socket = createSocket('unix_dgram', (bytes: Buffer) => this.messages.push(bytes.toString()));
    this.#socket.bind(path);
  }

  /** Waits for a datagram that has `line` among its lines. */
  async hears(line: string | RegExp, withinMs = 10_000): Promise<string> {
    return await eventually(() => {
      const lines = this.messages.flatMap((message) => message.split('\n'));
      const found = lines.find((each) => (typeof line === 'string' ? each === line : line.test(each)));
      if (found === undefined) throw new Error(`no ${line} in ${JSON.stringify(this.messages)}`);
      return found;
    }, withinMs);
  }

  close(): void {
    this.#socket.close();
    rmSync(this.path, { force: true });
  }
}
