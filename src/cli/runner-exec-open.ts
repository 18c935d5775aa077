// Opens a project's session on first use: `holdfast open --project DIR`. As native/client_open.c.

import { type ChildProcess, spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';

import type { Selection } from '../client/locate.js';
import { signalName } from '../client/signal-name.js';
import { HoldfastError } from '../errors.js';
import { installed } from '../install.js';
import { closeOnExecFrom, isTty } from '../native/descriptors.js';
import { directoryName } from './selection.js';

const STDERR = 2;
const DEADLY = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const;
/** Of what the tool wrote; more than its cause and cure is not looked at. */
const WORDS_BYTES = 4095;

interface End {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Empty when it wrote to our own stderr. */
  readonly words: string;
}

/**
 * At a terminal the tool writes there itself, progress and all. Elsewhere its words are kept: a failure is one line, and it is ours.
 * A signal that would end us is passed on first, so that a half-entered environment ends with us.
 *
 * @returns the number of that signal: to die by; `undefined`: the session is open.
 * @throws {HoldfastError} `LAUNCH_FAILED`, `NAME_INVALID`.
 */
export async function openProject(directory: Buffer): Promise<number | undefined> {
  const name = directoryName(directory);
  return await runTool({ words: ['open', '--project', name], failure: `cannot open the session of '${name}'` });
}

/** Likewise, for a session whose agent says that it is stale. Returns at once where another client has done it meanwhile. */
export async function openAgain(selection: Selection): Promise<number | undefined> {
  const name = (
    selection.kind === 'socket' ? selection.path : selection.kind === 'session' ? selection.name : selection.directory
  ).toString();
  return await runTool({
    words: ['reopen', '--if-stale', selection.kind === 'socket' ? '--socket' : '--', name],
    failure: `cannot open session '${name}' again`,
  });
}

interface ToolCall {
  readonly words: readonly [command: string, ...string[]];
  readonly failure: string;
}

async function runTool(call: ToolCall): Promise<number | undefined> {
  // Nothing of the caller's may live on in the environment that is opened.
  closeOnExecFrom(STDERR + 1);
  const output = isTty(STDERR) ? STDERR : 'pipe';
  const [command, ...rest] = call.words;
  const words = output === 'pipe' ? [command, '--quiet', ...rest] : call.words;
  const child = spawn(process.execPath, [installed.cli, ...words], { stdio: ['ignore', output, output] });
  let deadly: NodeJS.Signals | undefined;
  const passOn = (signal: NodeJS.Signals): void => {
    deadly = signal;
    child.kill(signal);
  };
  for (const signal of DEADLY) process.on(signal, passOn);
  try {
    const end = await endOf(child);
    if (deadly !== undefined) return constants.signals[deadly];
    if (output === STDERR && (end.code === 1 || end.code === 2)) throw new HoldfastError('LAUNCH_FAILED', `${call.failure}: see above`);
    if (end.code !== 0) throw launchError(call, end);
    // A warning, since it did what it was asked for.
    if (end.words !== '') writeSync(STDERR, end.words);
    return undefined;
  } finally {
    for (const signal of DEADLY) process.off(signal, passOn);
  }
}

function endOf(child: ChildProcess): Promise<End> {
  let words = '';
  const keep = (stream: Readable | null): void => {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      words = (words + text).slice(0, WORDS_BYTES);
    });
  };
  keep(child.stdout);
  keep(child.stderr);
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, words: `holdfast: ${error.message}` }));
    child.once('close', (code, signal) => resolve({ code, signal, words }));
  });
}

/** The tool's cause and cure, "holdfast: CAUSE" and "hint: CURE", a line each. */
export function launchError({ words: [command], failure }: ToolCall, { code, signal, words }: End): HoldfastError {
  const cause = /^holdfast: (.*)$/m.exec(words)?.[1];
  const hint =
    /^hint: (.*)$/m.exec(words)?.[1] ?? "try it by hand with 'holdfast open --project DIR'; 'holdfast doctor' checks the installation";
  const fault =
    signal !== null
      ? `'holdfast ${command}' died of ${signalName(constants.signals[signal])}`
      : (cause ?? `'holdfast ${command}' ended with status ${code}`);
  return new HoldfastError('LAUNCH_FAILED', `${failure}: ${fault}`, { hint });
}
