// What a request meets when the environment is out of date: `on_stale`.

import { RefusalCode } from '../protocol/numbers.js';
import { type Change, changesText } from '../session/freshness.js';

export type StaleVerdict =
  | { readonly kind: 'serve' }
  /** Serve it, and let the user know. */
  | { readonly kind: 'tell'; readonly message: string; readonly hint: string }
  | { readonly kind: 'refuse'; readonly code: RefusalCode; readonly message: string; readonly hint: string };

/** What is worth a look only once the environment is found to be out of date. */
export interface Asker {
  /** A command that runs in this session asks for another: what began in an environment goes on in it. */
  isInside(): boolean;
  /** A person reads its standard error. */
  isSeen(): boolean;
}

const SERVE: StaleVerdict = { kind: 'serve' };

export class StalePolicy {
  readonly #name: string;
  readonly #onStale: string;
  /** Of these the user has been told. */
  #told: readonly Change[] | undefined;
  #seen = false;

  constructor(name: string, onStale: string) {
    this.#name = name;
    this.#onStale = onStale;
  }

  judge(changes: readonly Change[], asker: Asker): StaleVerdict {
    if (changes.length === 0 || asker.isInside()) return SERVE;
    const what = `${changesText(changes)} since it was entered`;
    const hint = `'holdfast reopen ${this.#name}' enters it again`;
    switch (this.#onStale) {
      case 'reopen':
        return { kind: 'refuse', code: RefusalCode.REOPEN, message: `it is stale: ${what}`, hint };
      case 'refuse':
        return { kind: 'refuse', code: RefusalCode.STALE, message: `it is stale: ${what}`, hint };
      default:
        return this.#isToBeTold(changes, asker) ? { kind: 'tell', message: `session '${this.#name}' is stale: ${what}`, hint } : SERVE;
    }
  }

  /** Once for each set of changes, to whoever comes first; and once more where that was not a person, to the first person. */
  #isToBeTold(changes: readonly Change[], asker: Asker): boolean {
    if (this.#told !== changes) {
      this.#told = changes;
      this.#seen = asker.isSeen();
      return true;
    }
    if (this.#seen || !asker.isSeen()) return false;
    this.#seen = true;
    return true;
  }
}
