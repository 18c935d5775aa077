// Opens a project's session on first use: `holdfast open --project DIR`, whose messages go to our stderr. As native/client_project.c.

import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';

import { signalName } from '../client/signal-name.js';
import { HoldfastError } from '../errors.js';
import { installed } from '../install.js';
import { closeOnExecFrom } from '../native.js';
import { directoryName } from './selection.js';

const STDERR = 2;
const DEADLY = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const;

/**
 * A signal that would end us is passed on first, so that a half-entered environment ends with us.
 *
 * @returns the number of that signal: to die by; `undefined`: the session is open.
 * @throws {HoldfastError} `LAUNCH_FAILED`.
 */
export async function openProject(directory: Buffer): Promise<number | undefined> {
  const name = directoryName(directory);
  // Nothing of the caller's may live on in the environment that is opened.
  closeOnExecFrom(STDERR + 1);
  const child = spawn(process.execPath, [installed.cli, 'open', '--project', name], { stdio: ['ignore', STDERR, STDERR] });
  let deadly: NodeJS.Signals | undefined;
  const passOn = (signal: NodeJS.Signals): void => {
    deadly = signal;
    child.kill(signal);
  };
  for (const signal of DEADLY) process.on(signal, passOn);
  try {
    const fault = await faultOf(child);
    if (deadly !== undefined) return constants.signals[deadly];
    if (fault === undefined) return undefined;
    throw new HoldfastError('LAUNCH_FAILED', `cannot open the session of '${name}': ${fault}`, {
      hint: "try it by hand with 'holdfast open --project DIR'; 'holdfast doctor' checks the installation",
    });
  } finally {
    for (const signal of DEADLY) process.off(signal, passOn);
  }
}

function faultOf(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => {
      if (signal !== null) resolve(`'holdfast open' died of ${signalName(constants.signals[signal])}`);
      else resolve(code === 0 ? undefined : `'holdfast open' ended with status ${code}`);
    });
  });
}
