// What a wrapper has started elsewhere, out of reach of signals and containment: found and ended by the marker in its environment, by
// a script through the same wrapper, by a command of the user's own, or, where neither works, by the script on this host. DESIGN section 4.

import { constants } from 'node:os';
import { packStrings } from '../protocol/strings.js';
import { wrapScript } from '../wrap/command.js';
import type { WrapDefinition } from '../wrap/definition.js';
import { endWords, FAR_DONE, FAR_LEFT, FAR_NONE, FAR_SCRIPT, signalWords } from '../wrap/far-script.js';
import type { Errands, WrapperPlace } from './errands.js';

/** A wrapper needs its time to get there: above the grace, and above what the script itself takes. */
const ROUND_TRIP_MS = 6_000;
/** A wrapper that was started so long ago has started its command by now, or never will. */
const YOUNG_MS = 5_000;
const PATIENCE_MS = 2_000;

/** What the far side made of it. */
export type FarAnswer = 'done' | 'nobody' | 'left' | 'unreachable';

const NAME_OF_SIGNAL = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name.slice(3)]));

export class FarSide {
  readonly #wrap: WrapDefinition;
  readonly #errands: Errands;
  readonly #place: WrapperPlace;
  readonly #marker: string;
  readonly #startedAt = performance.now();
  /** One after another: signals arrive in the order in which they were sent. */
  #last: Promise<unknown> = Promise.resolve();

  /** @param marker all of HOLDFAST_RUN's value, or what it begins with. */
  constructor(wrap: WrapDefinition, errands: Errands, place: WrapperPlace, marker: string) {
    this.#wrap = wrap;
    this.#errands = errands;
    this.#place = place;
    this.#marker = marker;
  }

  /** To the group of the command itself, once. */
  signal(number: number): Promise<FarAnswer> {
    const name = NAME_OF_SIGNAL.get(number);
    if (name === undefined) return Promise.resolve('nobody');
    const { kill } = this.#wrap;
    // One that knows of no signals would end the command.
    if (kill !== undefined && !kill.some((word) => word.includes('{signal}'))) return Promise.resolve('nobody');
    return this.#inTurn(() => {
      if (kill !== undefined) return this.#askKill(kill, name, 0);
      // Where the wrapper alone got it, and its command came to life all the same, nobody would be left to end that.
      const patienceMs = this.#patienceMs();
      return this.#ask(signalWords(this.#marker, name, patienceMs), patienceMs);
    });
  }

  /** TERM to all of it, KILL when the grace is over. Bounded in time. */
  end(graceMs: number): Promise<FarAnswer> {
    const { kill } = this.#wrap;
    const patienceMs = this.#patienceMs();
    return this.#inTurn(() =>
      kill === undefined ? this.#ask(endWords(this.#marker, graceMs, patienceMs), graceMs + patienceMs) : this.#endByKill(kill, graceMs),
    );
  }

  #patienceMs(): number {
    return performance.now() - this.#startedAt < YOUNG_MS ? PATIENCE_MS : 0;
  }

  /** All of a session: also what commands have left running. @param file of the inside, to be removed. */
  sweep(graceMs: number, file: string): Promise<FarAnswer> {
    if (this.#wrap.kill !== undefined && file === '') return this.#endByKill(this.#wrap.kill, graceMs);
    return this.#ask(endWords(this.#marker, graceMs, 0, file), graceMs);
  }

  #inTurn(act: () => Promise<FarAnswer>): Promise<FarAnswer> {
    const turn = this.#last.then(act);
    this.#last = turn;
    return turn;
  }

  async #ask(words: readonly string[], extraMs: number): Promise<FarAnswer> {
    const there = answerOf(
      await this.#errands.run(packLatin1(wrapScript(this.#wrap, FAR_SCRIPT, words)), this.#place, extraMs + ROUND_TRIP_MS),
    );
    if (there !== 'unreachable') return there;
    // The way in is broken. What it led to may be processes of this machine all the same.
    const here = answerOf(
      await this.#errands.run(packLatin1(['/bin/sh', '-c', FAR_SCRIPT, 'sh', ...words]), this.#place, extraMs + ROUND_TRIP_MS),
    );
    return here === 'nobody' ? 'unreachable' : here;
  }

  async #endByKill(kill: readonly string[], graceMs: number): Promise<FarAnswer> {
    const gentle = await this.#askKill(kill, 'TERM', graceMs);
    if (!kill.some((word) => word.includes('{signal}'))) return gentle;
    await new Promise((resolve) => setTimeout(resolve, graceMs));
    return await this.#askKill(kill, 'KILL', 0);
  }

  async #askKill(kill: readonly string[], signal: string, graceMs: number): Promise<FarAnswer> {
    const words = packLatin1(killWords(kill, this.#marker, signal, graceMs));
    return (await this.#errands.run(words, this.#place, graceMs + ROUND_TRIP_MS)) === 0 ? 'done' : 'unreachable';
  }
}

/** A command of the user's own that ends what carries the marker. */
export function killWords(kill: readonly string[], marker: string, signal: string, graceMs: number): string[] {
  const values: Readonly<Record<string, string>> = { marker, signal, grace: String(graceMs / 1000) };
  return kill.map((word) => word.replace(/\{(marker|signal|grace)\}/g, (whole, name: string) => values[name] ?? whole));
}

export function packLatin1(words: readonly string[]): ReturnType<typeof packStrings> {
  return packStrings(words.map((word) => Buffer.from(word, 'latin1')));
}

function answerOf(exitCode: number): FarAnswer {
  switch (exitCode) {
    case FAR_DONE:
      return 'done';
    case FAR_NONE:
      return 'nobody';
    case FAR_LEFT:
      return 'left';
    default:
      return 'unreachable';
  }
}
