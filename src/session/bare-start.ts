// A child that inherits no descriptor but those it is given: what our own caller left open would be a pipe that it waits for for ever.

import type { ChildProcess } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

import { closeOnExecFrom, letInherit } from '../native.js';

const O_CLOEXEC = 0o2000000;

/** @param ownsProcess false in a host program, whose later children are to inherit what they did before: make's job server, for one. */
export function startBare(start: () => ChildProcess, ownsProcess: boolean): ChildProcess {
  const inherited = ownsProcess ? [] : readdirSync('/proc/self/fd').map(Number).filter(isInherited);
  closeOnExecFrom(3);
  try {
    // It has been executed, or has failed, when this returns.
    return start();
  } finally {
    for (const fd of inherited) letInherit(fd);
  }
}

function isInherited(fd: number): boolean {
  if (fd < 3) return false;
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    // The one that listed them, and is closed.
    return false;
  }
}
