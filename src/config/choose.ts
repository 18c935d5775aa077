// Which session `holdfast open` means, and all that is said of it: a file, a project's environment file, and flags laid over them.
// docs/config.md "Which session is opened".

import { isUtf8 } from 'node:buffer';
import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

import { workingDirectory } from '../client/directory.js';
import { findProject, PROJECT_MARKERS, type ProjectMarker } from '../client/locate.js';
import { HoldfastError } from '../errors.js';
import type { SessionDefinition } from '../session/definition.js';
import { providerOf } from '../session/launchers/providers.js';
import type { SessionOrigin } from '../session/open.js';
import { ENTRY_KEYS, findContradiction } from './contradiction.js';
import { defineSession } from './define.js';
import { filesBehind, filesBehindFlags, settleFlags, settleSession } from './extends.js';
import { type ConfigFile, parseConfig, readConfigFile, readConfigText, withAbsolutePaths } from './file.js';
import { flagOf } from './keys.js';
import { findNearest } from './nearest.js';
import { overlay } from './overlay.js';
import { isRunnerJson, parseRunnerJson } from './runner-json.js';
import type { SessionSettings } from './settings.js';

const FILE_NAME = 'holdfast.toml';

export interface OpenRequest {
  readonly name: string | undefined;
  readonly config: string | undefined;
  readonly project: string | undefined;
  /** What the flags say; relative paths are relative to the working directory. */
  readonly settings: SessionSettings;
}

/** What a session is called, where its launcher runs, and what was said of it before the flags. */
interface Declared {
  readonly name: string;
  readonly directory: string;
  readonly settings: SessionSettings;
  /** The session belongs to a directory, and is opened again by whoever needs it. */
  readonly isProject: boolean;
  /** What was read to know this, or would have been had it been there. */
  readonly files: readonly string[];
}

export interface ChosenSession {
  readonly definition: SessionDefinition;
  /** For openSession: what a later opening starts from. */
  readonly origin: SessionOrigin;
}

/**
 * The definition of the session that a request means: by its launcher or script, by a file of configuration, or by the project around.
 *
 * @throws {HoldfastError} `USAGE`, `CONFIG_INVALID`, `CONFIG_UNREADABLE`, `NO_PROJECT`, `NO_SESSION`, `NAME_INVALID`.
 */
export function chooseSession(request: OpenRequest): SessionDefinition {
  return chooseOpening(request).definition;
}

/** @throws as chooseSession. */
export function chooseOpening(request: OpenRequest): ChosenSession {
  const here = workingDirectory();
  const typed = withAbsolutePaths(request.settings, here);
  const flags = settleFlags(typed, here);
  const declared = findDeclared({ ...request, settings: flags });
  const settings = overlay(declared.settings, flags);
  const contradiction = findContradiction(settings);
  if (contradiction !== undefined) {
    throw new HoldfastError('USAGE', `${contradiction.message} (${flagOf(contradiction.key)})`, { hint: contradiction.hint });
  }
  const { name, config, project } = request;
  const lasting = {
    name,
    settings: typed,
    config: config === undefined ? undefined : resolve(config),
    project: config === undefined || project !== undefined ? declared.directory : undefined,
  };
  return {
    definition: defineSession(settings, declared),
    origin: {
      request: lasting,
      files: [...declared.files, ...filesBehindFlags(typed)],
      ...(declared.isProject ? { place: declared.directory } : {}),
    },
  };
}

function findDeclared(request: OpenRequest): Declared {
  const { config, settings } = request;
  const start = startDirectory(request.project);
  // An absolute directory is the name of a project: it is opened as one, from wherever the command is typed.
  const named = request.name !== undefined && isDirectory(request.name) ? undefined : request.name;
  const from = request.name !== undefined && named === undefined ? realpathSync(request.name) : start;
  if (config !== undefined) return fromFile(config, request.name, request.project === undefined ? undefined : start);
  if (request.name !== undefined && saysWhatIsEntered(settings)) {
    if (named !== undefined) return { name: named, directory: start, settings: {}, isProject: false, files: [] };
    return { name: from, directory: from, settings: {}, isProject: true, files: [] };
  }
  if (named !== undefined) return fromNearestFile(named, from);
  return fromProject(from, settings);
}

function fromFile(path: string, name: string | undefined, directory: string | undefined): Declared {
  const text = readConfigText(path);
  if (isRunnerJson(path, text)) return fromRunnerJson(path, text, name, directory);
  const file = parseConfig(path, text);
  const home = realpathSync(dirname(resolve(path)));
  if (name === undefined) {
    if (basename(path) !== FILE_NAME || file.session === undefined) {
      throw new HoldfastError('USAGE', `a session from '${path}' needs a name`, { hint: `holdfast open NAME --config ${path}` });
    }
    const settings = settleSession(file, undefined) ?? {};
    return { name: home, directory: directory ?? home, settings, isProject: true, files: filesBehind(file, undefined) };
  }
  const settings = settleSession(file, name) ?? settleSession(file, undefined);
  if (settings === undefined) throw undeclared(name, file);
  return {
    name,
    directory: directory ?? home,
    settings,
    isProject: false,
    files: filesBehind(file, file.sessions.has(name) ? name : undefined),
  };
}

function fromRunnerJson(path: string, text: string, name: string | undefined, directory: string | undefined): Declared {
  if (name === undefined) {
    throw new HoldfastError('USAGE', `a session from '${path}' needs a name`, { hint: `holdfast open NAME --config ${path}` });
  }
  const runner = parseRunnerJson(path, text);
  return { name, directory: directory ?? runner.directory, settings: runner.settings, isProject: false, files: [resolve(path)] };
}

function fromNearestFile(name: string, start: string): Declared {
  for (let directory = start; ; directory = dirname(directory)) {
    const path = join(directory, FILE_NAME);
    if (existsSync(path)) {
      const file = readConfigFile(path);
      const settings = settleSession(file, name);
      if (settings === undefined) throw undeclared(name, file);
      return { name, directory, settings, isProject: false, files: filesBehind(file, name) };
    }
    if (directory === dirname(directory)) break;
  }
  throw new HoldfastError('NO_SESSION', `nothing says what session '${name}' enters: no ${FILE_NAME} here or above`, {
    hint: `name its launcher: 'holdfast open ${name} -- LAUNCHER...', or --source SCRIPT, or --config FILE`,
  });
}

function fromProject(start: string, flags: SessionSettings): Declared {
  const project = findProject(Buffer.from(start));
  if (project === undefined) {
    throw new HoldfastError('NO_PROJECT', `no session is named, and '${start}' is in no project`, {
      hint: "name it and its launcher: 'holdfast open NAME -- LAUNCHER...'",
    });
  }
  if (!isUtf8(project.directory)) {
    throw new HoldfastError('NAME_INVALID', `the directory '${project.directory}' is not UTF-8, so it cannot name a session`, {
      hint: "open it under a name of its own: 'holdfast open NAME -- LAUNCHER...'",
    });
  }
  const directory = project.directory.toString();
  const path = join(directory, FILE_NAME);
  const file = project.marker === FILE_NAME ? readConfigFile(path) : undefined;
  const settings = (file === undefined ? undefined : settleSession(file, undefined)) ?? {};
  const files = file === undefined ? [path] : filesBehind(file, undefined);
  if (saysWhatIsEntered(settings) || saysWhatIsEntered(flags)) return { name: directory, directory, settings, isProject: true, files };
  const marker = findMarkerBeside(directory);
  if (marker !== undefined) {
    const provider = providerOf(marker);
    // One that comes and is stronger makes another environment of the project.
    const stronger = PROJECT_MARKERS.slice(0, PROJECT_MARKERS.indexOf(marker)).map((each) => join(directory, each));
    return { name: directory, directory, settings: { ...settings, provider }, isProject: true, files: [...files, ...stronger] };
  }
  const names = [...(file?.sessions.keys() ?? [])];
  const hint =
    names.length > 0 && file?.session === undefined
      ? `it declares ${names.map((name) => `'${name}'`).join(', ')}: 'holdfast open ${names[0]}'`
      : `give its [session] one of ${ENTRY_KEYS.join(', ')}`;
  throw new HoldfastError('CONFIG_INVALID', `${path}:1: nothing says what the session of this directory enters`, { hint });
}

/** The environment file of a directory, also where a holdfast.toml stands beside it. */
function findMarkerBeside(directory: string): Exclude<ProjectMarker, typeof FILE_NAME> | undefined {
  for (const marker of PROJECT_MARKERS) {
    if (marker !== FILE_NAME && existsSync(join(directory, marker))) return marker;
  }
  return undefined;
}

function undeclared(name: string, file: ConfigFile): HoldfastError {
  const names = [...file.sessions.keys()];
  const nearest = findNearest(name, names);
  const declared = names.length === 0 ? '' : ` beside ${names.map((other) => `'${other}'`).join(', ')}`;
  const hint =
    nearest === undefined
      ? `declare [sessions.${tomlKey(name)}] there${declared}, or name its launcher: 'holdfast open ${name} -- LAUNCHER...'`
      : `did you mean '${nearest}'?`;
  return new HoldfastError('NO_SESSION', `session '${name}' is not declared in '${file.path}'`, { hint });
}

function tomlKey(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name);
}

/** Where the search begins, and where a launcher from the command line runs: physical, so that one directory has one name. */
function startDirectory(project: string | undefined): string {
  if (project === undefined) return workingDirectory();
  if (!isDirectory(resolve(project))) {
    throw new HoldfastError('USAGE', `'${project}' is not a directory`, { hint: '--project takes the directory of a project' });
  }
  return realpathSync(project);
}

/** Only an absolute path can be a project's name. */
function isDirectory(path: string): boolean {
  return path.startsWith('/') && (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false);
}

function saysWhatIsEntered(settings: SessionSettings): boolean {
  return (
    settings.mode === 'host' ||
    settings.prefix !== undefined ||
    settings.preset !== undefined ||
    ENTRY_KEYS.some((key) => settings[key] !== undefined)
  );
}
