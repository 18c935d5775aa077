// Closes a session: the agent ends its targets and itself, then the launcher comes to its end (its exit trap runs now and not
// before), then what is left of either is ended, and the files go.

import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { HoldfastError } from '../errors.js';
import { killProcess } from '../native.js';
import { AgentFrozenError, ask } from './control.js';
import { findPlace, type SessionPlace } from './place.js';
import { descendantsOf, endAll, findProcess, isAlive, livingProcesses, type ProcessFacts } from './process-tree.js';
import { findRecord, type SessionRecord } from './record.js';
import { type SessionLock, waitForLock } from './session-lock.js';

const SIGCONT = 18;
const ANSWER_MS = 2_000;
const POLL_MS = 10;
/** For what an agent does beside ending its targets. */
const AGENT_MS = 5_000;
/** For a launcher's exit trap. */
const LAUNCHER_MS = 10_000;
const LEFTOVER_GRACE_MS = 2_000;
/** An opening that is under way is waited for this long. */
const LOCK_MS = 30_000;

export interface CloseOptions {
  /** From TERM to KILL for the targets; default: the session's. */
  readonly graceMs?: number;
}

/**
 * Returns when nothing of the session is left, however it was: serving, frozen, or dead.
 *
 * @throws {HoldfastError} `NO_SESSION` when there is none (any more); `BUSY`, `NAME_INVALID`, `NOT_PERMITTED`, `RUNTIME_DIR`.
 */
export async function closeSession(name: string, options: CloseOptions = {}): Promise<void> {
  const place = findPlace(name);
  if (place === undefined) throw notOpen(name);
  try {
    const lock = await waitForLock(place.files.lock, LOCK_MS);
    if (lock === undefined) {
      throw new HoldfastError('BUSY', `session '${name}' is being opened or closed by another process`, { hint: 'try again later' });
    }
    await closeLocked(place, lock, options);
  } finally {
    place.close();
  }
}

async function closeLocked(place: SessionPlace, lock: SessionLock, options: CloseOptions): Promise<void> {
  try {
    const record = findRecordLeniently(place);
    const agent = await stopAgent(place.name, options);
    if (agent === undefined && record === undefined) throw notOpen(place.name);
    if (agent !== undefined) await waitForAgent(agent, (options.graceMs ?? record?.definition.killGraceMs ?? 0) + AGENT_MS);
    if (record !== undefined) await endLauncher(record);
    place.clear();
    rmSync(place.files.log, { force: true });
  } finally {
    // Also when there was nothing to close: asking made the lock's file.
    lock.releaseAndRemove();
  }
}

/** Asks the agent to stop. @returns it, or `undefined` when there is none. */
async function stopAgent(name: string, { graceMs }: CloseOptions): Promise<ProcessFacts | undefined> {
  const request = { op: 'stop', ...(graceMs === undefined ? {} : { graceMs }) };
  for (let isThawed = false; ; isThawed = true) {
    try {
      return findProcess((await ask(name, request, { timeoutMs: ANSWER_MS })).agentPid);
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      if (error.code === 'NO_SESSION') return undefined;
      // It is ending by itself, or has just done so.
      if (error.code === 'SESSION_LOST' || error.code === 'SESSION_STOPPING') continue;
      if (!(error instanceof AgentFrozenError) || error.agentPid === undefined) throw error;
      // One that is merely stopped can still end its targets itself, which is gentler.
      if (isThawed) return findProcess(error.agentPid);
      killProcess(error.agentPid, SIGCONT);
    }
  }
}

/** One that does not end is ended, with all that descends from it: taken down before, since its end would scatter them. */
async function waitForAgent(agent: ProcessFacts, timeoutMs: number): Promise<void> {
  if (await isGone(agent.pid, agent.startTicks, timeoutMs)) return;
  const tree = [agent, ...descendantsOf(agent.pid)];
  await endAll(() => tree.filter(({ pid, startTicks }) => isAlive(pid, startTicks)), 0);
}

/** Its exit trap may take a while; its background processes, which stayed in its session, are nobody's any more. */
async function endLauncher(record: SessionRecord): Promise<void> {
  const { launcherPid: pid, launcherStartTicks: startTicks } = record;
  if (pid === undefined) return;
  if (!(await isGone(pid, startTicks, LAUNCHER_MS))) {
    const tree = descendantsOf(pid);
    await endAll(
      () => [...tree, ...livingProcesses().filter((each) => each.pid === pid)].filter((each) => isAlive(each.pid, each.startTicks)),
      LEFTOVER_GRACE_MS,
    );
  }
  // While one of its session lives, its number names no other; but it may do so when none did.
  const other = findProcess(pid);
  if (other !== undefined && other.startTicks !== startTicks) return;
  await endAll(() => livingProcesses().filter(({ sid }) => sid === pid), LEFTOVER_GRACE_MS);
}

async function isGone(pid: number, startTicks: number | undefined, timeoutMs: number): Promise<boolean> {
  for (const deadline = performance.now() + timeoutMs; isAlive(pid, startTicks); await sleep(POLL_MS)) {
    if (performance.now() >= deadline) return false;
  }
  return true;
}

/** A session whose record cannot be read can still be closed. */
function findRecordLeniently(place: SessionPlace): SessionRecord | undefined {
  try {
    return findRecord(place.files.record);
  } catch {
    return undefined;
  }
}

function notOpen(name: string): HoldfastError {
  return new HoldfastError('NO_SESSION', `no session '${name}' is open`, { hint: "'holdfast list' shows the sessions that are open" });
}
