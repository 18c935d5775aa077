// What an environment *is*, in one value: the same at every opening and for every caller, another one as soon as anything moves that
// a command could notice. docs/config.md "Fingerprint". Pure; names and values are latin1, one character a byte.

import { createHash } from 'node:crypto';
import { resolve } from 'node:path';

import { inheritsEnvironment } from '../wrap/definition.js';
import { canonical, type SessionDefinition } from './definition.js';
import { bytesOf } from './host-environment.js';
import { relativeTo } from './identity.js';
import type { BytePairs, InputHash } from './record.js';
import { GIVEN_LISTS, HOST, isVolatile, ownDirectories } from './volatile.js';

export interface FingerprintFacts {
  readonly definition: SessionDefinition;
  /** What the launcher made: the base environment, with functions, without anything that was declared. */
  readonly captured: ReadonlyMap<string, string>;
  /** What the launcher was started with: of the lists in it (PATH …) only what the environment added counts. */
  readonly launched: BytePairs;
  /** As in the record: `env`, `runtime_env` and the values of `pass_env`. */
  readonly declared: BytePairs;
  /** What `pass_env = ["*"]` found. */
  readonly weak: BytePairs;
  /** Those that the definition does not name are the environment's own business, and where they lie is the user's. */
  readonly inputs: readonly InputHash[];
  /** The files that the launcher's words name. */
  readonly scripts: readonly InputHash[];
  /** What the session holds, by its own word: the digest of an image. */
  readonly held?: string | undefined;
}

export interface Fingerprint {
  /** `sha256:` and 64 digits. */
  readonly fingerprint: string;
  /** A hash of each part by itself: which one moved, when the whole did. */
  readonly parts: Readonly<Record<FingerprintPart, string>>;
  /** Variables that the environment has and that were left out, by name. */
  readonly leftOut: readonly string[];
}

export type FingerprintPart = 'definition' | 'variables' | 'functions' | 'passed' | 'inputs' | 'held';

/** Whether a member of the definition changes what a command meets. Those of variables and inputs count by what they found. */
const COUNTS: Readonly<Record<keyof SessionDefinition, boolean>> = {
  name: false,
  mode: true,
  directory: false,
  launch: true,
  env: true,
  runtimeEnv: false,
  passEnv: true,
  runtimePassEnv: true,
  launchPassEnv: true,
  pathPrepend: true,
  functions: true,
  inputs: false,
  onStale: false,
  idleTimeoutMs: false,
  openTimeoutMs: false,
  killGraceMs: false,
  maxConcurrent: false,
  maxQueue: false,
  jobOutputLimitBytes: false,
  containment: false,
  identity: true,
  volatile: false,
  wrap: true,
  hold: true,
};
/** Their order says nothing. */
const NAME_LISTS = ['passEnv', 'runtimePassEnv', 'launchPassEnv'];

/** One value for all that decides what a command finds: equal where nothing of it differs. Pure. */
export function fingerprintOf(facts: FingerprintFacts): Fingerprint {
  const { definition } = facts;
  // Elsewhere, what a command meets is not what its wrapper was started with.
  const isOurs = definition.wrap === undefined || inheritsEnvironment(definition.wrap);
  const captured = isOurs ? facts.captured : new Map<string, string>();
  const launched = new Map(facts.launched);
  const leftOut: string[] = [];
  const variables: [string, string | readonly string[]][] = [];
  const functions: [string, string][] = [];
  for (const [name, value] of sorted(captured)) {
    if (isVolatile(name, definition.volatile.map(bytesOf))) leftOut.push(name);
    else if (name.startsWith('BASH_FUNC_')) functions.push([name, value]);
    else if (!GIVEN_LISTS.includes(name)) variables.push([name, value]);
    else variables.push([name, listPart(name, value, launched.get(name))]);
  }
  const parts: Record<FingerprintPart, string> = {
    definition: hash(definitionPart(definition)),
    // A list with nothing of its own is the caller's.
    variables: hash(variables.filter(([, value]) => typeof value === 'string' || value.some((each) => each !== HOST))),
    functions: hash(functions),
    passed: hash(passedPart(facts)),
    inputs: hash(inputsPart(facts)),
    held: hash(facts.held ?? null),
  };
  return { fingerprint: `sha256:${hash(['holdfast 1', parts])}`, parts, leftOut };
}

/** Every caller has a PATH, so that whether the environment keeps it can be told; the others are there for some callers only. */
function listPart(name: string, value: string, given: string | undefined): readonly string[] {
  const own = ownDirectories(value, given);
  return name === 'PATH' ? own : own.filter((each) => each !== HOST && each !== '');
}

/** Without the session's name and place: the same project elsewhere is the same, as far as its environment does not name the place. */
function definitionPart(definition: SessionDefinition): unknown {
  const members = Object.entries(definition).filter(([member]) =>
    Object.entries(COUNTS).some(([known, counts]) => known === member && counts),
  );
  return members.map(([member, value]) => [
    member,
    NAME_LISTS.includes(member) && Array.isArray(value) ? [...value].sort() : placeless(value),
  ]);

  function placeless(value: unknown): unknown {
    if (typeof value === 'string') return relativeTo(definition.directory, value);
    if (Array.isArray(value)) return value.map(placeless);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, placeless(part)]));
  }
}

function inputsPart({ definition: { directory, inputs: named }, inputs, scripts }: FingerprintFacts): unknown {
  const paths = new Set(named.map((path) => resolve(directory, path)));
  const counted = new Map([...scripts, ...inputs.filter(({ path }) => paths.has(path))].map(({ path, sha256 }) => [path, sha256]));
  return sorted([...counted].map(([path, sha256]) => [relativeTo(directory, path), sha256] as const));
}

/** Values by name count as they are, whatever their names: somebody asked for them. Those of `*` do not, where they are volatile. */
function passedPart({ definition, declared, weak, captured }: FingerprintFacts): unknown {
  const values = new Map(declared);
  const named = definition.passEnv.filter((name) => name !== '*').sort();
  const own = new Set([...captured.keys(), ...declared.map(([name]) => name)]);
  const all = weak.filter(([name]) => !own.has(name) && !GIVEN_LISTS.includes(name) && !isVolatile(name, definition.volatile.map(bytesOf)));
  return [named.map((name) => [name, values.get(bytesOf(name)) ?? null]), sorted(all)];
}

function sorted<T>(pairs: Iterable<readonly [string, T]>): (readonly [string, T])[] {
  return [...pairs].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

function hash(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('hex');
}
