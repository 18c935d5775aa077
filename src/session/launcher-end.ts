// The end of a launcher that somebody else started: of the session that is closed, or of an opening whose opener was killed.

import { setTimeout as sleep } from 'node:timers/promises';

import { descendantsOf, endAll, findProcess, isAlive, livingProcesses } from '../process-tree.js';
import type { SessionRecord } from './record.js';

const POLL_MS = 10;
const LEFTOVER_GRACE_MS = 2_000;

/**
 * Returns when the launcher of `record` and what stayed in its session, in the sense of setsid(2), is gone.
 *
 * @param patienceMs how long it may take to end by itself: its exit trap runs now.
 */
export async function endLauncher(record: SessionRecord, patienceMs: number): Promise<void> {
  const { launcherPid: pid, launcherStartTicks: startTicks } = record;
  // Without its start the number alone is known, which may be anybody's by now.
  if (pid === undefined || startTicks === undefined) return;
  if (!(await isGone(pid, startTicks, patienceMs))) {
    const launcher = findProcess(pid);
    // Taken down before: its end would scatter them.
    const tree = [...(launcher === undefined ? [] : [launcher]), ...descendantsOf(pid)];
    await endAll(() => tree.filter((each) => isAlive(each.pid, each.startTicks)), LEFTOVER_GRACE_MS);
  }
  // While one of its session lives, its number can name no other process; once none did, it may.
  const other = findProcess(pid);
  if (other !== undefined && other.startTicks !== startTicks) return;
  await endAll(() => livingProcesses().filter(({ sid }) => sid === pid), LEFTOVER_GRACE_MS);
}

/** False: it lives on after `timeoutMs`. @param startTicks tells it from a later process with the same number. */
export async function isGone(pid: number, startTicks: number | undefined, timeoutMs: number): Promise<boolean> {
  for (const deadline = performance.now() + timeoutMs; isAlive(pid, startTicks); await sleep(POLL_MS)) {
    if (performance.now() >= deadline) return false;
  }
  return true;
}
