// From what a program asks for to the request of the wire (docs/protocol.md §4, RUN). Pure but for what `Caller` was made from.

import { HoldfastError } from '../errors.js';
import { encodeRun, ProtocolError, packStrings, type RunLimit, type RunRequest } from '../protocol/messages.js';
import type { Caller } from './caller.js';
import { isPerProcess, joinDirectory } from './directory.js';
import {
  type Bytes,
  callerEntries,
  passAllChanges,
  passChange,
  prependChange,
  sessionPassChanges,
  setChange,
  terminalChanges,
  unsetChange,
} from './environment.js';
import { findLimit, type LimitName, type LimitValue } from './limits.js';

/** A command to run in a session. Strings stand for their UTF-8; a Buffer is taken byte for byte. */
export interface RunSpec {
  /** With a slash: relative to `cwd`. Without: looked up on the PATH that the target will have. */
  readonly program: Bytes;
  readonly args?: readonly Bytes[] | undefined;
  /** What the program sees as its own name; the program as given, when absent. */
  readonly argv0?: Bytes | undefined;
  /** Set on top of the session's environment; `undefined` takes a variable out. */
  readonly env?: Readonly<Record<string, Bytes | undefined>> | undefined;
  /** Names of variables that are taken from this process now; `'*'`: all, where the session has none of that name. */
  readonly passEnv?: readonly string[] | undefined;
  /** Directories in front of PATH, the first one leads; relative ones are taken from `cwd`. */
  readonly pathPrepend?: readonly Bytes[] | undefined;
  /** The environment is what this spec says and nothing else. */
  readonly exact?: boolean | undefined;
  /** This process's working directory when absent; a relative one is taken from there. */
  readonly cwd?: Bytes | undefined;
  readonly umask?: number | undefined;
  /** Absolute, -20 to 19. */
  readonly nice?: number | undefined;
  readonly limits?: Readonly<Partial<Record<LimitName, LimitValue | { readonly soft: LimitValue; readonly hard: LimitValue }>>> | undefined;
  /** From the agent's taking it to TERM, waiting in the queue included. */
  readonly timeoutMs?: number | undefined;
  /** From TERM to KILL when the request is cancelled; the session's when absent. */
  readonly killGraceMs?: number | undefined;
}

/** What else the request depends on. */
export interface RequestContext {
  readonly caller: Caller;
  /** Numbers in the target of the descriptors that ride along. */
  readonly numbers: readonly number[];
  /** The session's `runtime_pass_env`, one a line. */
  readonly passNames: Buffer;
  /** One of 0, 1 and 2 is a terminal. */
  readonly seesTerminal: boolean;
  readonly report: boolean;
  /** The session wants the caller's environment. */
  readonly hasCaller?: boolean;
  /** The descriptor under 0 is a terminal that becomes the target's controlling one. */
  readonly controlsTerminal?: boolean;
}

/** @throws {HoldfastError} `REQUEST_INVALID`, `DIRECTORY_REFUSED`. */
export function buildRequest(spec: RunSpec, context: RequestContext): RunRequest {
  const { caller } = context;
  const program = Buffer.from(spec.program);
  if (program.length === 0) throw new HoldfastError('REQUEST_INVALID', "cannot run '': a program needs a name");
  const cwd = directoryOf(spec, caller);
  return {
    exact: spec.exact ?? false,
    detach: false,
    report: context.report,
    cwdByDescriptor: cwd === undefined,
    hasCaller: context.hasCaller ?? false,
    terminal: context.controlsTerminal === true ? { kind: 'pty', fd: 0 } : { kind: 'plain' },
    nice: numberOf(spec, 'nice', -20, 19),
    umask: numberOf(spec, 'umask', 0, 0o777) ?? caller.umask,
    ignored: caller.ignored,
    killGraceMs: millisOf(spec, 'killGraceMs'),
    timeoutMs: millisOf(spec, 'timeoutMs'),
    fds: context.numbers,
    limits: limitsOf(spec),
    argv: packed('argv', [spec.argv0 ?? program, ...(spec.args ?? [])]),
    program: spec.argv0 === undefined ? NO_BYTES : program,
    env: packed('env', changesOf(spec, context, cwd)),
    cwd: cwd ?? NO_BYTES,
  };
}

/** Weakest first, since a later change wins. */
function changesOf(spec: RunSpec, { caller, passNames, seesTerminal, hasCaller }: RequestContext, cwd: Buffer | undefined): Buffer[] {
  const exact = spec.exact ?? false;
  const changes: Buffer[] = [];
  if (!exact && seesTerminal) changes.push(...terminalChanges(caller.variables));
  if (!exact && passNames.length > 0) changes.push(...sessionPassChanges(passNames, caller.variables));
  for (const name of spec.passEnv ?? []) {
    if (name === '*') changes.push(...passAllChanges(caller.variables, exact));
    else changes.push(passChange(checkedName(name), caller.variables));
  }
  for (const [name, value] of Object.entries(spec.env ?? {})) {
    changes.push(value === undefined ? unsetChange(checkedName(name)) : setChange(checkedName(name), value));
  }
  if (hasCaller === true) changes.push(...callerEntries(caller.variables));
  for (const directory of spec.pathPrepend ?? []) changes.push(prependChange(joinDirectory(cwd, Buffer.from(directory)) ?? directory));
  return changes;
}

/** The whole RUN frame. @throws {HoldfastError} `TOO_LARGE`, `REQUEST_INVALID`. */
export function encodeRequest(request: RunRequest): Buffer {
  try {
    return encodeRun(request);
  } catch (error) {
    throw requestError(error);
  }
}

function directoryOf({ cwd }: RunSpec, { directory }: Caller): Buffer | undefined {
  if (cwd === undefined) return directory;
  if (cwd.length === 0) throw new HoldfastError('REQUEST_INVALID', "the working directory is ''");
  const path = joinDirectory(directory, Buffer.from(cwd));
  if (path === undefined) {
    throw new HoldfastError('REQUEST_INVALID', `cannot use the directory '${cwd}': the current directory has no name`, {
      hint: 'give an absolute path',
    });
  }
  if (isPerProcess(path)) {
    throw new HoldfastError('DIRECTORY_REFUSED', `cannot use the directory '${cwd}': that path means another place in every process`, {
      hint: 'name the directory itself',
    });
  }
  return path;
}

function limitsOf({ limits }: RunSpec): RunLimit[] {
  if (limits === undefined) return NO_LIMITS;
  const found: RunLimit[] = [];
  let name: LimitName;
  for (name in limits) {
    const value = limits[name];
    if (value === undefined) continue;
    const { soft, hard } = typeof value === 'object' ? value : { soft: value, hard: value };
    const limit = findLimit(name, soft, hard);
    if (limit === undefined) {
      throw new HoldfastError('REQUEST_INVALID', `the limit '${name}' cannot be ${soft === hard ? soft : `${soft}:${hard}`}`, {
        hint: "a limit is a whole number, or 'unlimited', and its soft one is not above its hard one",
      });
    }
    found.push(limit);
  }
  return found;
}

function numberOf(spec: RunSpec, key: 'nice' | 'umask', lowest: number, highest: number): number | undefined {
  const value = spec[key];
  if (value === undefined || (Number.isInteger(value) && value >= lowest && value <= highest)) return value;
  throw new HoldfastError('REQUEST_INVALID', `'${key}' must be a whole number from ${lowest} to ${highest}, not ${value}`);
}

/** What is left of a part of one is not nothing: nothing means no deadline. */
function millisOf(spec: RunSpec, key: 'timeoutMs' | 'killGraceMs'): number | undefined {
  const value = spec[key];
  if (value === undefined) return undefined;
  if (value >= 0 && value <= MAX_MILLIS) return Math.ceil(value);
  throw new HoldfastError('REQUEST_INVALID', `'${key}' must be a number of milliseconds up to ${MAX_MILLIS}, not ${value}`, {
    hint: `without '${key}' there is none`,
  });
}

function checkedName(name: string): string {
  if (name === '' || name.includes('=')) throw new HoldfastError('REQUEST_INVALID', `'${name}' cannot be the name of a variable`);
  return name;
}

function packed(what: string, items: readonly Bytes[]): RunRequest['argv'] {
  try {
    return packStrings(items);
  } catch (error) {
    throw requestError(error, what);
  }
}

function requestError(error: unknown, what = 'the request'): HoldfastError {
  if (!(error instanceof ProtocolError)) throw error;
  if (error.code === 'FRAME_TOO_LARGE') {
    return new HoldfastError('TOO_LARGE', `the request is too large: ${error.message}`, {
      hint: 'hand large inputs over in a file or through a pipe',
      cause: error,
    });
  }
  return new HoldfastError('REQUEST_INVALID', `${what} cannot be sent: ${error.message}`, { cause: error });
}

const MAX_MILLIS = 0xffffffff;
const NO_BYTES = Buffer.alloc(0);
const NO_LIMITS: RunLimit[] = [];
