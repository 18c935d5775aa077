// The user's runtime directory and the files of a session in it: where they are, what they are called, who may use them.
// DESIGN section 4 "Session life". The C client has the same rules in native/: change both or neither.

import { createHash } from 'node:crypto';
import { constants, fstatSync, mkdirSync, type Stats } from 'node:fs';

import { HoldfastError } from '../errors.js';
import { closeFd } from '../native/descriptors.js';
import { openDirectory } from '../native/files.js';
import { NativeError } from '../native.js';
import { systemErrorText } from './errno.js';
import { makeDirectories } from './make-directories.js';

/** Names that are file names as they stand; every other one is hashed. */
const PLAIN_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,47}$/;

/** The files of one session. `stem` is the absolute path that all of them begin with. */
export interface SessionFiles {
  readonly id: string;
  readonly stem: string;
  readonly socket: string;
  readonly lock: string;
  readonly record: string;
  readonly log: string;
  readonly notify: string;
  readonly pass: string;
  /** What the entry shim takes from an environment that is entered for a snapshot. */
  readonly capture: string;
  /** The snapshot, for the agent, which takes it away. */
  readonly snapshot: string;
  /** The FIFO of what the session holds (src/session/hold.ts). */
  readonly keep: string;
}

/** `$HOLDFAST_RUNTIME_DIR`, else `$XDG_RUNTIME_DIR/holdfast`, else `/tmp/holdfast-$UID`. An empty variable counts as unset. */
export function runtimeDirectoryPath(env: NodeJS.ProcessEnv = process.env, uid: number = effectiveUid()): string {
  const own = env['HOLDFAST_RUNTIME_DIR'];
  const xdg = env['XDG_RUNTIME_DIR'];
  const path = own || (xdg ? `${xdg}/holdfast` : `/tmp/holdfast-${uid}`);
  // With a slash at the end O_NOFOLLOW would follow a link.
  return path.replace(/(?<=.)\/+$/, '');
}

/** The file name of a session: the name itself where it can be one, else `~` and 32 hex digits of its SHA-256. */
export function sessionId(name: string | Uint8Array): string {
  const text = typeof name === 'string' ? name : Buffer.from(name).toString('latin1');
  if (PLAIN_NAME.test(text)) return text;
  return `~${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
}

/** The files of the session `name` under `directory` (absolute, or `/proc/self/fd/N` where a path would be too long). */
export function sessionFiles(directory: string, name: string | Uint8Array): SessionFiles {
  const id = sessionId(name);
  const stem = `${directory}/${id}`;
  return {
    id,
    stem,
    socket: `${stem}.sock`,
    lock: `${stem}.lock`,
    record: `${stem}.json`,
    log: `${stem}.log`,
    notify: `${stem}.notify`,
    pass: `${stem}.pass`,
    capture: `${stem}.capture`,
    snapshot: `${stem}.snapshot`,
    keep: `${stem}.keep`,
  };
}

/**
 * Opens the runtime directory and checks it: a directory, no link, the caller's own, mode 0700. The checks are made on the
 * descriptor, so what was checked is what is used.
 *
 * @returns an O_PATH descriptor that the caller closes, or `undefined` when there is no such directory.
 * @throws {HoldfastError} `RUNTIME_DIR`.
 */
export function openRuntimeDirectory(path: string): number | undefined {
  let fd: number;
  try {
    fd = openDirectory(path);
  } catch (error) {
    if (error instanceof NativeError && error.code === 'ENOENT') return undefined;
    throw refused(path, whyUnopened(error), NAME_ANOTHER, error);
  }
  try {
    const found = findFault(fstatSync(fd));
    if (found !== undefined) throw refused(path, found.fault, found.hint);
    return fd;
  } catch (error) {
    closeFd(fd);
    throw error;
  }
}

/**
 * As `openRuntimeDirectory`, but makes the directory (0700) when it is absent. Its parents are made only when the user named
 * the directory: a missing `$XDG_RUNTIME_DIR` is a login without one, and not ours to make up.
 *
 * @throws {HoldfastError} `RUNTIME_DIR`.
 */
export function makeRuntimeDirectory(path: string, recursive: boolean = Boolean(process.env['HOLDFAST_RUNTIME_DIR'])): number {
  const found = openRuntimeDirectory(path);
  if (found !== undefined) return found;
  try {
    if (recursive) makeDirectories(path, 0o700);
    else mkdirSync(path, 0o700);
  } catch (error) {
    // Somebody else may have made it meanwhile; it is judged below like any other.
    if (codeOf(error) !== 'EEXIST') throw refused(path, `it cannot be made: ${systemErrorText(error)}`, NAME_ANOTHER, error);
  }
  const made = openRuntimeDirectory(path);
  if (made === undefined) throw refused(path, 'it vanished while it was made', NAME_ANOTHER);
  return made;
}

const NAME_ANOTHER = 'name another one in HOLDFAST_RUNTIME_DIR';

/** What makes a directory unfit, and the cure; `undefined`: nothing. */
export function findFault(stat: Pick<Stats, 'mode' | 'uid'>, uid: number = effectiveUid()): { fault: string; hint: string } | undefined {
  if ((stat.mode & constants.S_IFMT) !== constants.S_IFDIR) return { fault: NO_DIRECTORY, hint: NAME_ANOTHER };
  if (stat.uid !== uid) return { fault: `it belongs to user ${stat.uid}`, hint: NAME_ANOTHER };
  const mode = stat.mode & 0o777;
  if (mode === 0o700) return undefined;
  return {
    fault: `its mode is ${mode.toString(8).padStart(3, '0')}, not 700`,
    hint: `${NAME_ANOTHER}; one that is yours alone needs 'chmod 700'`,
  };
}

/** What keeps a directory that is ours from being written to. */
const UNWRITABLE: readonly string[] = ['EDQUOT', 'EFBIG', 'EIO', 'ENOSPC', 'EROFS'];

/** What went wrong with the files in it: said as the directory's where that is full or cannot be written to, else as it is. */
export function faultOfFiles(path: string, error: unknown): unknown {
  const isSystem = error instanceof Error && !(error instanceof HoldfastError);
  if (!isSystem || !UNWRITABLE.includes(codeOf(error))) return error;
  return refused(path, systemErrorText(error), NAME_ANOTHER, error);
}

const NO_DIRECTORY = 'it is a link, or no directory';

/** O_PATH|O_DIRECTORY|O_NOFOLLOW says ENOTDIR for a link and for a plain file alike. */
function whyUnopened(error: unknown): string {
  const code = codeOf(error);
  return code === 'ENOTDIR' || code === 'ELOOP' ? NO_DIRECTORY : systemErrorText(error);
}

function refused(path: string, fault: string, hint: string, cause?: unknown): HoldfastError {
  const more = cause === undefined ? { hint } : { hint, cause };
  return new HoldfastError('RUNTIME_DIR', `cannot use the runtime directory '${path}': ${fault}`, more);
}

function effectiveUid(): number {
  // Always there on Linux; the type says otherwise for Windows.
  return process.geteuid?.() ?? 0;
}

function codeOf(error: unknown): string {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return String(error);
}
