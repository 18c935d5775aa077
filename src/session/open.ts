// Opens a session: one agent however many ask at once, an error at once when the launcher cannot, and nothing left behind then.
// DESIGN section 4 "Session life". The order matters: lock, look who is there, record, notify socket, launcher, readiness.

import { rmSync, statSync } from 'node:fs';
import * as v from 'valibot';

import { HoldfastError } from '../errors.js';
import { installed } from '../install.js';
import { VERSION } from '../protocol/limits.js';
import type { HoldDefinition } from '../wrap/definition.js';
import { fillPlaceholders } from '../wrap/placeholders.js';
import { findLiveAgent } from './agent-probe.js';
import { ask } from './control.js';
import { isSame, type Launch, NO_LAUNCHER, type SessionDefinition } from './definition.js';
import { type Entry, enterAsAgent } from './entry.js';
import { type Change, findPlaceOf, hashInputs } from './freshness.js';
import { endHeld } from './held-end.js';
import { type HeldRecord, Holding } from './hold.js';
import { hostEnvironment } from './host-environment.js';
import { hashOf } from './input-hash.js';
import { isBashLauncher } from './launch-command.js';
import { declaredVariables, launchEnvironment, launchedVariables, weakVariables } from './launch-environment.js';
import { LaunchLog } from './launch-log.js';
import { endLauncher } from './launcher-end.js';
import { makePlace, type SessionPlace } from './place.js';
import { findRecord, findRecordLeniently, type SessionRecord, writePrivate, writeRecord } from './record.js';
import { type SessionLock, waitForLock } from './session-lock.js';
import { takeSnapshot } from './snapshot.js';
import { encodeSnapshot } from './snapshot-file.js';
import { scriptsOf } from './snapshot-key.js';
import { wantedOfCaller } from './wanted-of-caller.js';

/** For the exit trap of a launcher whose agent was killed. */
const EARLIER_LAUNCHER_MS = 1_000;

/** `starting`: what is held behind a wrapper. `waiting`: for another process. `draining`: for commands that run in it. */
export type OpenPhase = 'entering' | 'starting' | 'waiting' | 'draining';

export interface OpenOptions {
  /** The launcher's last line of output, or what is waited for; several times a second while it lasts. */
  readonly progress?: (line: string, elapsedMs: number, phase: OpenPhase) => void;
  /** Told what is not as it should be, and does not keep the session from opening. One line. */
  readonly warn?: (message: string) => void;
  /** Ends the opening, and everything that it started. */
  readonly signal?: AbortSignal;
  /** False in a program that does other things as well: its orphans are not ours to adopt. Default true. */
  readonly ownsProcess?: boolean;
  /** The session closes when `own` was said and that connection ends; and soon, where nobody says it. Default false. */
  readonly owned?: boolean;
  /** The launcher runs: its process id, and when it started. */
  readonly onLauncher?: (pid: number, startTicks: number | undefined) => void;
  /** What removes the files of an opening whose process ends in the middle of it, at once and synchronously; `undefined`: it is over. */
  readonly onRemains?: (clear: (() => void) | undefined) => void;
  /** Of what the definition was made. Absent: it was given whole. */
  readonly origin?: SessionOrigin;
}

/** How a definition came to be: recorded, so that the session can be opened again from the same sources, as they are then. */
export interface SessionOrigin {
  /** What was asked for, in JSON. */
  readonly request: unknown;
  /** What else was read, or would have been had it been there: when one of them changes, the session is stale. Absolute paths. */
  readonly files: readonly string[];
  /** The directory that it is the session of. */
  readonly place?: string;
}

export interface OpenedSession {
  /** False: it was open already, with the same definition. */
  readonly opened: boolean;
  /** Absolute path. */
  readonly socket: string;
  /** The agent's. */
  readonly pid: number;
  /** What is not as it was when the environment was entered. Empty for one that has just been. */
  readonly stale: readonly Change[];
}

/**
 * Returns when the session serves. The agent lives on by itself; nothing of this process is held by it.
 *
 * @throws {HoldfastError} `ALREADY_OPEN` (with another definition), `AGENT_FROZEN`, `BUSY`, `LAUNCH_FAILED`, `LAUNCH_TIMEOUT`,
 *   `LAUNCH_INTERRUPTED`, `NAME_INVALID`, `RUNTIME_DIR`; after any of them no process and no file but the log is left.
 */
export async function openSession(definition: SessionDefinition, options: OpenOptions = {}): Promise<OpenedSession> {
  const place = makePlace(definition.name);
  try {
    const lock = await waitForTurn(place, definition, options);
    try {
      const onRemains: OpenOptions['onRemains'] = (clear) => {
        const clearAll = (): void => {
          clear?.();
          lock.releaseAndRemove();
        };
        options.onRemains?.(clear === undefined ? undefined : clearAll);
      };
      return await openLocked(place, definition, { ...options, onRemains });
    } catch (error) {
      // Asking for the lock made its file.
      lock.releaseAndRemove();
      throw error;
    } finally {
      lock.release();
    }
  } catch (error) {
    throw place.faultOf(error);
  } finally {
    place.close();
  }
}

/** The session's lock. @throws {HoldfastError} `BUSY`, `LAUNCH_INTERRUPTED`. */
export async function waitForTurn(
  place: SessionPlace,
  definition: Pick<SessionDefinition, 'name' | 'openTimeoutMs'>,
  options: OpenOptions,
): Promise<SessionLock> {
  const startedAt = performance.now();
  const lock = await waitForLock(place.files.lock, definition.openTimeoutMs, () => {
    refuseInterrupted(definition.name, options.signal);
    options.progress?.('another process opens or closes it', performance.now() - startedAt, 'waiting');
  });
  if (lock !== undefined) return lock;
  throw new HoldfastError('BUSY', `session '${definition.name}' is still being opened or closed by another process`, {
    hint: `see 'holdfast logs ${definition.name}'`,
  });
}

/** For who holds the lock. */
export async function openLocked(place: SessionPlace, definition: SessionDefinition, options: OpenOptions): Promise<OpenedSession> {
  const record = recordOf(definition, options);
  const live = await findLiveAgent(definition.name);
  if (live !== undefined) {
    refuseOther(place, record, live.definition);
    return { opened: false, socket: place.shown.socket, pid: live.pid, stale: live.stale };
  }
  place.removeSocket();
  await endEarlier(place);
  const clear = (): void => {
    place.clear();
    removeEmpty(place.files.log);
  };
  // What is held is ended by its keeper, of which the record tells.
  if (definition.hold === undefined) options.onRemains?.(clear);
  try {
    const told = await launch(place, record, options);
    // In a container an agent knows itself by another number than we do.
    const pid = (await recordInputs(place)) ?? told;
    return { opened: true, socket: place.shown.socket, pid, stale: [] };
  } catch (error) {
    clear();
    throw error;
  } finally {
    options.onRemains?.(undefined);
  }
}

function recordOf(definition: SessionDefinition, { owned, origin }: OpenOptions): SessionRecord {
  const host = hostEnvironment();
  const notifySocket = process.env['NOTIFY_SOCKET'];
  const place = origin?.place === undefined ? undefined : findPlaceOf(origin.place);
  return {
    protocol: VERSION,
    definition,
    declared: declaredVariables(definition, host),
    weak: weakVariables(definition, host),
    inputs: hashInputs(definition),
    scripts: hashInputs({ directory: definition.directory, inputs: scriptsOf(definition.launch, definition.directory) }),
    ...(origin === undefined ? {} : { sources: origin.files.map((path) => ({ path, sha256: hashOf(path) })) }),
    launched: launchedVariables(definition, host),
    ...(place === undefined ? {} : { place }),
    ...(origin === undefined ? {} : { origin: origin.request }),
    openerPid: process.pid,
    openedAt: Date.now(),
    ...(owned === true ? { owned } : {}),
    ...(notifySocket === undefined || notifySocket === '' ? {} : { notifySocket }),
  };
}

const INPUTS_MS = 5_000;

const INPUTS = v.array(v.object({ path: v.string(), sha256: v.nullable(v.string()) }));

/**
 * The agent knows more of them than we did: what the environment told, and what the entry itself has written.
 *
 * @returns the agent's pid, as a process of this machine.
 */
async function recordInputs(place: SessionPlace): Promise<number | undefined> {
  let pid: number | undefined;
  try {
    const { answer, agentPid } = await ask(place.name, { op: 'inputs' }, { timeoutMs: INPUTS_MS });
    if (agentPid > 0) pid = agentPid; // 0: of a pid namespace that we do not see into
    const inputs = v.parse(INPUTS, answer['inputs']);
    const sources = v.parse(INPUTS, answer['sources']);
    const record = findRecord(place.files.record);
    if (record !== undefined) writeRecord(place.files.record, { ...record, inputs, sources });
  } catch {
    // The record is for those who cannot ask the agent, and what it says already is near enough.
  }
  return pid;
}

/** Opening what is open is no fault, unless something else was asked for: then the caller would run in the wrong environment. */
function refuseOther(place: SessionPlace, record: SessionRecord, definition: unknown): void {
  const { name } = record.definition;
  const there = findRecord(place.files.record);
  const difference = !isSame(definition, record.definition)
    ? 'with another definition'
    : there !== undefined && !isSame(there.declared, record.declared)
      ? 'with other values of the variables that pass_env names'
      : undefined;
  if (difference === undefined) return;
  throw new HoldfastError('ALREADY_OPEN', `session '${name}' is already open ${difference}`, {
    hint: `close it first: 'holdfast close ${name}'`,
  });
}

async function launch(place: SessionPlace, record: SessionRecord, options: OpenOptions): Promise<number> {
  const { name, hold } = record.definition;
  refuseInterrupted(name, options.signal);
  writeRecord(place.files.record, record);
  const wanted = wantedOfCaller(record.definition);
  if (wanted.length > 0) writePrivate(place.files.pass, wanted.map((each) => `${each}\n`).join(''));
  const log = new LaunchLog(place.files.log);
  try {
    return hold === undefined ? await enter(place, record, log, options) : await enterHeld(place, record, log, options, hold);
  } finally {
    log.close();
  }
}

/** What is held comes first and goes last. */
async function enterHeld(
  place: SessionPlace,
  record: SessionRecord,
  log: LaunchLog,
  options: OpenOptions,
  hold: HoldDefinition,
): Promise<number> {
  const { definition } = record;
  const holding = await Holding.begin({ definition, hold, fifo: place.shown.keep, log, logPath: place.shown.log, options });
  try {
    // Whoever opens or closes next, should we be killed, waits for the keeper.
    writeRecord(place.files.record, { ...record, held: holding.record });
    await holding.wait();
    const held = { ...record, held: holding.record };
    writeRecord(place.files.record, held);
    const pid = await enter(place, held, log, options);
    holding.handOver();
    return pid;
  } catch (error) {
    await holding.undo();
    throw error;
  }
}

/** The environment of what is held may be entered. */
function filledLaunch(launch: Launch, held: HeldRecord | undefined): Launch {
  if (held === undefined || !('argv' in launch)) return launch;
  return { ...launch, argv: fillPlaceholders(launch.argv, held) };
}

async function enter(place: SessionPlace, record: SessionRecord, log: LaunchLog, options: OpenOptions): Promise<number> {
  const { definition } = record;
  const { directory, mode } = definition;
  const declared = filledLaunch(definition.launch, record.held);
  const environment = launchEnvironment(definition, hostEnvironment(), {
    share: installed.share,
    isBash: isBashLauncher(declared, directory),
  });
  const entry: Entry = { place, record, log, options, environment };
  if (mode !== 'snapshot') return await enterAsAgent(entry, declared);
  const snapshot = await takeSnapshot(entry);
  writePrivate(place.files.snapshot, encodeSnapshot(snapshot));
  const { key, takenAt } = snapshot.facts;
  return await enterAsAgent({ ...entry, record: { ...record, snapshot: { key, takenAt } } }, NO_LAUNCHER);
}

/** The launcher of a killed agent, or of a killed opener: it may still be entering, and its agent would take our socket for its own. */
async function endEarlier(place: SessionPlace): Promise<void> {
  const earlier = findRecordLeniently(place.files.record);
  if (earlier === undefined) return;
  await endLauncher(earlier, place.shown.stem, EARLIER_LAUNCHER_MS);
  await endHeld(earlier, place.files.keep);
}

/** A log that says nothing is no help to anybody. */
function removeEmpty(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.size === 0) rmSync(path, { force: true });
}

function refuseInterrupted(name: string, signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new HoldfastError('LAUNCH_INTERRUPTED', `opening session '${name}' was interrupted`);
}
