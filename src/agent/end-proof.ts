// Whether a wrapper reached its command, by what is there to be seen when it has ended: no shell has to stand before the command for that.
// What is known of a wrapper is its `tells` (src/wrap/definition.ts). Where that leaves a doubt, the wrapper is run once more, with the
// same options, for a script that looks for the command. docs/config.md "Whose exit code it is".

import { readFileSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { WrapDefinition } from '../wrap/definition.js';
import { type Errands, NOT_RUN, type WrapperPlace } from './errands.js';
import { ProofPipe } from './proof-pipe.js';
import type { Proof, Reached, SecondLook } from './start-proof.js';

/** As the kernel has the name of a process, which is that of the file it executes. */
const NAME_BYTES = 15;
/** Exit codes of the second look: no wrapper's own, and no shell's. */
const THERE = 20;
const NOT_EXECUTABLE = 21;
const MISSING = 22;

/** Looks for $1 as execvp(3) does, and for the interpreter that it names. */
const LOOK_SCRIPT = `end=${MISSING}
look() {
  [ -e "$1" ] || return 0
  if [ -d "$1" ] || [ ! -x "$1" ]; then [ $end = ${THERE} ] || end=${NOT_EXECUTABLE}; return 0; fi
  mark= name=
  { IFS=' ' read -r mark name rest <"$1"; } 2>/dev/null
  case $mark in
  '#!') ;;
  '#!'*) name=\${mark#??} ;;
  *) name=/ ;;
  esac
  if [ -e "$name" ]; then end=${THERE}; fi
}
case $1 in
*/*) look "$1" ;;
*) set -f; IFS=:; for folder in $PATH; do [ -d "\${folder:-.}/$1" ] || look "\${folder:-.}/$1"; done ;;
esac
exit $end`;

type Look = 'wrapper-fails' | 'unknown' | 'there' | 126 | 127;

async function lookFor(program: string, codes: readonly number[], look: SecondLook): Promise<Look> {
  const code = await look(LOOK_SCRIPT, [program]);
  if (code === THERE) return 'there';
  if (code === NOT_EXECUTABLE) return 126;
  if (code === MISSING) return 127;
  return code === NOT_RUN || codes.includes(code) ? 'wrapper-fails' : 'unknown';
}

/** Of a process that executes it. */
export function processName(program: string): string {
  return basename(program).slice(0, NAME_BYTES);
}

/**
 * For a wrapper that execs: a process that still has the wrapper's name has not become the command, or that has become such a wrapper
 * itself; then the wrapper fails again, or it does not. With `child`: one that has had a child has left nothing undone. Of a command of
 * the wrapper's own name nothing can be told.
 */
export class NameProof implements Proof {
  readonly told = undefined;
  readonly fd = -1;
  readonly #wrap: WrapDefinition;
  readonly #program: () => string;
  #end: { readonly name: string; readonly hadChild: boolean } | undefined;

  /** @param program what is looked up inside. */
  constructor(wrap: WrapDefinition, program: () => string) {
    this.#wrap = wrap;
    this.#program = program;
  }

  get codes(): readonly number[] {
    return this.#wrap.failureCodes;
  }

  started(): void {}

  failed(pid: number): void {
    this.#end = endOf(pid);
  }

  async reached(_errands: Errands, _place: WrapperPlace, look: SecondLook): Promise<Reached> {
    const { prefix, tells, failureCodes } = this.#wrap;
    const isCommand = this.#end !== undefined && this.#end.name !== processName(prefix[0] ?? '');
    if (isCommand || (tells === 'child' && this.#end?.hadChild === true)) return 'yes';
    return (await lookFor(this.#program(), failureCodes, look)) === 'wrapper-fails' ? 'wrapper-fails' : 'yes';
  }

  release(): void {}
}

/** Of a zombie. The kernel adds up the page faults of children that were waited for, and no process comes to life without one. */
function endOf(pid: number): { name: string; hadChild: boolean } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const close = text.lastIndexOf(')');
    // Field 11 of proc(5), cminflt; field 3 follows the bracket.
    return { name: text.slice(text.indexOf('(') + 1, close), hadChild: Number(text.slice(close + 2).split(' ')[8]) > 0 };
  } catch {
    return undefined; // of another user, and hidden
  }
}

/**
 * For a wrapper that writes of an "exit-code" only what it has executed. What it cannot execute is the command's own fault.
 *
 * @param number of the descriptor in the wrapper.
 * @param onSilence it has no such option, or not the descriptor: then this proves nothing, and it fails with each command.
 */
export function statusProof({ failureCodes: codes }: WrapDefinition, program: () => string, number: number, onSilence: () => void): Proof {
  const status = new ProofPipe();
  return {
    codes,
    told: { kind: 'status', fd: number },
    fd: status.write,
    started: () => status.closeWrite(),
    async reached(_errands, _place, look): Promise<Reached> {
      const told = status.text();
      if (told.includes('"exit-code"')) return 'yes';
      const found = await lookFor(program(), codes, look);
      if (found === 'wrapper-fails') return found;
      if (told === '') onSilence();
      return found === 'there' || told === '' ? 'no' : found;
    },
    release: () => status.close(),
  };
}

/** nsenter(1) sets user and group in its child, where the user namespace is another. */
export function entersOtherUsers(words: readonly string[]): boolean {
  if (!words.includes('--all')) return false;
  const target = words[words.indexOf('--target') + 1];
  try {
    return statSync(`/proc/${target}/ns/user`).ino !== statSync('/proc/self/ns/user').ino;
  } catch {
    return true;
  }
}
