// Closes a session: the agent ends its targets and itself, then the launcher comes to its end (its exit trap runs now and not
// before), then what is left of either is ended, and the files go.

import { rmSync } from 'node:fs';

import { HoldfastError } from '../errors.js';
import { killProcess } from '../native/processes.js';
import { descendantsOf, endAll, findProcess, isAlive, type ProcessFacts } from '../process-tree.js';
import { AgentFrozenError, ask } from './control.js';
import { endHeld, HELD_END_MS } from './held-end.js';
import { endLauncher, isGone } from './launcher-end.js';
import { findPlace, type SessionPlace } from './place.js';
import { findRecordLeniently, type SessionRecord } from './record.js';
import { type SessionLock, waitForLock } from './session-lock.js';

const SIGCONT = 18;
const ANSWER_MS = 2_000;
/** For what an agent does beside ending its targets. */
const AGENT_MS = 5_000;
/** For a launcher's exit trap. */
const LAUNCHER_MS = 10_000;
/** A wrapper that no longer works is waited for twice, and what is behind it is looked for on this host (src/agent/far-side.ts). */
const FAR_SIDE_MS = 30_000;
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
  } catch (error) {
    throw place.faultOf(error);
  } finally {
    place.close();
  }
}

async function closeLocked(place: SessionPlace, lock: SessionLock, options: CloseOptions): Promise<void> {
  try {
    if (!(await endSession(place, options))) throw notOpen(place.name);
    rmSync(place.files.log, { force: true });
  } finally {
    // Also when there was nothing to close: asking made the lock's file.
    lock.releaseAndRemove();
  }
}

/**
 * Ends what there is of a session, and removes its files but for the log and the lock, which the caller holds.
 *
 * @returns false: there was nothing.
 */
export async function endSession(place: SessionPlace, options: CloseOptions): Promise<boolean> {
  const record = findRecordLeniently(place.files.record);
  const agent = await stopAgent(place.name, options);
  if (agent === undefined && record === undefined) return false;
  const graceMs = options.graceMs ?? record?.definition.killGraceMs ?? 0;
  if (agent !== undefined) await waitForAgent(agent, agent.willStop ? graceMs + AGENT_MS + elsewhereMs(record) : 0);
  if (record !== undefined) {
    await endLauncher(record, place.shown.stem, LAUNCHER_MS);
    await endHeld(record, place.files.keep);
  }
  place.clear();
  return true;
}

/** What the agent has to end elsewhere takes its time. */
function elsewhereMs(record: SessionRecord | undefined): number {
  return (record?.held === undefined ? 0 : HELD_END_MS) + (record?.definition.wrap?.farSide === 'marker' ? FAR_SIDE_MS : 0);
}

interface AskedAgent extends ProcessFacts {
  /** It has heard that it is to stop, so it is worth waiting for. */
  readonly willStop: boolean;
}

/** Asks the agent to stop. `undefined`: there is none. */
async function stopAgent(name: string, { graceMs }: CloseOptions): Promise<AskedAgent | undefined> {
  const request = { op: 'stop', ...(graceMs === undefined ? {} : { graceMs }) };
  for (let isThawed = false; ; ) {
    try {
      return asked((await ask(name, request, { timeoutMs: ANSWER_MS })).agentPid, true);
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      if (error.code === 'NO_SESSION') return undefined;
      // It is ending by itself, or has just done so.
      if (error.code === 'SESSION_LOST') continue;
      if (!(error instanceof AgentFrozenError) || error.agentPid === undefined) throw error;
      if (!error.isStopped || isThawed) return asked(error.agentPid, false);
      // One that is merely stopped can still end its targets itself, which is gentler.
      killProcess(error.agentPid, SIGCONT);
      isThawed = true;
    }
  }
}

function asked(pid: number, willStop: boolean): AskedAgent | undefined {
  const facts = findProcess(pid);
  return facts === undefined ? undefined : { ...facts, willStop };
}

/** One that does not end is ended, with all that descends from it: taken down before, since its end would scatter them. */
async function waitForAgent(agent: ProcessFacts, timeoutMs: number): Promise<void> {
  if (await isGone(agent.pid, agent.startTicks, timeoutMs)) return;
  const tree = [agent, ...descendantsOf(agent.pid)];
  await endAll(() => tree.filter(({ pid, startTicks }) => isAlive(pid, startTicks)), 0);
}

function notOpen(name: string): HoldfastError {
  return new HoldfastError('NO_SESSION', `no session '${name}' is open`, { hint: "'holdfast list' shows the sessions that are open" });
}
