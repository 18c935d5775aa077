// Whether a wrapper reached its command, for an exit code that may be either's. The inside leaves a sign just before the command is
// executed: a byte in a pipe, where the wrapper hands descriptors on, else a line in a file. A sign that is missing proves something only
// where one could have been left, so a second look is taken then. docs/config.md "Whose exit code it is".

import { closeSync, constants, openSync, readSync } from 'node:fs';
import { closeFd, makePipe } from '../native.js';
import { wrapScript } from '../wrap/command.js';
import type { WrapDefinition } from '../wrap/definition.js';
import type { StartProof } from '../wrap/inside.js';
import { type Errands, NOT_RUN, type WrapperPlace } from './errands.js';
import { packLatin1 } from './far-side.js';

const LOOK_MS = 10_000;
/** Exit codes of the second look. */
const REACHED = 10;
const NOT_REACHED = 11;
/** 0, 1 and 2 are the command's, whatever is redirected; a shell knows the numbers up to 9. */
const FIRST_SPARE_FD = 3;
const LAST_SPARE_FD = 9;

export type Reached = 'yes' | 'no' | 'unknown' | 'wrapper-fails';

/** Looks for a line, and, where it is missing, whether one can be written. */
const LOOK_SCRIPT = `grep -qsx -e "$2" "$1" && exit ${REACHED}
{ echo look >>"$1"; } 2>&- && exit ${NOT_REACHED}
exit 12`;

export interface Proof {
  readonly told: StartProof;
  /** To be given to the wrapper under the number `told.fd`; closed by closeOurs(). −1: none. */
  readonly fd: number;
  closeOurs(): void;
  /** After the wrapper's end. */
  reached(errands: Errands, place: WrapperPlace): Promise<Reached>;
  release(): void;
}

export function fileProof(wrap: WrapDefinition, path: string, word: string): Proof {
  return {
    told: { kind: 'file', path, word },
    fd: -1,
    closeOurs: () => {},
    async reached(errands, place) {
      const code = await errands.run(packLatin1(wrapScript(wrap, LOOK_SCRIPT, [path, word])), place, LOOK_MS);
      if (code === REACHED) return 'yes';
      if (code === NOT_REACHED) return 'no';
      return code === NOT_RUN || wrap.failureCodes.includes(code) ? 'wrapper-fails' : 'unknown';
    },
    release: () => {},
  };
}

/** @param taken numbers that the command has for itself. `undefined`: none is left. */
export function pipeProof(wrap: WrapDefinition, taken: readonly number[]): Proof | undefined {
  let number = FIRST_SPARE_FD;
  while (taken.includes(number)) number++;
  if (number > LAST_SPARE_FD) return undefined;
  const sign = new SignPipe();
  return {
    told: { kind: 'descriptor', fd: number },
    fd: sign.write,
    closeOurs: () => sign.closeWrite(),
    async reached(errands, place) {
      if (sign.hasByte()) return 'yes';
      const look = new SignPipe();
      try {
        const argv = packLatin1(wrapScript(wrap, `{ echo >&${number}; } 2>&-; exit ${REACHED}`, []));
        const code = await errands.run(argv, place, LOOK_MS, { fd: look.write, number });
        if (look.hasByte()) return 'no';
        return code === NOT_RUN || wrap.failureCodes.includes(code) ? 'wrapper-fails' : 'unknown';
      } finally {
        look.close();
      }
    },
    release: () => sign.close(),
  };
}

class SignPipe {
  #read: number | undefined;
  #write: number | undefined;

  constructor() {
    const { read, write } = makePipe();
    this.#read = read;
    this.#write = write;
  }

  get write(): number {
    return this.#write ?? -1;
  }

  closeWrite(): void {
    if (this.#write !== undefined) closeFd(this.#write);
    this.#write = undefined;
  }

  /** Without waiting: who else has the other end may keep it. */
  hasByte(): boolean {
    if (this.#read === undefined) return false;
    const own = openSync(`/proc/self/fd/${this.#read}`, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return readSync(own, Buffer.alloc(1)) === 1;
    } catch {
      return false; // EAGAIN
    } finally {
      closeSync(own);
    }
  }

  close(): void {
    this.closeWrite();
    if (this.#read !== undefined) closeFd(this.#read);
    this.#read = undefined;
  }
}
