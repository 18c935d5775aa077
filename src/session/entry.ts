// The entering of an environment, in both ways: to stay, as the agent; or to take its variables and leave again, for a snapshot.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { installed } from '../install.js';
import { processStartTicks } from '../native/processes.js';
import type { Launch } from './definition.js';
import { launchArgv, withRawVariables } from './launch-command.js';
import type { LaunchLog } from './launch-log.js';
import { Launcher } from './launcher.js';
import { Launching } from './launching.js';
import type { OpenOptions } from './open.js';
import type { SessionPlace } from './place.js';
import { type SessionRecord, writeRecord } from './record.js';

/** For a launcher to come to its end once its command has: its exit trap runs now. As long as when a session is closed. */
const LEAVE_MS = 10_000;
const LEAVE_POLL_MS = 5;
/** From TERM to KILL for what a launcher leaves running. */
const LEFTOVER_GRACE_MS = 2_000;

export interface Entry {
  readonly place: SessionPlace;
  readonly record: SessionRecord;
  readonly log: LaunchLog;
  readonly options: OpenOptions;
  /** What the launcher is started with, latin1. */
  readonly environment: ReadonlyMap<string, string>;
}

/** Enters `launch` and returns, when the session serves, its agent's pid. @throws {HoldfastError} as `Launching.wait`. */
export async function enterAsAgent(entry: Entry, launch: Launch): Promise<number> {
  const { place } = entry;
  const launching = new Launching({ ...factsOf(entry), style: launch.style, call: { notifyPath: place.files.notify } });
  try {
    const launcher = await start(entry, launch, [process.execPath, installed.cli, place.shown.stem]);
    return await launching.wait(launcher, entry.record.definition.openTimeoutMs);
  } finally {
    launching.close();
    // An agent that finds it later would take its opener for dead.
    rmSync(place.files.notify, { force: true });
  }
}

/**
 * Enters `launch`, takes its environ, and leaves: when this returns, the launcher has come to its end and nothing of it runs.
 *
 * @throws {HoldfastError} as `Launching.wait`.
 */
export async function enterAndLeave(entry: Entry, launch: Launch): Promise<Buffer> {
  const { place } = entry;
  const { capture } = place.files;
  rmSync(capture, { force: true });
  const launching = new Launching({ ...factsOf(entry), style: launch.style, call: { arrived: () => existsSync(capture) } });
  try {
    const launcher = await start(entry, launch, ['__capture', place.shown.stem]);
    await launching.wait(launcher, entry.record.definition.openTimeoutMs);
    await leave(launcher, entry.options.signal);
    return readFileSync(capture);
  } finally {
    launching.close();
    for (const path of [capture, `${capture}.new`]) rmSync(path, { force: true });
  }
}

function factsOf({
  place,
  record,
  log,
  options,
}: Entry): Pick<ConstructorParameters<typeof Launching>[0], 'name' | 'log' | 'logPath' | 'options'> {
  return { name: record.definition.name, log, logPath: place.shown.log, options };
}

async function start({ place, record, log, options, environment }: Entry, launch: Launch, shimWords: readonly string[]): Promise<Launcher> {
  const { directory } = record.definition;
  const shim = [installed.runnerExec, '__enter', ...shimWords];
  const command = withRawVariables(launchArgv(launch, directory, shim, installed.share), environment);
  // The keeper is a child of ours too.
  const apart = record.held?.keeperPid;
  const { ownsProcess = true } = options;
  const launcher = await Launcher.start(command, directory, log.fd, { ownsProcess, ...(apart === undefined ? {} : { apart }) });
  const startTicks = processStartTicks(launcher.pid);
  options.onLauncher?.(launcher.pid, startTicks);
  writeRecord(place.files.record, {
    ...record,
    launcherPid: launcher.pid,
    ...(startTicks === undefined ? {} : { launcherStartTicks: startTicks }),
  });
  return launcher;
}

/** What it started, and did not end itself, is ended: a snapshot holds nothing open. */
async function leave(launcher: Launcher, signal: AbortSignal | undefined): Promise<void> {
  for (const deadline = performance.now() + LEAVE_MS; launcher.isAlive() && performance.now() < deadline; ) {
    if (signal?.aborted) break;
    await sleep(LEAVE_POLL_MS);
  }
  await launcher.undo(LEFTOVER_GRACE_MS);
}
