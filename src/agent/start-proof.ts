// Whether a wrapper reached its command, for an exit code that may be either's. Where the wrapper's own end does not show it
// (end-proof.ts), the inside leaves a sign just before the command is executed: a byte in a pipe, where the wrapper hands descriptors on,
// else a line in a file. A sign that is missing proves something only where one could have been left, so a second look is taken then.
// docs/config.md "Whose exit code it is".

import { wrapScript } from '../wrap/command.js';
import type { WrapDefinition } from '../wrap/definition.js';
import type { StartProof } from '../wrap/inside.js';
import { type Errands, NOT_RUN, type WrapperPlace } from './errands.js';
import { packLatin1 } from './far-side.js';
import { ProofPipe } from './proof-pipe.js';

export const LOOK_MS = 10_000;
/** Exit codes of the second look. */
const REACHED = 10;
const NOT_REACHED = 11;
/** 0, 1 and 2 are the command's, whatever is redirected; a shell knows the numbers up to 9. */
const FIRST_SPARE_FD = 3;
const LAST_SPARE_FD = 9;
/** What a wrapper that execs says of what it cannot exec: of a command that is the command's own matter, of our shell it is not. */
const UNEXECUTED = [126, 127];

/** A number: reached, and it would have had this exit code by itself. */
export type Reached = 'yes' | 'no' | 'unknown' | 'wrapper-fails' | number;

/** Looks for a line, and, where it is missing, whether one can be written. */
const LOOK_SCRIPT = `grep -qsx -e "$2" "$1" && exit ${REACHED}
{ echo look >>"$1"; } 2>&- && exit ${NOT_REACHED}
exit 12`;

/** The same wrapper once more, with the same options, for a script: its exit code. */
export type SecondLook = (script: string, args: readonly string[]) => Promise<number>;

export interface Proof {
  /** Exit codes that may be the wrapper's. */
  readonly codes: readonly number[];
  /** What wrapper or inside are to do for it. */
  readonly told: StartProof | undefined;
  /** To be given to the wrapper under the number that `told` has; closed by started(). −1: none. */
  readonly fd: number;
  /** The wrapper runs. */
  started(): void;
  /** It has ended with one of the codes, and is not reaped yet. */
  failed?(pid: number): void;
  /** After the wrapper's end. */
  reached(errands: Errands, place: WrapperPlace, look: SecondLook): Promise<Reached>;
  release(): void;
}

export function fileProof(wrap: WrapDefinition, path: string, word: string): Proof {
  const { failureCodes: codes } = wrap;
  return {
    codes,
    told: { kind: 'file', path, word },
    fd: -1,
    started: () => {},
    async reached(errands, place) {
      const code = await errands.run(packLatin1(wrapScript(wrap, LOOK_SCRIPT, [path, word])), place, LOOK_MS);
      if (code === REACHED) return 'yes';
      if (code === NOT_REACHED) return 'no';
      return code === NOT_RUN || codes.includes(code) ? 'wrapper-fails' : 'unknown';
    },
    release: () => {},
  };
}

/** @param taken numbers that the command has for itself. `undefined`: none is left. */
export function spareNumber(taken: readonly number[]): number | undefined {
  let number = FIRST_SPARE_FD;
  while (taken.includes(number)) number++;
  return number > LAST_SPARE_FD ? undefined : number;
}

/** @param number in the wrapper and inside. */
export function pipeProof(wrap: WrapDefinition, number: number): Proof {
  const sign = new ProofPipe();
  const codes = wrap.tells === 'name' || wrap.tells === 'child' ? [...wrap.failureCodes, ...UNEXECUTED] : wrap.failureCodes;
  return {
    codes,
    told: { kind: 'descriptor', fd: number },
    fd: sign.write,
    started: () => sign.closeWrite(),
    async reached(errands, place) {
      if (sign.text() !== '') return 'yes';
      const look = new ProofPipe();
      try {
        const argv = packLatin1(wrapScript(wrap, `{ echo >&${number}; } 2>&-; exit ${REACHED}`, []));
        const code = await errands.run(argv, place, LOOK_MS, { fd: look.write, number });
        if (look.text() !== '') return 'no';
        return code === NOT_RUN || codes.includes(code) ? 'wrapper-fails' : 'unknown';
      } finally {
        look.close();
      }
    },
    release: () => sign.close(),
  };
}
