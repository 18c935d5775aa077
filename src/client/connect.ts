// From a selected session to a connected socket: its address, the checks on both, and what to say when nobody answers.
// DESIGN section 4 "Session life". The texts are those of native/client: a user must not see which client spoke.

import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';

import { HoldfastError } from '../errors.js';
import { closeFd } from '../native/descriptors.js';
import { connectUnix, peerCredentials } from '../native/sockets.js';
import { NativeError } from '../native.js';
import { systemErrorText } from './errno.js';
import type { Selection } from './locate.js';
import { openRuntimeDirectory, runtimeDirectoryPath, sessionFiles } from './runtime-directory.js';

export interface SessionAddress {
  /** As the user knows it: a name, or a path. */
  readonly label: string;
  readonly kind: Selection['kind'];
  readonly socket: Buffer;
  /** The file that says what of the caller's environment the session wants; absent when nothing. */
  readonly pass: string | undefined;
}

/**
 * Where the socket of a session, selected or named, would be. Looks at nothing but the runtime directory, which must be fit for use.
 *
 * @throws {HoldfastError} `RUNTIME_DIR`.
 */
export function addressOf(session: Selection | string, directory: string = runtimeDirectoryPath()): SessionAddress {
  const selection: Selection = typeof session === 'string' ? { kind: 'session', name: Buffer.from(session) } : session;
  if (selection.kind === 'socket') return { label: selection.path.toString(), kind: 'socket', socket: selection.path, pass: undefined };
  const name = selection.kind === 'session' ? selection.name : selection.directory;
  const opened = openRuntimeDirectory(directory);
  if (opened !== undefined) closeFd(opened);
  const files = sessionFiles(directory, name);
  return { label: name.toString(), kind: selection.kind, socket: Buffer.from(files.socket), pass: files.pass };
}

/**
 * Connects, once.
 *
 * @returns a non-blocking socket that the caller owns; `undefined` when the agent's backlog is full: whoever listens is alive, and
 * busy.
 * @throws {HoldfastError} `NO_SESSION`, `NOT_PERMITTED`, `RESOURCES`.
 */
export function connectSession(address: SessionAddress): number | undefined {
  let socket: number;
  try {
    socket = connectByAnyLength(address.socket);
  } catch (error) {
    if (codeOf(error) === 'EAGAIN') return undefined;
    throw unconnected(address, error);
  }
  try {
    const { uid } = peerCredentials(socket);
    if (uid !== process.geteuid?.()) {
      throw new HoldfastError('NOT_PERMITTED', `refused to use session '${address.label}': its agent belongs to user ${uid}`, {
        hint: 'only the user who opened a session can use it',
      });
    }
    return socket;
  } catch (error) {
    closeFd(socket);
    throw error;
  }
}

/**
 * Connects, and waits where the backlog is full. Calls back before it returns whenever it can.
 *
 * @param onConnected takes the socket.
 * @param onFailed with what `connectSession` throws, or `AGENT_FROZEN`.
 * @returns gives up: no call back comes after it. Safe to call at any time.
 */
export function connectWhenFree(
  address: SessionAddress,
  onConnected: (socket: number) => void,
  onFailed: (error: unknown) => void,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let waitedMs = 0;
  let napMs = FIRST_NAP_MS;
  const attempt = (): void => {
    let socket: number | undefined;
    try {
      socket = connectSession(address);
      if (socket === undefined && waitedMs >= MAX_WAIT_MS) throw tooBusy(address);
    } catch (error) {
      onFailed(error);
      return;
    }
    if (socket !== undefined) {
      onConnected(socket);
      return;
    }
    timer = setTimeout(attempt, napMs);
    waitedMs += napMs;
    napMs = Math.min(2 * napMs, LONGEST_NAP_MS);
  };
  attempt();
  return () => clearTimeout(timer);
}

/** The names of `runtime_pass_env`, one a line, and a first line for all of the caller's variables (environment.ts); empty when the session wants nothing. */
export function readPassNames(address: SessionAddress): Buffer {
  // Asked first because it is absent as a rule, and an exception costs more than the question.
  if (address.pass === undefined || !existsSync(address.pass)) return NO_NAMES;
  try {
    return readFileSync(address.pass);
  } catch {
    // Gone meanwhile, with its session. An unreadable file of a directory that only we may enter is not worth failing a command for.
    return NO_NAMES;
  }
}

const FIRST_NAP_MS = 1;
const LONGEST_NAP_MS = 16;
const MAX_WAIT_MS = 30_000;
const NO_NAMES = Buffer.alloc(0);
/** sun_path, its NUL included (unix(7)). */
const ADDRESS_BYTES = 108;
/** Not in node:fs: open(2), for Linux on every architecture that Node 20 runs on. */
const O_PATH = 0o10000000;

/** A path that is too long for an address is reached through a descriptor of the socket's own file. */
function connectByAnyLength(path: Buffer): number {
  if (path.length < ADDRESS_BYTES) return connectUnix(path);
  const file = openSync(path, O_PATH);
  try {
    return connectUnix(`/proc/self/fd/${file}`);
  } finally {
    closeSync(file);
  }
}

function tooBusy({ label }: SessionAddress): HoldfastError {
  return new HoldfastError('AGENT_FROZEN', `session '${label}' is too busy: it took no connection for ${MAX_WAIT_MS / 1000} s`, {
    hint: "'holdfast list' shows whether its agent is stuck",
  });
}

function unconnected(address: SessionAddress, error: unknown): HoldfastError {
  const code = codeOf(error);
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return new HoldfastError('NO_SESSION', `session '${address.label}' is not open`, { hint: startHint(address), cause: error });
    case 'ECONNREFUSED':
      return new HoldfastError('NO_SESSION', `session '${address.label}' is not served any more`, {
        hint: startHint(address),
        cause: error,
      });
    default:
      return new HoldfastError('RESOURCES', `cannot connect to session '${address.label}': ${systemErrorText(error)}`, {
        hint: code === 'EACCES' ? 'only the user who opened a session can use it' : "'holdfast list' shows what is open",
        cause: error,
      });
  }
}

function startHint({ kind, label }: SessionAddress): string {
  switch (kind) {
    case 'socket':
      return "start it with 'holdfast open'; 'holdfast list' shows what is open";
    case 'session':
      // A project's session has its directory for a name.
      if (label.startsWith('/'))
        return `start it with 'holdfast open --project ${label.slice(0, 200)}'; 'holdfast list' shows what is open`;
      return `start it with 'holdfast open ${label.slice(0, 200)} -- LAUNCHER...'; 'holdfast list' shows what is open`;
    case 'project':
      return "start it with 'holdfast open --project DIR'; 'holdfast logs' may tell why it ended";
  }
}

function codeOf(error: unknown): string {
  if (error instanceof NativeError) return error.code;
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return String(error);
}
