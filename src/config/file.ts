// holdfast.toml: text → checked session tables. DESIGN section 6; docs/config.md lists the keys. Which session is opened, and with
// what defaults, is decided elsewhere.

import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { parse, TomlError } from 'smol-toml';

import { HoldfastError } from '../errors.js';
import { findContradiction } from './contradiction.js';
import { SESSION_KEY_NAMES } from './keys.js';
import { findLine } from './locate.js';
import { findNearest, findNearestChoice } from './nearest.js';
import { checkSettings, type Fault } from './schema.js';
import type { SessionSettings } from './settings.js';

/** Far above any file written by hand, and small enough to read whole. */
const MAX_FILE_BYTES = 1024 * 1024;

const UNNAMED = 'write [session] on a line of its own, and its keys below';
const NAMED = 'write [sessions.NAME] on a line of its own, and its keys below';

export interface ConfigFile {
  /** As given. */
  readonly path: string;
  /** `[session]`. */
  readonly session: SessionSettings | undefined;
  /** `[sessions.NAME]`. Each says what stands there; what it `extends` is for extends.ts to add. */
  readonly sessions: ReadonlyMap<string, SessionSettings>;
  /** An error at the line of a key: the longest beginning of `path` that stands in the file. */
  fault(path: readonly string[], message: string, hint: string): HoldfastError;
}

/**
 * Reads and checks a file; relative paths in it come back absolute.
 *
 * @throws {HoldfastError} `CONFIG_UNREADABLE`, `CONFIG_INVALID`.
 */
export function readConfigFile(path: string): ConfigFile {
  return parseConfig(path, readConfigText(path));
}

/** The text of a file that may be a holdfast.toml or a runner.json. @throws as `readConfigFile`. */
export function readConfigText(path: string): string {
  let bytes: Buffer;
  try {
    refuseEndless(path);
    bytes = readFileSync(path);
  } catch (cause) {
    if (cause instanceof HoldfastError) throw cause;
    const reason = cause instanceof Error ? cause.message.replace(/, (open|read|stat).*$/, '') : String(cause);
    throw new HoldfastError('CONFIG_UNREADABLE', `cannot read '${path}': ${reason}`, {
      hint: 'name a holdfast.toml that you can read',
      cause,
    });
  }
  if (bytes.length > MAX_FILE_BYTES) {
    throw new HoldfastError('CONFIG_INVALID', `'${path}' has ${bytes.length} bytes: a holdfast.toml has at most ${MAX_FILE_BYTES}`, {
      hint: 'name a holdfast.toml',
    });
  }
  if (!isUtf8(bytes)) {
    throw new HoldfastError('CONFIG_INVALID', `'${path}' is not UTF-8 text, as TOML must be`, { hint: 'save it as UTF-8' });
  }
  return bytes.toString('utf8');
}

/** A pipe or a device may never end; and a session is entered again from its file, which then has to be there still. */
function refuseEndless(path: string): void {
  const stat = statSync(path);
  if (stat.isFile() || stat.isDirectory()) return;
  throw new HoldfastError('CONFIG_UNREADABLE', `cannot read '${path}': it is no regular file`, {
    hint: 'write it to a file: a session is entered again from what stands there',
  });
}

/** As `readConfigFile`, for a text at hand. */
export function parseConfig(path: string, text: string): ConfigFile {
  const source = new Source(path, text);
  const document = source.parse();
  for (const key of Object.keys(document)) {
    if (key !== 'session' && key !== 'sessions') throw source.unknownKey([key], ['session', 'sessions'], 'top level');
  }
  const named = document['sessions'] ?? {};
  if (!isTable(named)) throw source.fault(['sessions'], `'sessions' must hold tables named [sessions.NAME]`, NAMED);
  const sessions = new Map<string, SessionSettings>();
  for (const [name, table] of Object.entries(named)) sessions.set(name, source.settings(['sessions', name], table));
  const session = document['session'] === undefined ? undefined : source.settings(['session'], document['session']);
  return { path, session, sessions, fault: (at, message, hint) => source.fault(at, message, hint) };
}

/** A text with the way to say where in it something is wrong. */
class Source {
  readonly #path: string;
  readonly #text: string;

  constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
  }

  parse(): Record<string, unknown> {
    try {
      return parse(this.#text);
    } catch (cause) {
      if (!(cause instanceof TomlError)) throw cause;
      const what = cause.message.split('\n', 1)[0]?.replace(/^Invalid TOML document: /, '') ?? '';
      throw new HoldfastError('CONFIG_INVALID', `${this.#path}:${cause.line}:${cause.column}: not valid TOML: ${what}`, {
        hint: 'text goes in quotes, lists in [ ], tables in { } or under a [heading]',
        cause,
      });
    }
  }

  settings(table: readonly string[], value: unknown): SessionSettings {
    const heading = `[${table.join('.')}]`;
    if (!isTable(value)) throw this.fault(table, `'${table.join('.')}' must be a table, ${heading}`, table.length > 1 ? NAMED : UNNAMED);
    const checked = checkSettings(value);
    if ('faults' in checked) {
      const fault = checked.faults[0];
      if (fault === undefined) throw new Error('a failed check without a fault');
      if (fault.unknownKey) throw this.unknownKey([...table, ...fault.path], SESSION_KEY_NAMES, heading);
      throw this.#badValue(table, fault);
    }
    // What extends another is judged with it.
    const contradiction = checked.settings.extends === undefined ? findContradiction(checked.settings) : undefined;
    if (contradiction !== undefined) {
      throw this.fault([...table, contradiction.key], `${contradiction.message} in ${heading}`, contradiction.hint);
    }
    return withAbsolutePaths(checked.settings, dirname(resolve(this.#path)));
  }

  unknownKey(path: readonly string[], known: readonly string[], where: string): HoldfastError {
    const key = path.at(-1) ?? '';
    const nearest = findNearest(key, known);
    const hint = nearest === undefined ? `the keys are ${known.join(', ')}` : `did you mean '${nearest}'?`;
    return this.fault(path, `unknown key '${key}' in ${where}`, hint);
  }

  fault(path: readonly string[], message: string, hint: string): HoldfastError {
    // A key inside a value that spans lines is found with its statement; a list item has no key: its list does.
    let line: number | undefined;
    for (let length = path.length; length > 0 && line === undefined; length--) line = findLine(this.#text, path.slice(0, length));
    return new HoldfastError('CONFIG_INVALID', `${this.#path}:${line ?? 1}: ${message}`, { hint });
  }

  #badValue(table: readonly string[], fault: Fault): HoldfastError {
    // JSON knows neither inf nor nan.
    const shown = (typeof fault.received === 'number' ? undefined : JSON.stringify(fault.received)) ?? String(fault.received);
    const quoted = typeof fault.received === 'number' || typeof fault.received === 'boolean';
    const choice = typeof fault.received === 'string' ? findNearestChoice(fault.expected, fault.received) : undefined;
    let hint = 'docs/config.md describes each key';
    if (choice !== undefined) hint = `did you mean "${choice}"?`;
    else if (quoted && fault.expected.includes('quotes')) hint = `write "${String(fault.received)}"`;
    else if (fault.expected.startsWith('a list') && typeof fault.received === 'string') hint = `write ${listOf(fault.received)}`;
    else if (fault.expected === 'true or false' && /^(true|false)$/.test(String(fault.received)))
      hint = `write ${String(fault.received)}, without quotes`;
    const message = `'${fault.path.join('.')}' must be ${fault.expected}, not ${shown.length > 60 ? `${shown.slice(0, 57)}...` : shown}`;
    return this.fault([...table, ...fault.path], message, hint);
  }
}

/** As TOML: the words of a text. */
function listOf(text: string): string {
  return `[${text
    .trim()
    .split(/\s+/)
    .map((word) => JSON.stringify(word))
    .join(', ')}]`;
}

/** Relative paths made absolute, as seen from `directory`. */
export function withAbsolutePaths(settings: SessionSettings, directory: string): SessionSettings {
  const absolute = (path: string): string => resolve(directory, path);
  return {
    ...settings,
    ...(settings.source === undefined ? {} : { source: absolute(settings.source) }),
    ...(settings.inputs === undefined ? {} : { inputs: settings.inputs.map(absolute) }),
    ...(settings.path_prepend === undefined ? {} : { path_prepend: settings.path_prepend.map(absolute) }),
    // A wrapper without a slash is looked up on a PATH.
    ...(settings.prefix === undefined
      ? {}
      : { prefix: settings.prefix.map((word, index) => (index === 0 && word.includes('/') ? absolute(word) : word)) }),
  };
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
