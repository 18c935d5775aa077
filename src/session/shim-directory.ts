// A directory of shims: links to runner-exec under the names of tools, to stand early on the PATH. `cargo` there runs cargo in the
// session of the project that it is called in (native/client_shim.c). The directory holds nothing else, and a mark says so: an
// environment is entered without it on its PATH, since whatever enters it may use those very tools.

import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';

import { systemErrorText } from '../client/errno.js';
import { makeDirectories } from '../client/make-directories.js';
import { HoldfastError } from '../errors.js';
import { installed } from '../install.js';

const MARK = '.holdfast-shims';
const MARK_TEXT = "Made by 'holdfast shim install'. Environments are entered without this directory on their PATH.\n";
const PROGRAM = 'runner-exec';
/** Holdfast cannot run inside a session that it would have to open first. */
const NOT_TO_BE_SHIMS = [PROGRAM, 'holdfast', '.', '..', ''];

export interface Shim {
  readonly tool: string;
  /** The runner-exec that it leads to. */
  readonly program: string;
  /** Nothing is there any more: Holdfast was moved, or taken away. */
  readonly isBroken: boolean;
}

/** All or, when one cannot be made, none. Those that are there already lead to this installation afterwards. @throws {HoldfastError} */
export function installShims(directory: string, tools: readonly string[]): void {
  for (const tool of tools) refuseName(tool);
  refuseMissingProgram();
  trying('make', directory, () => {
    makeDirectories(directory);
    if (!isShimDirectory(directory)) refuseOccupied(directory);
    for (const tool of tools) refuseOther(directory, tool);
    writeFileSync(join(directory, MARK), MARK_TEXT);
    for (const tool of tools) {
      // Beside it, then in its place: a build that calls the tool just now finds the one or the other.
      const fresh = join(directory, `.${tool}.${process.pid}`);
      symlinkSync(installed.runnerExec, fresh);
      renameSync(fresh, join(directory, tool));
    }
  });
}

/** By name. @throws {HoldfastError} `SHIM_DIRECTORY`. */
export function listShims(directory: string): Shim[] {
  if (!isShimDirectory(directory)) throw noShims(directory);
  return trying('read', directory, () =>
    readdirSync(directory)
      .sort()
      .flatMap((tool) => findShim(directory, tool) ?? []),
  );
}

/** Without tools: all of them, and the directory where it is empty then. @throws {HoldfastError} `SHIM_DIRECTORY`, `USAGE`. */
export function removeShims(directory: string, tools: readonly string[]): void {
  const there = listShims(directory).map((shim) => shim.tool);
  const strange = tools.find((tool) => !there.includes(tool));
  if (strange !== undefined) {
    throw new HoldfastError('USAGE', `'${strange}' is no shim in '${directory}'`, { hint: "'holdfast shim list DIR' shows which are" });
  }
  trying('change', directory, () => {
    for (const tool of tools.length > 0 ? tools : there) rmSync(join(directory, tool));
    if (tools.length > 0) return;
    rmSync(join(directory, MARK));
    if (readdirSync(directory).length === 0) rmdirSync(directory);
  });
}

/** The same list of directories without those of shims. Text of any encoding: names are only compared. */
export function pathWithoutShims(path: string): string {
  const kept = path.split(':').filter((directory) => directory === '' || !isShimDirectory(Buffer.from(directory, 'latin1')));
  return kept.join(':');
}

function isShimDirectory(directory: string | Buffer): boolean {
  return existsSync(Buffer.concat([Buffer.from(directory), Buffer.from(`/${MARK}`)]));
}

function findShim(directory: string, tool: string): Shim | undefined {
  try {
    const program = readlinkSync(join(directory, tool));
    return basename(program) === PROGRAM && tool !== PROGRAM ? { tool, program, isBroken: !existsSync(join(directory, tool)) } : undefined;
  } catch {
    return undefined; // no link
  }
}

function refuseName(tool: string): void {
  if (!NOT_TO_BE_SHIMS.includes(tool) && !tool.includes('/') && !tool.includes('\0')) return;
  const hint = tool.includes('/') ? 'name it as it is typed, without a directory' : `a shim has the name of a tool, such as 'cargo'`;
  throw new HoldfastError('USAGE', `there can be no shim called '${tool}'`, { hint });
}

function refuseMissingProgram(): void {
  try {
    accessSync(installed.runnerExec, constants.X_OK);
  } catch (cause) {
    throw new HoldfastError('NATIVE_MISSING', `shims lead to '${installed.runnerExec}', which cannot be run`, {
      hint: "'holdfast doctor' says how to get it",
      cause,
    });
  }
}

/** Whoever has it on the PATH would lose its programs inside of environments. */
function refuseOccupied(directory: string): void {
  const [other] = readdirSync(directory);
  if (other === undefined) return;
  throw new HoldfastError('SHIM_DIRECTORY', `cannot put shims into '${directory}': it holds other things, such as '${other}'`, {
    hint: 'name a directory that is empty, or that is not there yet',
  });
}

function refuseOther(directory: string, tool: string): void {
  const path = join(directory, tool);
  if (findShim(directory, tool) !== undefined || !readdirSync(directory).includes(tool)) return;
  throw new HoldfastError('SHIM_DIRECTORY', `cannot make the shim '${path}': a file of that name is there`, { hint: 'move it away first' });
}

function noShims(directory: string): HoldfastError {
  return new HoldfastError('SHIM_DIRECTORY', `'${directory}' is no directory of shims`, {
    hint: "'holdfast shim install DIR TOOL...' makes one",
  });
}

function trying<T>(what: string, directory: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    if (cause instanceof HoldfastError) throw cause;
    throw new HoldfastError('SHIM_DIRECTORY', `cannot ${what} the shims in '${directory}': ${systemErrorText(cause)}`, {
      hint: 'name a directory that is yours',
      cause,
    });
  }
}
