// What the opener wrote down for its agent (ID.json, written by src/session/record.ts): read once, at the start.

import { fstatSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { closeFd } from '../native/descriptors.js';
import { openDirectory } from '../native/files.js';
import type { FunctionFilter } from '../session/functions.js';
import type { InputHash, Place } from '../session/record.js';
import type { HeldFacts } from '../wrap/placeholders.js';
import { toLatin1 } from '../wrap/text.js';
import type { Pairs } from './base-environment.js';

export interface AgentSettings {
  name: string;
  mode: string;
  killGraceMs: number;
  jobOutputLimitBytes: number;
  maxConcurrent: number;
  maxQueue: number;
  idleTimeoutMs: number | null;
  containment: string;
  onStale: string;
  inputs: InputHash[];
  sources: InputHash[];
  /** Absent: the session belongs to no directory. */
  place: Place | undefined;
  declared: Pairs;
  weak: Pairs;
  /** Latin1, as the variables. */
  pathPrepend: string[];
  functions: FunctionFilter;
  /** The process that waits for our readiness, and is our parent when the launcher is an exec chain. */
  openerPid: number;
  /** The session closes with the program that opened it. */
  isOwned: boolean;
  /** What is known of a held container, for the placeholders of its definition. */
  held: HeldFacts | undefined;
  notifySocket: string | undefined;
  /** The session holds something that a keeper stops when we are gone. */
  isKept: boolean;
  /** As it was given, for those who ask. */
  definition: object;
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null) throw new Error(`the session's record has no ${what}`);
  return Object.fromEntries(Object.entries(value));
}

function numberOf(fields: Fields, key: string): number {
  const value = fields[key];
  if (typeof value !== 'number') throw new Error(`the session's record has no number '${key}'`);
  return value;
}

function pairsOf(value: unknown): Pairs {
  if (!Array.isArray(value)) return [];
  return value.map((pair: unknown) => {
    if (!Array.isArray(pair)) throw new Error("the session's record has a variable that is no pair");
    // Variables cross as latin1, one character a byte.
    return [String(pair[0]), String(pair[1])] as const;
  });
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function inputsOf(value: unknown): InputHash[] {
  if (!Array.isArray(value)) return [];
  return value.map((each: unknown) => {
    const { path, sha256 } = fieldsOf(each, 'input');
    return { path: String(path), sha256: typeof sha256 === 'string' ? sha256 : null };
  });
}

function placeOf(value: unknown): Place | undefined {
  if (value === undefined) return undefined;
  const { path, identity } = fieldsOf(value, 'place');
  return { path: String(path), identity: String(identity) };
}

function filterOf(value: unknown): FunctionFilter {
  return Array.isArray(value) ? value.map(String) : value === 'none' ? 'none' : 'all';
}

/**
 * A file of the opener's. It says what every command will have in its environment, so it must be from a directory of our own alone:
 * where others may move directories about, the path can lead to another one by now than when the opener looked.
 */
function readPrivate(path: string, remove = false): Buffer {
  const directory = openDirectory(dirname(path));
  try {
    const { uid, mode } = fstatSync(directory);
    if (uid !== process.geteuid?.() || (mode & 0o077) !== 0)
      throw new Error(`the runtime directory '${dirname(path)}' is not this user's alone any more`);
    const checked = `/proc/self/fd/${directory}/${basename(path)}`;
    const bytes = readFileSync(checked);
    if (remove) rmSync(checked, { force: true });
    return bytes;
  } finally {
    closeFd(directory);
  }
}

function heldOf(value: unknown): HeldFacts | undefined {
  if (value === undefined) return undefined;
  const { name, id, pid } = fieldsOf(value, 'held container');
  return { name: String(name), ...(id === undefined ? {} : { id: String(id) }), ...(pid === undefined ? {} : { pid: String(pid) }) };
}

/** @throws Error that says what is missing: the opener reports it. */
export function readSettings(path: string): AgentSettings {
  const record = fieldsOf(JSON.parse(readPrivate(path).toString()), 'content');
  const definition = fieldsOf(record['definition'], 'definition');
  const idle = definition['idleTimeoutMs'];
  const prepend = definition['pathPrepend'];
  return {
    name: String(definition['name']),
    mode: String(definition['mode']),
    killGraceMs: numberOf(definition, 'killGraceMs'),
    jobOutputLimitBytes: numberOf(definition, 'jobOutputLimitBytes'),
    maxConcurrent: numberOf(definition, 'maxConcurrent'),
    maxQueue: numberOf(definition, 'maxQueue'),
    idleTimeoutMs: typeof idle === 'number' ? idle : null,
    containment: String(definition['containment'] ?? 'auto'),
    onStale: String(definition['onStale'] ?? 'warn'),
    inputs: inputsOf(record['inputs']),
    sources: inputsOf(record['sources']),
    place: placeOf(record['place']),
    declared: pairsOf(record['declared']),
    weak: pairsOf(record['weak']),
    pathPrepend: listOf(prepend).map(toLatin1),
    functions: filterOf(definition['functions']),
    openerPid: numberOf(record, 'openerPid'),
    isOwned: record['owned'] === true,
    held: heldOf(record['held']),
    notifySocket: typeof record['notifySocket'] === 'string' ? record['notifySocket'] : undefined,
    isKept: record['held'] !== undefined && listOf(fieldsOf(definition['hold'] ?? {}, 'hold')['stop']).length > 0,
    definition,
  };
}

/** The snapshot (STEM.snapshot) that a session of that mode is opened with; taken away, since it is read once. */
export function takeSnapshotBytes(path: string): Buffer {
  return readPrivate(path, true);
}
