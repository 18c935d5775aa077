// The stop signals while an environment is entered: the first is remembered and made an abort; later ones change nothing, since the
// undoing is under way.

import { constants } from 'node:os';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

export class Interruption {
  readonly #controller = new AbortController();
  number: number | undefined;

  readonly #onSignal = (signal: (typeof STOP_SIGNALS)[number]): void => {
    this.number ??= constants.signals[signal];
    this.#controller.abort();
  };

  constructor() {
    for (const signal of STOP_SIGNALS) process.on(signal, this.#onSignal);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(): void {
    for (const signal of STOP_SIGNALS) process.off(signal, this.#onSignal);
  }
}
