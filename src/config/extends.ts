// A session that is declared on top of another one: `extends`, which leads from table to table, in one file or through several.
// The later says more, as flags do over a file (overlay.ts); what is said of a path stays relative to the file that says it.

import { realpathSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { HoldfastError } from '../errors.js';
import { findContradiction } from './contradiction.js';
import { type ConfigFile, parseConfig, readConfigFile, readConfigText } from './file.js';
import { findNearest } from './nearest.js';
import { overlay } from './overlay.js';
import { isRunnerJson } from './runner-json.js';
import type { SessionSettings } from './settings.js';

/** Deeper than anybody can follow by eye. */
const MAX_DEPTH = 16;
/** Their first word is a program, which may be a file beside the one that names it. */
const COMMANDS = ['launcher', 'source_command', 'prefix'] as const;

/** One table on the way. `name`: of `[sessions.NAME]`; `undefined`: `[session]`. */
interface Link {
  readonly file: ConfigFile;
  readonly name: string | undefined;
  readonly settings: SessionSettings;
}

/**
 * What a table says together with all that it extends.
 *
 * @returns `undefined` when the file has no such table.
 * @throws {HoldfastError} `CONFIG_INVALID` at the line of the `extends` that leads nowhere, round or too deep, and as `readConfigFile`.
 */
export function settleSession(file: ConfigFile, name: string | undefined): SessionSettings | undefined {
  const first = findLink(file, name);
  if (first === undefined) return undefined;
  return first.settings.extends === undefined ? first.settings : fold(chainFrom(first), directoryOf(file));
}

/** The same for flags: `--extends FILE` or `--extends FILE#NAME`, seen from `directory`. @throws {HoldfastError} `USAGE`, and as above. */
export function settleFlags(flags: SessionSettings, directory: string): SessionSettings {
  const { extends: target, ...own } = flags;
  if (target === undefined) return flags;
  const { path, name } = parseTarget(target);
  if (path === undefined) {
    throw new HoldfastError('USAGE', `'--extends ${target}' names no file`, { hint: '--extends takes FILE or FILE#NAME' });
  }
  const file = readConfigFile(resolve(directory, path));
  const base = settleSession(file, name);
  if (base === undefined) {
    throw new HoldfastError(
      'USAGE',
      `'--extends ${target}' names ${shown(name)}, which '${file.path}' does not declare`,
      hintOf(file, name),
    );
  }
  return overlay(movedFrom(directoryOf(file), base, directory), own);
}

/** The files that a table and all that it extends are in; absolute paths. To be asked of what settles. */
export function filesBehind(file: ConfigFile, name: string | undefined): string[] {
  const first = findLink(file, name);
  return [...new Set([resolve(file.path), ...(first === undefined ? [] : chainFrom(first).map((link) => resolve(link.file.path)))])];
}

/** The same for flags. */
export function filesBehindFlags({ extends: target }: SessionSettings): string[] {
  const { path, name } = target === undefined ? { path: undefined, name: undefined } : parseTarget(target);
  return path === undefined ? [] : filesBehind(readConfigFile(resolve(path)), name);
}

/** From the table itself to the one that stands alone. */
function chainFrom(first: Link): Link[] {
  const chain = [first];
  const seen = new Set([idOf(first)]);
  for (let link = first; link.settings.extends !== undefined; ) {
    const next = follow(link, link.settings.extends);
    const id = idOf(next);
    if (seen.has(id)) {
      const way = [...chain, next].map(({ name, file }) =>
        file.path === first.file.path ? shown(name) : `${shown(name)} of '${file.path}'`,
      );
      throw fault(link, `'extends' goes round: ${way.join(', then ')}`, 'one of them has to stand alone');
    }
    if (chain.length >= MAX_DEPTH) {
      throw fault(link, `'extends' leads through more than ${MAX_DEPTH} tables`, 'join some of them into one');
    }
    seen.add(id);
    chain.push(next);
    link = next;
  }
  return chain;
}

function follow(link: Link, target: string): Link {
  const { path, name } = parseTarget(target);
  const file = path === undefined ? link.file : readTarget(link, resolve(directoryOf(link.file), path));
  const next = findLink(file, name);
  if (next !== undefined) return next;
  const where = path === undefined ? 'which is not declared here' : `which '${file.path}' does not declare`;
  throw fault(link, `'extends' names ${shown(name)}, ${where}`, hintOf(file, name).hint);
}

function readTarget(link: Link, path: string): ConfigFile {
  try {
    const text = readConfigText(path);
    if (!isRunnerJson(path, text)) return parseConfig(path, text);
  } catch (error) {
    // What is wrong inside the other file is told with the line there.
    if (!(error instanceof HoldfastError) || error.code !== 'CONFIG_UNREADABLE') throw error;
    const hint = 'a file is relative to the one that names it; the session of a file is FILE, another one in it FILE#NAME';
    throw fault(link, `'extends': ${error.message}`, hint);
  }
  const hint = "only what a holdfast.toml declares can be extended: 'holdfast open NAME --config FILE' opens a runner.json";
  throw fault(link, `'extends' names '${path}', which is a runner.json`, hint);
}

/** `[FILE][#[NAME]]`; without `#`, what has a slash or the ending of a file is a file. */
function parseTarget(target: string): { path: string | undefined; name: string | undefined } {
  const hash = target.indexOf('#');
  if (hash === -1) return /\/|\.(toml|json)$/.test(target) ? { path: target, name: undefined } : { path: undefined, name: target };
  return { path: target.slice(0, hash) || undefined, name: target.slice(hash + 1) || undefined };
}

function findLink(file: ConfigFile, name: string | undefined): Link | undefined {
  const settings = name === undefined ? file.session : file.sessions.get(name);
  return settings === undefined ? undefined : { file, name, settings };
}

function fold(chain: readonly Link[], directory: string): SessionSettings {
  let whole: SessionSettings = {};
  for (const { file, settings } of [...chain].reverse()) whole = overlay(whole, movedFrom(directoryOf(file), settings, directory));
  delete whole.extends;
  const contradiction = findContradiction(whole);
  if (contradiction === undefined) return whole;
  const { key, message, hint } = contradiction;
  const speaker = chain.find(({ settings }) => settings[key] !== undefined) ?? chain[0];
  if (speaker === undefined) throw new Error('a contradiction of nothing');
  throw speaker.file.fault(
    [...tableOf(speaker), key],
    `${message} in ${shown(speaker.name)}, with what it extends or is extended by`,
    hint,
  );
}

/** The launcher runs in the directory of the session, not in that of the file that named its program. */
function movedFrom(from: string, settings: SessionSettings, to: string): SessionSettings {
  if (from === to) return settings;
  const moved: SessionSettings = { ...settings };
  for (const key of COMMANDS) {
    const [program, ...rest] = settings[key] ?? [];
    if (program?.includes('/')) moved[key] = [resolve(from, program), ...rest];
  }
  return moved;
}

function fault(link: Link, message: string, hint: string): HoldfastError {
  return link.file.fault([...tableOf(link), 'extends'], message, hint);
}

function hintOf(file: ConfigFile, name: string | undefined): { hint: string } {
  const names = [...file.sessions.keys()];
  const nearest = name === undefined ? undefined : findNearest(name, names);
  if (nearest !== undefined) return { hint: `did you mean '${nearest}'?` };
  const tables = [...(file.session === undefined ? [] : ['[session]']), ...names.map((each) => `'${each}'`)];
  return { hint: tables.length === 0 ? 'it declares no session at all' : `it declares ${tables.join(', ')}` };
}

function tableOf({ name }: Link): string[] {
  return name === undefined ? ['session'] : ['sessions', name];
}

function shown(name: string | undefined): string {
  return name === undefined ? '[session]' : `session '${name}'`;
}

/** The same file by another path, or through a link, is the same file. */
function idOf({ file, name }: Link): string {
  let path = resolve(file.path);
  try {
    path = realpathSync(path);
  } catch {
    // A pipe, or gone since it was read.
  }
  return JSON.stringify([path, name ?? null]);
}

function directoryOf(file: ConfigFile): string {
  return dirname(resolve(file.path));
}
