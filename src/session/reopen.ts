// Opens again a session that is open: waits until nothing runs in it, closes it, enters the environment once more. However many ask
// at once, it is entered once: who comes later finds it fresh. DESIGN section 4 "Freshness".

import { setTimeout as sleep } from 'node:timers/promises';

import { HoldfastError } from '../errors.js';
import { findLiveAgent } from './agent-probe.js';
import { endSession } from './close.js';
import { ask } from './control.js';
import { DEFINITION_DEFAULTS, type SessionDefinition } from './definition.js';
import { findProgram } from './find-program.js';
import { type OpenedSession, type OpenOptions, openLocked, type SessionOrigin, waitForTurn } from './open.js';
import { makePlace, type SessionPlace } from './place.js';
import { findRecordLeniently, type SessionRecord } from './record.js';

const ANSWER_MS = 5_000;
const DRAIN_POLL_MS = 100;

export interface ReopenOptions extends OpenOptions {
  /** Leave it as it is where it is not stale. */
  readonly ifStale: boolean;
}

/** What is to be opened, and of what that was made. */
export interface Reopening {
  readonly definition: SessionDefinition;
  readonly origin?: SessionOrigin;
}

/**
 * The session need not be open: then it is opened.
 *
 * @param choose told how the session was opened, or `undefined` where it is not open; called while nobody else opens or closes it.
 * @throws {HoldfastError} `STALE` when a command that runs in it asks for this, which would wait for its own end; `UNSUPPORTED` for a
 *   session that belongs to a program; `LAUNCH_INTERRUPTED`, and then the session is as it was; and as `openSession` and `choose`.
 */
export async function reopenSession(
  name: string,
  choose: (record: SessionRecord | undefined) => Reopening,
  options: ReopenOptions,
): Promise<OpenedSession> {
  const place = makePlace(name);
  const startedAt = performance.now();
  try {
    for (;;) {
      const result = await reopenOnce(place, choose, options);
      if ('opened' in result) return result;
      const { busy } = result;
      options.progress?.(`the end of ${busy} command${busy === 1 ? '' : 's'} in it`, performance.now() - startedAt, 'draining');
      // Without the lock: whoever wants to close the session need not wait for these.
      await nap(name, options.signal);
    }
  } catch (error) {
    throw place.faultOf(error);
  } finally {
    place.close();
  }
}

async function reopenOnce(
  place: SessionPlace,
  choose: (record: SessionRecord | undefined) => Reopening,
  options: ReopenOptions,
): Promise<OpenedSession | { readonly busy: number }> {
  const { name } = place;
  const lock = await waitForTurn(place, { name, openTimeoutMs: DEFINITION_DEFAULTS.openTimeoutMs }, options);
  try {
    const live = await findLiveAgent(name);
    if (live !== undefined && options.ifStale && live.stale.length === 0) {
      return { opened: false, socket: place.shown.socket, pid: live.pid, stale: [] };
    }
    const { definition, origin } = choose(findRecordLeniently(place.files.record));
    const opening: OpenOptions = origin === undefined ? options : { ...options, origin };
    if (live === undefined) return await openLocked(place, definition, opening);
    refuseOwned(place, options);
    refuseUnstartable(definition);
    const busy = await stopIfIdle(name);
    if (busy > 0) return { busy };
    await endSession(place, {});
    return await openLocked(place, definition, opening);
  } catch (error) {
    // Where nothing is open any more, asking for the lock made its file.
    if (findRecordLeniently(place.files.record) === undefined) lock.releaseAndRemove();
    throw error;
  } finally {
    lock.release();
  }
}

function refuseOwned(place: SessionPlace, { owned }: ReopenOptions): void {
  const record = findRecordLeniently(place.files.record);
  if (record?.owned !== true || owned === true) return;
  throw new HoldfastError('UNSUPPORTED', `session '${place.name}' belongs to the program that opened it`, {
    hint: 'that program can open it again',
  });
}

/** What cannot even be started here is no reason to close what is open. */
function refuseUnstartable({ launch }: SessionDefinition): void {
  const program = launch.style === 'source' ? undefined : launch.argv[0];
  if (program === undefined || program.includes('/') || findProgram(program) !== undefined) return;
  throw new HoldfastError('LAUNCH_FAILED', `cannot start the launcher '${program}': not found on PATH`, {
    hint: 'install it, or name it by its path; the session is as it was',
  });
}

/** How many commands run or wait. 0: none, and the agent is closing. Decided by the agent, so that no command comes in between. */
async function stopIfIdle(name: string): Promise<number> {
  const { answer } = await ask(name, { op: 'stop', ifIdle: true }, { timeoutMs: ANSWER_MS });
  if (answer['stopping'] === true) return 0;
  if (answer['isInside'] === true) {
    throw new HoldfastError('STALE', `session '${name}' cannot be entered again by a command that runs in it`, {
      hint: 'it is entered again by the next command from outside',
    });
  }
  return Number(answer['running']) + Number(answer['queued']);
}

async function nap(name: string, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(DRAIN_POLL_MS, undefined, signal === undefined ? {} : { signal });
  } catch (cause) {
    throw new HoldfastError('LAUNCH_INTERRUPTED', `opening session '${name}' again was interrupted`, { hint: 'it is as it was', cause });
  }
}
