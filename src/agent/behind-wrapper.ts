// A wrapper that stays while its command runs (bwrap, nsenter, as parents) dies of a signal that its command would catch. So a signal
// that is meant for the command is not given to the wrapper, which ends by itself when its command does.

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { findProcess, livingProcesses } from '../process-tree.js';

/** As the kernel has the name of a process. */
const NAME_BYTES = 15;

/** The names of the programs of a prefix; whatever else is in it names no process. */
export function wrapperNames(prefix: readonly string[]): ReadonlySet<string> {
  return new Set(prefix.filter((word) => !word.startsWith('-')).map((word) => basename(word).slice(0, NAME_BYTES)));
}

/** Who is in the group of `pid` behind its wrapper. `undefined`: the wrapper has become the command, or has not started it yet. */
export function findBehind(pid: number, names: ReadonlySet<string>): number[] | undefined {
  if (!names.has(nameOf(pid))) return undefined;
  const group = findProcess(pid)?.pgid;
  const behind = livingProcesses().filter((each) => each.pgid === group && each.pid !== pid && !names.has(nameOf(each.pid)));
  return behind.length === 0 ? undefined : behind.map((each) => each.pid);
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'latin1').trimEnd();
  } catch {
    return '';
  }
}
