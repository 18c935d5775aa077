// The opener's end of sd_notify(3): a datagram socket (ID.notify) on which the agent says that it serves, or why it cannot.

import { rmSync } from 'node:fs';

import { closeFd } from '../native/descriptors.js';
import { unwatch, watch } from '../native/poll.js';
import { bindDatagram, receiveDatagram } from '../native/sockets.js';

/** What one datagram says. */
export interface Notice {
  /** It serves, and this is its pid. */
  readonly readyPid?: number;
  /** It cannot, and this is why. */
  readonly failure?: string;
  readonly status?: string;
}

export function parseNotice(datagram: string): Notice {
  const fields = new Map<string, string>();
  for (const line of datagram.split('\n')) {
    const equals = line.indexOf('=');
    if (equals > 0) fields.set(line.slice(0, equals), line.slice(equals + 1));
  }
  const pid = Number(fields.get('MAINPID'));
  const failure = fields.get('HOLDFAST_ERROR');
  const status = fields.get('STATUS');
  return {
    ...(fields.get('READY') === '1' && Number.isInteger(pid) && pid > 0 ? { readyPid: pid } : {}),
    ...(failure === undefined ? {} : { failure }),
    ...(status === undefined ? {} : { status }),
  };
}

/** Owns the socket; close() it. */
export class ReadinessSocket {
  readonly #fd: number;
  readonly #onNotice: (notice: Notice) => void;
  #open = true;

  /** @param path short enough for an address. What a killed opener left there is replaced: the caller holds the session's lock. */
  constructor(path: string, onNotice: (notice: Notice) => void) {
    rmSync(path, { force: true });
    this.#onNotice = onNotice;
    this.#fd = bindDatagram(path);
    watch(this.#fd, { readable: true }, () => this.drain());
  }

  /** Hands out what has arrived. To be called before concluding from anything else that nothing did. */
  drain(): void {
    while (this.#open) {
      const datagram = receiveDatagram(this.#fd);
      if (datagram === undefined) return;
      this.#onNotice(parseNotice(datagram.toString('utf8')));
    }
  }

  /** The file is its owner's to remove. A second call does nothing. */
  close(): void {
    if (!this.#open) return;
    this.#open = false;
    unwatch(this.#fd);
    closeFd(this.#fd);
  }
}
