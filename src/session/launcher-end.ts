// The end of a launcher that somebody else started: of the session that is closed, or of an opening whose opener was killed.

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { descendantsOf, endAll, findProcess, isAlive, livingProcesses, type ProcessFacts } from '../process-tree.js';
import type { SessionRecord } from './record.js';

const POLL_MS = 10;
const LEFTOVER_GRACE_MS = 2_000;

/**
 * Returns when the launcher of `record` and what stayed in its session, in the sense of setsid(2), is gone.
 *
 * @param stem of the session's files, absolute.
 * @param patienceMs how long it may take to end by itself: its exit trap runs now.
 */
export async function endLauncher(record: SessionRecord, stem: string, patienceMs: number): Promise<void> {
  const { launcherPid, launcherStartTicks } = record;
  const { pid, startTicks } =
    launcherPid === undefined ? (findUnrecorded(stem) ?? {}) : { pid: launcherPid, startTicks: launcherStartTicks };
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

/** The opener may have been killed between the launcher's start and its note of it; the words behind a launcher name the session. */
function findUnrecorded(stem: string): ProcessFacts | undefined {
  return livingProcesses().find(({ pid, sid }) => {
    if (pid !== sid) return false;
    const command = commandOf(pid);
    // Ended by the next word's zero, or by a quote where all are one word; else `web` would be found in `web2`.
    return command.includes('__enter') && [`${stem}\0`, `${stem}'`].some((end) => command.includes(end));
  });
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}

/** False: it lives on after `timeoutMs`. @param startTicks tells it from a later process with the same number. */
export async function isGone(pid: number, startTicks: number | undefined, timeoutMs: number): Promise<boolean> {
  for (const deadline = performance.now() + timeoutMs; isAlive(pid, startTicks); await sleep(POLL_MS)) {
    if (performance.now() >= deadline) return false;
  }
  return true;
}
