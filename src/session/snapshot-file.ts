// The file of a snapshot: bytes to a snapshot and back. Pure. Nothing in it is believed before its length and its hash are right.
//
//   HOLDFAST-SNAPSHOT 1\n  sha256 HEX\n  length N\n  \n  body of N bytes: one line of JSON, then NAME=VALUE strings, each ended by a NUL

import { createHash } from 'node:crypto';

import * as v from 'valibot';

import { functionOf } from './functions.js';
import type { BytePairs } from './record.js';

/** Raised whenever what is in the body changes: an older file is made anew, never converted. */
export const SNAPSHOT_VERSION = 1;

const MAGIC = 'HOLDFAST-SNAPSHOT';
const HEADER = /^HOLDFAST-SNAPSHOT (\d+)\nsha256 ([0-9a-f]{64})\nlength (\d+)\n\n/;
const MAX_HEADER_BYTES = 256;

/** What is known of a snapshot beside its variables. */
export interface SnapshotFacts {
  /** Of snapshot-key.ts. */
  readonly key: string;
  /** The session for which it was made; others with the same key use it as well. */
  readonly name: string;
  readonly directory: string;
  /** What was entered, as words. */
  readonly launcher: readonly string[];
  /** Milliseconds of the epoch. */
  readonly takenAt: number;
  /** How long the entry took. */
  readonly entryMs: number;
  readonly inputs: ReadonlyArray<{ readonly path: string; readonly sha256: string | null }>;
  /** Names of the shell functions that the environment had, latin1. */
  readonly functions: readonly string[];
  /** Variables of one login that the launcher was given and did not give back, latin1. */
  readonly withheld: readonly string[];
}

export interface Snapshot {
  readonly facts: SnapshotFacts;
  /** Without functions; latin1, one character a byte; in the order of the environ. */
  readonly variables: BytePairs;
}

export type SnapshotFault = 'damaged' | 'old';

const FACTS = v.strictObject({
  key: v.string(),
  name: v.string(),
  directory: v.string(),
  launcher: v.array(v.string()),
  takenAt: v.number(),
  entryMs: v.number(),
  inputs: v.array(v.strictObject({ path: v.string(), sha256: v.nullable(v.string()) })),
  functions: v.array(v.string()),
  withheld: v.array(v.string()),
});

/** Divides an environ into variables and the names of functions. The first of a doubled name wins, as for getenv(3). */
export function divideEnviron(environ: Buffer): { variables: BytePairs; functions: string[] } {
  const variables = new Map<string, string>();
  const functions = new Set<string>();
  for (const [name, value] of pairsOf(environ.toString('latin1'))) {
    const carried = functionOf(name);
    if (carried !== undefined) functions.add(carried);
    else if (!variables.has(name)) variables.set(name, value);
  }
  return { variables: [...variables], functions: [...functions] };
}

export function encodeSnapshot({ facts, variables }: Snapshot): Buffer {
  // JSON has no line end of its own but between members, and is ASCII here: the body is cut at the first one.
  const text = `${asciiJson(facts)}\n${variables.map(([name, value]) => `${name}=${value}\0`).join('')}`;
  const body = Buffer.from(text, 'latin1');
  const sha256 = createHash('sha256').update(body).digest('hex');
  return Buffer.concat([Buffer.from(`${MAGIC} ${SNAPSHOT_VERSION}\nsha256 ${sha256}\nlength ${body.length}\n\n`), body]);
}

/** The snapshot, or why it is none: cut, changed, of another format. */
export function decodeSnapshot(bytes: Buffer): Snapshot | SnapshotFault {
  const header = HEADER.exec(bytes.toString('latin1', 0, MAX_HEADER_BYTES));
  if (header === null) return 'damaged';
  const [whole, version, sha256, length] = header;
  if (Number(version) !== SNAPSHOT_VERSION) return 'old';
  const body = bytes.subarray(whole.length);
  if (body.length !== Number(length)) return 'damaged';
  if (createHash('sha256').update(body).digest('hex') !== sha256) return 'damaged';
  const lineEnd = body.indexOf('\n');
  const facts = v.safeParse(FACTS, parseJson(body.toString('latin1', 0, Math.max(0, lineEnd))));
  if (!facts.success) return 'damaged';
  return { facts: facts.output, variables: [...pairsOf(body.toString('latin1', lineEnd + 1))] };
}

function* pairsOf(block: string): Generator<[name: string, value: string]> {
  for (const entry of block.split('\0')) {
    const equals = entry.indexOf('=', 1);
    if (equals !== -1) yield [entry.slice(0, equals), entry.slice(equals + 1)];
  }
}

function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
