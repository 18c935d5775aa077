// `holdfast open --foreground`: the process that a supervisor sees lives exactly as long as the session. Readiness is not its
// business: the agent tells $NOTIFY_SOCKET itself.

import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { HoldfastError } from '../errors.js';
import { findProcess, isAlive } from '../process-tree.js';
import { closeSession } from '../session/close.js';
import { findPlace } from '../session/place.js';

/** The agent is no child of ours, and a supervisor does not mind a quarter of a second. */
const POLL_MS = 250;

/**
 * Returns when the agent is gone. On `stop` it closes the session first.
 *
 * @throws {HoldfastError} `SESSION_LOST` when the agent ended without closing its session.
 */
export async function stayUntilEnd(name: string, pid: number, stop: AbortSignal): Promise<void> {
  const started = findProcess(pid)?.startTicks;
  while (started !== undefined && isAlive(pid, started)) {
    if (stop.aborted) return close(name);
    await sleep(POLL_MS, undefined, { signal: stop }).catch(() => undefined);
  }
  if (hasSocket(name)) {
    throw new HoldfastError('SESSION_LOST', `the agent of session '${name}' (process ${pid}) ended without closing it`, {
      hint: `'holdfast logs ${name}' may tell why`,
    });
  }
}

/** A supervisor's stop signal often goes to the agent as well: then it may have closed already. */
async function close(name: string): Promise<void> {
  try {
    await closeSession(name);
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== 'NO_SESSION') throw error;
  }
}

/** The last thing that an agent does is to remove its socket. */
function hasSocket(name: string): boolean {
  const place = findPlace(name);
  try {
    return place !== undefined && existsSync(place.files.socket);
  } finally {
    place?.close();
  }
}
