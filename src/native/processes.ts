// Signals to processes, and what this process is itself: native/process.c.

import { addon, check } from '../native.js';

const EPERM = 1;
const ESRCH = 3;

/** Whether it took effect; with signal 0, whether anybody is there. */
function isKilled(result: number, signal: number): boolean {
  if (result === -EPERM) return signal === 0;
  return result === -ESRCH ? false : check(result, 'kill') === 0;
}

/** kill(2). False: no such process, or one of another user (sudo). Zombies count as there. @throws EINVAL (pid ≤ 1). */
export function killProcess(pid: number, signal: number): boolean {
  return isKilled(addon.kill(pid, signal), signal);
}

/** kill(2) to the whole group. False: no such group, or all of it is another user's. @throws EINVAL (pgid ≤ 1). */
export function killGroup(pgid: number, signal: number): boolean {
  return isKilled(addon.killGroup(pgid, signal), signal);
}

/** Clock ticks from boot to the start of that process: with the pid it names one process for ever. `undefined`: it is gone. */
export function processStartTicks(pid: number): number | undefined {
  const result = addon.startTicks(pid);
  return result < 0 ? undefined : result;
}

/** Ends this process by `signal`, without a core file. Returns only for a signal that does not end a process. */
export function dieBySignal(signal: number): void {
  addon.dieBy(signal);
}

/** Orphaned descendants become children of this process from now on (PR_SET_CHILD_SUBREAPER). */
export function setSubreaper(): void {
  check(addon.becomeSubreaper(), 'prctl');
}

/** This process gets `signal` when its parent ends (PR_SET_PDEATHSIG). */
export function followParent(signal: number): void {
  check(addon.followParent(signal), 'prctl');
}

/** Leads a session of its own. @throws EPERM for a process-group leader. */
export function setsid(): void {
  check(addon.setsid(), 'setsid');
}

export function umask(): number {
  return addon.umask();
}
