// What the launcher made, as this session's commands are to have it: the shim's capture or the snapshot, without the functions that
// `functions` leaves out and without temporary directories that went with the environment.

import { statSync } from 'node:fs';

import { type FunctionFilter, functionMatcher, functionOf } from '../session/functions.js';
import { decodeSnapshot } from '../session/snapshot-file.js';

/** Why a variable or function of the environment does not reach a command. */
export type Absence =
  /** A function, and mode "snapshot" holds none. */
  | 'snapshot'
  /** A function that `functions` leaves out. */
  | 'filtered'
  /** A variable that named a directory which is not there any more. */
  | 'lost-directory';

/** Where a function of the environment is: in the environment of every command, or absent, and why. */
export type FunctionPlace = 'session' | Extract<Absence, 'snapshot' | 'filtered'>;

export interface Captured {
  /** Latin1, one character a byte. */
  readonly environment: ReadonlyMap<string, string>;
  /** By the name of the variable, or of the function itself where `kind` says so. */
  readonly absent: readonly Absent[];
}

export interface Absent {
  readonly kind: 'function' | 'variable';
  /** Latin1. */
  readonly name: string;
  readonly why: Absence;
}

/** A shell that makes itself a directory for these takes it away when it ends, as `nix develop` does. */
const TEMPORARY = ['TMPDIR', 'TMP', 'TEMP', 'TEMPDIR', 'NIX_BUILD_TOP'];

/** Applies `functions` to what the shim captured inside the environment. */
export function filterFunctions(environment: ReadonlyMap<string, string>, filter: FunctionFilter): Captured {
  if (filter === 'all') return { environment, absent: [] };
  const isKept = functionMatcher(filter);
  const kept = new Map<string, string>();
  const absent: Absent[] = [];
  for (const [variable, value] of environment) {
    const name = functionOf(variable);
    if (name === undefined || isKept(name)) kept.set(variable, value);
    else absent.push({ kind: 'function', name, why: 'filtered' });
  }
  return { environment: kept, absent };
}

/**
 * @param bytes of STEM.snapshot, as the opener wrote it.
 * @param host what the shim captured outside of any environment.
 * @throws Error when the bytes are not whole.
 */
export function readSnapshot(bytes: Buffer, host: ReadonlyMap<string, string>): Captured {
  const snapshot = decodeSnapshot(bytes);
  if (typeof snapshot === 'string') throw new Error(`the snapshot of the environment is ${snapshot}`);
  const environment = new Map(snapshot.variables);
  const absent: Absent[] = snapshot.facts.functions.map((name) => ({ kind: 'function', name, why: 'snapshot' }));
  for (const name of TEMPORARY) {
    const value = environment.get(name);
    if (value === undefined || !value.startsWith('/') || isDirectory(value)) continue;
    const own = host.get(name);
    if (own === undefined) environment.delete(name);
    else environment.set(name, own);
    absent.push({ kind: 'variable', name, why: 'lost-directory' });
  }
  return { environment, absent };
}

/** All functions that the environment has or had, by name. */
export function placeFunctions({ environment, absent }: Captured): ReadonlyMap<string, FunctionPlace> {
  const places = new Map<string, FunctionPlace>();
  for (const { kind, name, why } of absent) if (kind === 'function' && why !== 'lost-directory') places.set(name, why);
  for (const variable of environment.keys()) {
    const name = functionOf(variable);
    if (name !== undefined) places.set(name, 'session');
  }
  return places;
}

function isDirectory(latin1: string): boolean {
  try {
    return statSync(Buffer.from(latin1, 'latin1'), { throwIfNoEntry: false })?.isDirectory() ?? false;
  } catch {
    // Out of sight is not gone.
    return true;
  }
}
