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
  /** The session wants the caller's environment. */
  readonly hasCaller: boolean;
}

/** One change of the session's environment, as on the wire. */
export interface Change {
  readonly bytes: Buffer;
  /** Its value is the caller's own; else it was typed. */
  readonly passed: boolean;
  readonly from: ChangeOrigin;
}

/** Who asked for a change: the rule of terminals, the session's `runtime_pass_env`, make, or an option. */
export type ChangeOrigin = 'terminal' | 'runtime_pass_env' | 'make' | '--env' | '--unset' | '--pass-env' | '--path-prepend';

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
export function changesOf(
  options: Pick<RunnerOptions, 'env' | 'exact'>,
  { caller, jobserver, seesTerminal, passNames }: Pick<RunnerContext, 'caller' | 'jobserver' | 'seesTerminal' | 'passNames'>,
  cwd: Buffer | undefined,
): Change[] {
  const { variables } = caller;
  const changes: Change[] = [];
  const add = (from: ChangeOrigin, ...more: Buffer[]): void => {
    for (const bytes of more) changes.push({ bytes, passed: !TYPED.has(from), from });
  };
  if (!options.exact && seesTerminal) add('terminal', ...terminalChanges(variables));
  if (!options.exact) add('runtime_pass_env', ...sessionPassChanges(passNames, variables));
  if (jobserver.there) add('make', ...sessionPassChanges(MAKE_NAMES, variables));
  for (const option of options.env) {
    switch (option.kind) {
      case 'set':
        add('--env', setChange(toBytes(option.name), toBytes(option.value)));
        break;
      case 'unset':
        add('--unset', unsetChange(toBytes(option.name)));
        break;
      case 'pass':
        if (option.name === '*') add('--pass-env', ...passAllChanges(variables, options.exact));
        else add('--pass-env', passChange(toBytes(option.name), variables));
        break;
      case 'path-prepend':
        add('--path-prepend', prependChange(joinDirectory(cwd, toBytes(option.directory)) ?? toBytes(option.directory)));
        break;
    }
  }
  return changes;
}

const TYPED: ReadonlySet<ChangeOrigin> = new Set(['--env', '--unset', '--path-prepend']);

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
