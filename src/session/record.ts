// The record of a session (ID.json): what its opener decided, for the agent, `list`, `close` and the next opener.
// Written before the launcher starts, mode 0600, always whole (rename).

import { closeSync, constants, fchmodSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';

import * as v from 'valibot';

import { HoldfastError } from '../errors.js';
import { VERSION } from '../protocol/limits.js';
import { DEFINITION_DEFAULTS, parseDefinition, type SessionDefinition } from './definition.js';
import type { HeldRecord } from './hold.js';

/** Names and values are bytes, written as latin1: one character a byte. */
export type BytePairs = ReadonlyArray<readonly [name: string, value: string]>;

/** `sha256` is `null` where there was no such file. `path` is absolute. */
export interface InputHash {
  readonly path: string;
  readonly sha256: string | null;
}

/** A project's directory: one of the same name that was made later is another project. */
export interface Place {
  /** Absolute. */
  readonly path: string;
  /** Device and inode. */
  readonly identity: string;
}

export interface SessionRecord {
  readonly protocol: typeof VERSION;
  readonly definition: SessionDefinition;
  /** `env`, `runtime_env` and the values that `pass_env` named at the opening: above the base environment. No name twice. */
  readonly declared: BytePairs;
  /** What `pass_env = ["*"]` found at the opening: beneath the base environment. */
  readonly weak: BytePairs;
  readonly inputs: readonly InputHash[];
  /** The files that the launcher's words name: part of what it is, and no reason to enter again. */
  readonly scripts?: readonly InputHash[];
  /** What the launcher was started with: `explain` tells it from what the launcher made. */
  readonly launched?: BytePairs;
  /** The files that the definition was made of, and those that would have made another one: no part of what the environment is. */
  readonly sources?: readonly InputHash[];
  /** Only for a session that belongs to a directory. */
  readonly place?: Place;
  /** What was asked for, of which the definition was made: for who opens the session again. Nobody here looks into it. */
  readonly origin?: unknown;
  readonly openerPid: number;
  /** Milliseconds of the epoch. */
  readonly openedAt: number;
  /** Absent until the launcher runs. It leads a session, in the sense of setsid(2), of that number. */
  readonly launcherPid?: number;
  readonly launcherStartTicks?: number;
  /** The session closes with the program that opened it. */
  readonly owned?: true;
  /** What the session holds, as far as it is known yet. */
  readonly held?: HeldRecord;
  /** In mode "snapshot": which one it was opened with. */
  readonly snapshot?: { readonly key: string; readonly takenAt: number };
  /** The opener's own $NOTIFY_SOCKET: readiness is told there as well. */
  readonly notifySocket?: string;
}

const pairs = v.array(v.tuple([v.string(), v.string()]));

const inputs = v.array(v.object({ path: v.string(), sha256: v.nullable(v.string()) }));

const RECORD = v.object({
  protocol: v.literal(VERSION),
  definition: v.record(v.string(), v.unknown()),
  declared: pairs,
  weak: pairs,
  inputs,
  scripts: v.exactOptional(inputs),
  sources: v.exactOptional(inputs),
  launched: v.exactOptional(pairs),
  place: v.exactOptional(v.object({ path: v.string(), identity: v.string() })),
  origin: v.exactOptional(v.unknown()),
  openerPid: v.number(),
  openedAt: v.number(),
  launcherPid: v.exactOptional(v.number()),
  launcherStartTicks: v.exactOptional(v.number()),
  owned: v.exactOptional(v.literal(true)),
  held: v.exactOptional(
    v.object({
      name: v.string(),
      keeperPid: v.number(),
      keeperStartTicks: v.number(),
      id: v.exactOptional(v.string()),
      pid: v.exactOptional(v.string()),
      identity: v.exactOptional(v.string()),
    }),
  ),
  snapshot: v.exactOptional(v.object({ key: v.string(), takenAt: v.number() })),
  notifySocket: v.exactOptional(v.string()),
});

/** @throws {HoldfastError} `CONFIG_INVALID`, also for a record of another version. */
export function parseRecord(text: string): SessionRecord {
  let input: unknown;
  try {
    input = JSON.parse(text);
  } catch (cause) {
    throw new HoldfastError('CONFIG_INVALID', 'the record of a session is not JSON', { cause });
  }
  const result = v.safeParse(RECORD, input);
  if (!result.success) {
    throw new HoldfastError(
      'CONFIG_INVALID',
      `the record of a session is malformed at '${v.getDotPath(result.issues[0]) ?? 'all of it'}'`,
      {
        hint: 'it was written by another version of Holdfast: close the session with that one',
      },
    );
  }
  // One of an older version may lack what came later.
  return { ...result.output, definition: parseDefinition({ ...DEFINITION_DEFAULTS, ...result.output.definition }) };
}

/**
 * @param path of ID.json.
 * @returns `undefined` when there is none.
 * @throws {HoldfastError} `CONFIG_INVALID`; what open(2) throws but for ENOENT.
 */
export function findRecord(path: string): SessionRecord | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return parseRecord(readFileSync(fd, 'utf8'));
  } finally {
    closeSync(fd);
  }
}

/** As findRecord, but one that cannot be read counts as none: its session can still be closed, or opened anew. */
export function findRecordLeniently(path: string): SessionRecord | undefined {
  try {
    return findRecord(path);
  } catch {
    return undefined;
  }
}

/** Replaces the record at `path` whole. Only for who holds the session's lock. */
export function writeRecord(path: string, record: SessionRecord): void {
  writePrivate(path, JSON.stringify(record));
}

/** Writes a file of mode 0600, whatever the umask: readers see the old one or the new one. */
export function writePrivate(path: string, text: string | Buffer): void {
  const fresh = `${path}.new`;
  // A leftover of a writer that was killed; who holds the lock is the only writer.
  rmSync(fresh, { force: true });
  const fd = openSync(fresh, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
  try {
    fchmodSync(fd, 0o600);
    writeFileSync(fd, text);
  } finally {
    closeSync(fd);
  }
  renameSync(fresh, path);
}
