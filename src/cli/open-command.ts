// What `holdfast open` does: which session is meant, its entry with a line of progress, and how an interruption ends.

import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';

import { chooseSession } from '../config/choose.js';
import { HoldfastError } from '../errors.js';
import type { SessionDefinition } from '../session/definition.js';
import { Interrupted } from './ending.js';
import { settingsFromFlags } from './flag-settings.js';
import { stayUntilEnd } from './foreground.js';
import type { OpenFlags } from './open.js';
import { ProgressLine, printable } from './progress.js';
import { openFresh } from './stale.js';

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

export async function openCommand(name: string | undefined, flags: OpenFlags, launcher: readonly string[]): Promise<void> {
  refuseBytesThatAreNoText();
  const definition = chooseSession({
    name,
    config: flags.config,
    project: flags.project,
    settings: settingsFromFlags({ ...flags }, launcher),
  });
  refuseUnbuilt(definition);
  const interruption = new Interruption();
  const progress = new ProgressLine(process.stderr, definition.name);
  try {
    const { pid } = await openFresh(definition, {
      progress: (line) => progress.say(line),
      warn: (message) => progress.interrupt(`holdfast: ${printable(message)}\n`),
      signal: interruption.signal,
    });
    progress.end();
    if (flags.foreground) await stayUntilEnd(definition.name, pid, interruption.signal);
  } catch (error) {
    if (interruption.number !== undefined) throw new Interrupted(interruption.number);
    throw error;
  } finally {
    progress.end();
    interruption.end();
  }
}

/** Declared as they will be, and not there yet: entering something else in their name would be worse. */
function refuseUnbuilt({ name, mode }: SessionDefinition): void {
  if (mode !== 'wrap') return;
  throw new HoldfastError('UNSUPPORTED', `session '${name}' has mode "${mode}", which this version cannot open`, {
    hint: 'mode "session" enters what a launcher enters',
  });
}

/** Node reads its arguments as UTF-8: other bytes are lost before we see them, so they are refused rather than changed. */
function refuseBytesThatAreNoText(): void {
  if (!process.argv.some((word) => word.includes('\ufffd')) || isUtf8(readFileSync('/proc/self/cmdline'))) return;
  throw new HoldfastError('USAGE', 'an argument is not UTF-8', {
    hint: 'a launcher can be put into a script; a project needs a directory whose name is UTF-8',
  });
}

/** The first stop signal, remembered and made an abort; later ones change nothing, since the undoing is under way. */
class Interruption {
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
