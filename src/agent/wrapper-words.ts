// A wrapper's words before those of its command. For most commands they are the same from one directory, and the command's own words
// follow as they came: then neither is taken apart.

import type { RunRequest } from '../protocol/run.js';
import type { StringList } from '../protocol/strings.js';
import { isPlain, wrapCommand } from '../wrap/command.js';
import { inheritsEnvironment, takesString, type WrapDefinition } from '../wrap/definition.js';
import type { InsideEnvironment } from '../wrap/environment.js';
import type { StartProof } from '../wrap/inside.js';
import { directoryOf } from './directory.js';
import { packLatin1 } from './far-side.js';

const DASH = 0x2d;
/** Not read: it stands for the command, and is taken off again. */
const ANY_COMMAND = ['command'];

/** What a wrapper that hands its environment on has to do about it. */
export const NO_CHANGES: InsideEnvironment = { exact: false, set: new Map(), unset: [], weak: new Map(), pathPrepend: [] };

export class WrapperWords {
  readonly #wrap: WrapDefinition;
  /** Nothing in them depends on the command. */
  readonly #areSteady: boolean;
  #last: { readonly cwd: Buffer; readonly fd: number; readonly words: StringList } | undefined;

  constructor(wrap: WrapDefinition) {
    this.#wrap = wrap;
    this.#areSteady =
      inheritsEnvironment(wrap) &&
      !takesString(wrap) &&
      !wrap.mapArgv &&
      wrap.textOnly !== true &&
      wrap.farSide !== 'marker' &&
      wrap.ttyOption.length === 0;
  }

  /** Those that stand before the command's own; `undefined`: all of them have to be made for this command. */
  before(run: RunRequest, told: StartProof | undefined): StringList | undefined {
    if (!this.#areSteady || run.program.length > 0 || (told !== undefined && told.kind !== 'status')) return undefined;
    if (run.argv.block[0] === DASH && this.#wrap.endOfOptions === undefined) return undefined;
    const { cwd } = run;
    const fd = told?.fd ?? -1;
    if (this.#last?.fd === fd && this.#last.cwd.equals(cwd)) return this.#last.words;
    const directory = directoryOf(cwd).text;
    if (!isPlain(this.#wrap, directory)) return undefined;
    const { argv } = wrapCommand(this.#wrap, {
      argv: ANY_COMMAND,
      environment: NO_CHANGES,
      cwd: directory,
      isTerminal: false,
      proof: told,
    });
    const words = packLatin1(argv.slice(0, -1));
    this.#last = { cwd, fd, words };
    return words;
  }
}
