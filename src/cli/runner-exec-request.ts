// From the command line of `holdfast __runner-exec` to the request of the wire, in bytes. The rules of native/client_environment.c
// and native/client_directory.c.

import type { Caller } from '../client/caller.js';
import { isPerProcess, joinDirectory } from '../client/directory.js';
import {
  callerEntries,
  passAllChanges,
  passChange,
  prependChange,
  sessionPassChanges,
  setChange,
  terminalChanges,
  unsetChange,
} from '../client/environment.js';
import { HoldfastError } from '../errors.js';
import { packStrings, type RunRequest } from '../protocol/messages.js';
import type { Jobserver } from './runner-exec-jobserver.js';
import type { RunnerOptions } from './runner-exec-options.js';
import { toBytes, toText } from './runner-exec-words.js';

export interface RunnerContext {
  readonly caller: Caller;
  /** Numbers of the descriptors in the target. */
  readonly numbers: readonly number[];
  readonly jobserver: Jobserver;
  /** One of 0, 1 and 2 is a terminal. */
  readonly seesTerminal: boolean;
  readonly passNames: Buffer;
  /** The agent has asked for the caller's environment. */
  readonly hasCaller: boolean;
}

/** One change of the session's environment, as on the wire. */
export interface Change {
  readonly bytes: Buffer;
  /** Its value is the caller's own; else it was typed. */
  readonly passed: boolean;
}

/** @throws {HoldfastError} `USAGE`, `DIRECTORY_REFUSED`; {ProtocolError} `FRAME_TOO_LARGE` comes later, from the encoder. */
export function runnerRequest(options: RunnerOptions, context: RunnerContext): { request: RunRequest; changes: Change[] } {
  const { caller } = context;
  const cwd = directoryOf(options, caller);
  const changes = changesOf(options, context, cwd);
  const [program = '', ...args] = options.command.map(toBytes);
  const request: RunRequest = {
    exact: options.exact,
    detach: options.detach,
    report: options.report !== undefined,
    cwdByDescriptor: cwd === undefined,
    hasCaller: context.hasCaller,
    terminal: { kind: 'plain' },
    nice: options.nice,
    umask: caller.umask,
    ignored: caller.ignored,
    killGraceMs: options.killGraceMs,
    timeoutMs: options.timeoutMs,
    fds: context.numbers,
    limits: options.limits,
    argv: packStrings([options.argv0 === undefined ? program : toBytes(options.argv0), ...args]),
    program: options.argv0 === undefined ? NO_BYTES : Buffer.from(program),
    env: packStrings([...changes.map(({ bytes }) => bytes), ...(context.hasCaller ? callerEntries(caller.variables) : [])]),
    cwd: cwd ?? NO_BYTES,
  };
  return { request, changes };
}

/** Weakest first: terminal, the session's own list, make's, then what was typed in the order typed. */
function changesOf(
  options: RunnerOptions,
  { caller, jobserver, seesTerminal, passNames }: RunnerContext,
  cwd: Buffer | undefined,
): Change[] {
  const { variables } = caller;
  const changes: Change[] = [];
  const add = (passed: boolean, ...more: Buffer[]): void => {
    for (const bytes of more) changes.push({ bytes, passed });
  };
  if (!options.exact && seesTerminal) add(true, ...terminalChanges(variables));
  if (!options.exact) add(true, ...sessionPassChanges(passNames, variables));
  if (jobserver.there) add(true, ...sessionPassChanges(MAKE_NAMES, variables));
  for (const option of options.env) {
    switch (option.kind) {
      case 'set':
        add(false, setChange(toBytes(option.name), toBytes(option.value)));
        break;
      case 'unset':
        add(false, unsetChange(toBytes(option.name)));
        break;
      case 'pass':
        if (option.name === '*') add(true, ...passAllChanges(variables, options.exact));
        else add(true, passChange(toBytes(option.name), variables));
        break;
      case 'path-prepend':
        add(false, prependChange(joinDirectory(cwd, toBytes(option.directory)) ?? toBytes(option.directory)));
        break;
    }
  }
  return changes;
}

/** `undefined`: the working directory has no name, and travels as a descriptor. */
function directoryOf({ cwd }: RunnerOptions, caller: Caller): Buffer | undefined {
  if (cwd === undefined) return caller.directory;
  const path = joinDirectory(caller.directory, toBytes(cwd));
  if (path === undefined) {
    throw new HoldfastError(
      'USAGE',
      `cannot use the directory '${toText(cwd)}': the path is too long, or the current directory has no name`,
      {
        hint: 'give an absolute path',
      },
    );
  }
  if (isPerProcess(path)) {
    throw new HoldfastError(
      'DIRECTORY_REFUSED',
      `cannot use the directory '${toText(cwd)}': that path means another place in every process`,
      {
        hint: 'name the directory itself',
      },
    );
  }
  return path;
}

const MAKE_NAMES = Buffer.from('MAKEFLAGS\nMFLAGS\nMAKELEVEL');
const NO_BYTES = Buffer.alloc(0);
