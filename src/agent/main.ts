// The agent's wiring: from what the shim captured and the opener wrote down to a session that serves. It runs inside the
// environment with an empty environment of its own; the launcher's is only data here.

import { closeSync, readFileSync, rmSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { closeFd } from '../native/descriptors.js';
import { lockFile } from '../native/files.js';
import { followParent, setSubreaper, setsid } from '../native/processes.js';
import { functionCost } from '../session/functions.js';
import { toldInputs } from '../session/told-inputs.js';
import { BaseEnvironment } from './base-environment.js';
import { type Capture, parseCapture } from './capture.js';
import { type Captured, filterFunctions, placeFunctions, readSnapshot } from './captured.js';
import { SessionCgroup } from './cgroup.js';
import { Connection } from './connection.js';
import { type ContainmentMaker, groups } from './containment.js';
import { Freshness } from './freshness.js';
import { Keep } from './keep.js';
import { Listener } from './listener.js';
import { Readiness } from './readiness.js';
import { AgentSession } from './session.js';
import { type AgentSettings, readSettings, takeSnapshotBytes } from './settings.js';
import type { SpawnPlan } from './spawn-plan.js';
import { Wardens } from './warden.js';
import type { Wrapping } from './wrapping.js';

const SIGTERM = 15;
const RLIMIT_NOFILE = 7;
const LOCK_TRIES = 20;
/** A session that nobody can reach any more, since its runtime directory or its project was removed, would otherwise stay for ever. */
const REACHABLE_CHECK_MS = 10_000;
/**
 * For what serves commands: machine code at its first call, and optimised after a fortieth of the usual time. A session sees few commands, one
 * by one, and the interpreter made the first of them a fifth slower. Not from the start on, whose code runs once: that would cost 6 MB.
 * From V8 12 on (Node 22) there is Maglev, which comes early by itself.
 */
const V8_FLAGS = Number.parseInt(process.versions.v8, 10) < 12 ? ['--always-sparkplug', '--interrupt-budget=3000'] : ['--always-sparkplug'];

/**
 * Runs the agent until its session ends.
 *
 * @param stem what the session's files begin with: `<runtime directory>/<id>`.
 * @param captureFd the shim's capture; taken.
 * @returns the exit status.
 */
export async function runAgent(stem: string, captureFd: number): Promise<number> {
  const readiness = new Readiness(`${stem}.notify`, undefined);
  try {
    const capture = parseCapture(readFileSync(captureFd));
    closeSync(captureFd);
    return await serve(stem, capture, readSettings(`${stem}.json`));
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    process.stderr.write(`holdfast: the agent could not start: ${text}\n`);
    readiness.tell(`HOLDFAST_ERROR=${text}`);
    return 1;
  }
}

async function serve(stem: string, capture: Capture, settings: AgentSettings): Promise<number> {
  leadOwnSession();
  setSubreaper();
  const keep = settings.isKept ? new Keep(`${stem}.keep`) : undefined;
  const containment = chooseContainment(settings.containment);
  const captured = capturedOf(stem, capture, settings);
  const plan: SpawnPlan = {
    base: new BaseEnvironment(captured.environment, settings.declared, settings.weak, settings.pathPrepend),
    limits: new Float64Array(changedLimits(capture)),
    functions: placeFunctions(captured),
    lastPath: undefined,
  };
  const wrapping = await wrappingOf(settings, captured.environment, plan);
  if (containment instanceof Wardens) containment.isOther = (pid) => wrapping?.isHelper(pid) === true;
  const session = new AgentSession({
    name: settings.name,
    stem,
    plan,
    wrapping,
    killGraceMs: settings.killGraceMs,
    jobOutputLimitBytes: settings.jobOutputLimitBytes,
    maxConcurrent: settings.maxConcurrent,
    maxQueue: settings.maxQueue,
    idleTimeoutMs: settings.idleTimeoutMs,
    containment,
    isOwned: settings.isOwned,
    freshness: new Freshness(settings, toldInputs(captured.environment)),
    onStale: settings.onStale,
    absent: captured.absent,
    facts: { definition: settings.definition, functions: functionCost(captured.environment) },
  });
  const listener = new Listener(`${stem}.sock`, (fd) => Connection.serve(session, fd));
  const readiness = new Readiness(`${stem}.notify`, settings.notifySocket);
  const ended = new Promise<number>((resolve) => {
    let stopping = false;
    session.onStop = (graceMs) => {
      if (stopping) return;
      stopping = true;
      readiness.tell('STOPPING=1');
      listener.close();
      void session.stop(graceMs).then(() => resolve(0));
    };
  });
  const watching = setInterval(() => {
    if (!listener.isReachable() || session.isForsaken || session.isDeserted) session.onStop(undefined);
  }, REACHABLE_CHECK_MS);
  void ended.then(() => clearInterval(watching));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => session.onStop(undefined));
  // A launcher's limit of file size is to end no session: the write fails, and says so.
  process.on('SIGXFSZ', () => {});
  // A bug of ours ends the request that met it, not the session.
  process.on('uncaughtException', (error) => process.stderr.write(`holdfast: internal error: ${error.stack ?? error.message}\n`));
  for (const flag of V8_FLAGS) setFlagsFromString(flag);
  if (!readiness.tell(`READY=1\nMAINPID=${process.pid}\nSTATUS=serving '${settings.name}'`)) {
    process.stderr.write('holdfast: whoever opened this session is gone\n');
    session.onStop(0);
  }
  // The launcher holds the environment; when it ends, the environment has. The opener's end means nothing.
  if (process.ppid !== settings.openerPid && process.ppid > 1) followParent(SIGTERM);
  const status = await ended;
  // What could not be stopped stays on record: closing or opening the session tries again.
  if (keep !== undefined && !(await keep.end())) return status;
  if (session.isDisowned) {
    const { leavesCompany, startCloser } = await import('./closer.js');
    if (leavesCompany(stem)) {
      startCloser(settings.name, stem);
      return status;
    }
  }
  tidy(stem);
  return status;
}

/** A snapshot's agent lives on the host: what the shim saw there is not what its commands get. */
function capturedOf(stem: string, capture: Capture, settings: AgentSettings): Captured {
  if (settings.mode !== 'snapshot') return filterFunctions(capture.environment, settings.functions);
  return readSnapshot(takeSnapshotBytes(`${stem}.snapshot`), capture.environment);
}

/** Loaded by sessions that have a wrapper, and by no other. */
async function wrappingOf(settings: AgentSettings, entered: ReadonlyMap<string, string>, plan: SpawnPlan): Promise<Wrapping | undefined> {
  if (settings.mode !== 'wrap') return undefined;
  const { Wrapping } = await import('./wrapping.js');
  const { wrapOf } = await import('./wrap-settings.js');
  const { wrap, isEntered } = wrapOf(settings);
  return new Wrapping({
    wrap,
    entered: isEntered ? entered : undefined,
    declared: { declared: settings.declared, weak: settings.weak, pathPrepend: settings.pathPrepend },
    plan,
    killGraceMs: settings.killGraceMs,
  });
}

/** Takes the session's files away. Whoever holds the lock is closing or opening the session, and does so itself. */
function tidy(stem: string): void {
  let lock: number | undefined;
  try {
    // A client that looks whether it is held holds it for an instant.
    for (let tries = 0; lock === undefined && tries < LOCK_TRIES; tries++) lock = lockFile(`${stem}.lock`, false);
  } catch {
    return; // the directory is gone, and they with it
  }
  if (lock === undefined) return;
  // All but 'json', 'pass' and 'log' are of an opener that was killed.
  for (const suffix of ['json', 'json.new', 'pass', 'notify', 'snapshot', 'snapshot.new', 'capture', 'capture.new', 'log', 'lock'])
    rmSync(`${stem}.${suffix}`, { force: true });
  closeFd(lock);
}

/** The most exact that can be had here, unless one is asked for. @throws Error when that one cannot be had. */
function chooseContainment(wanted: string): ContainmentMaker {
  if (wanted === 'group') return groups;
  const cgroup = wanted === 'warden' ? undefined : SessionCgroup.find();
  if (cgroup !== undefined) return cgroup;
  if (wanted === 'cgroup') throw new Error('no cgroup v2 can be made here; see holdfast doctor');
  return new Wardens();
}

/** Targets must not share a session with the launcher: its terminal signals are not theirs. A session leader already has its own. */
function leadOwnSession(): void {
  try {
    setsid();
  } catch {
    // EPERM: we lead the launcher's group, by an exec chain; the opener gave it a session of its own.
  }
}

/** What Node has changed of its own limits by now: it raises the soft limit of open files, and nothing else. */
function changedLimits(capture: Capture): number[] {
  return capture.limits.filter(([resource]) => resource === RLIMIT_NOFILE).flat();
}
