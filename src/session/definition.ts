// What a session is: everything that `holdfast open` needs, with all defaults filled in. Made from holdfast.toml, a provider or
// the command line; written into the session's record, where the agent reads it.

import * as v from 'valibot';

import { HoldfastError } from '../errors.js';
import { COMMAND_STYLES, ENV_STYLES, FAR_SIDES, type HoldDefinition, TELLS, type WrapDefinition } from '../wrap/definition.js';
import type { FunctionFilter } from './functions.js';
import { variablesSchema } from './variables.js';

/** How an environment is entered. The entry shim's words are appended to `argv`; `enter-string`: as one shell-quoted argument. */
export type Launch =
  /** Empty `argv`: the shim itself, in the scrubbed environment. */
  | { readonly style: 'enter'; readonly argv: readonly string[] }
  | { readonly style: 'enter-string'; readonly argv: readonly string[] }
  /** `script` is sourced by bash; a relative one is found in `directory`. */
  | { readonly style: 'source'; readonly script: string }
  /** What `argv` prints is bash code, which is evaluated. */
  | { readonly style: 'source-command'; readonly argv: readonly string[] };

/** The host itself: nothing is entered but the entry shim. */
export const NO_LAUNCHER: Launch = { style: 'enter', argv: [] };

/** The entry shim by itself enters nothing. */
export function isEntered(launch: Launch): boolean {
  return launch.style !== 'enter' || launch.argv.length > 0;
}

export interface SessionDefinition {
  readonly name: string;
  readonly mode: 'host' | 'snapshot' | 'session' | 'wrap';
  /** Absolute. The launcher's working directory. */
  readonly directory: string;
  readonly launch: Launch;
  readonly env: Readonly<Record<string, string>>;
  readonly runtimeEnv: Readonly<Record<string, string>>;
  readonly passEnv: readonly string[];
  readonly runtimePassEnv: readonly string[];
  readonly launchPassEnv: readonly string[];
  readonly pathPrepend: readonly string[];
  /** Which shell functions of the environment commands get; globs. */
  readonly functions: FunctionFilter;
  /** Files whose content makes the environment; relative ones are found in `directory`. */
  readonly inputs: readonly string[];
  readonly onStale: 'reopen' | 'warn' | 'refuse';
  /** `null`: never. */
  readonly idleTimeoutMs: number | null;
  readonly openTimeoutMs: number;
  readonly killGraceMs: number;
  /** 0: no limit. */
  readonly maxConcurrent: number;
  readonly maxQueue: number;
  /** Of one detached job, as much as is kept. */
  readonly jobOutputLimitBytes: number;
  readonly containment: 'auto' | 'cgroup' | 'warden' | 'group';
  /** The user's own name for what the environment is: see identity.ts. */
  readonly identity?: string;
  /** Variables that differ from one opening to the next, and so are no part of the fingerprint; a final `*` stands for any ending. */
  readonly volatile: readonly string[];
  readonly wrap?: WrapDefinition;
  readonly hold?: HoldDefinition;
}

/** What a session has that says nothing about it. A project's is `onStale: 'reopen'`. */
export const DEFINITION_DEFAULTS: Omit<SessionDefinition, 'name' | 'directory' | 'launch' | 'wrap' | 'hold' | 'identity'> = {
  mode: 'session',
  env: {},
  runtimeEnv: {},
  passEnv: [],
  runtimePassEnv: [],
  launchPassEnv: [],
  pathPrepend: [],
  functions: 'all',
  inputs: [],
  onStale: 'warn',
  idleTimeoutMs: 3_600_000,
  openTimeoutMs: 600_000,
  killGraceMs: 2_000,
  maxConcurrent: 0,
  maxQueue: 1024,
  jobOutputLimitBytes: 64 * 1024 * 1024,
  containment: 'auto',
  volatile: [],
};

const words = v.array(v.string());
const VARIABLES = 'a table of variables: names without "=" or NUL, and text without a NUL';
const variables = variablesSchema({ table: VARIABLES, name: VARIABLES, value: VARIABLES, nul: VARIABLES });
const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const LAUNCH = v.variant('style', [
  v.strictObject({ style: v.literal('enter'), argv: words }),
  v.strictObject({ style: v.literal('enter-string'), argv: v.pipe(words, v.minLength(1)) }),
  v.strictObject({ style: v.literal('source'), script: v.pipe(v.string(), v.minLength(1)) }),
  v.strictObject({ style: v.literal('source-command'), argv: v.pipe(words, v.minLength(1)) }),
]);

const WRAP = v.strictObject({
  prefix: v.pipe(words, v.minLength(1)),
  operand: words,
  envStyle: v.picklist(ENV_STYLES),
  envOption: v.exactOptional(v.string()),
  cwdOption: v.exactOptional(v.string()),
  startsIn: v.exactOptional(v.string()),
  ttyOption: words,
  endOfOptions: v.exactOptional(v.string()),
  commandStyle: v.exactOptional(v.picklist(COMMAND_STYLES)),
  textOnly: v.exactOptional(v.boolean()),
  pathMap: v.record(v.string(), v.string()),
  mapArgv: v.boolean(),
  failureCodes: v.array(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(255))),
  tells: v.exactOptional(v.picklist(TELLS)),
  statusOption: v.exactOptional(v.string()),
  farSide: v.picklist(FAR_SIDES),
  kill: v.exactOptional(v.pipe(words, v.minLength(1))),
});

const HOLD = v.strictObject({
  start: v.pipe(words, v.minLength(1)),
  stop: words,
  pid: v.exactOptional(v.pipe(words, v.minLength(1))),
  identity: v.exactOptional(v.pipe(words, v.minLength(1))),
});

const DEFINITION = v.strictObject({
  name: v.string(),
  mode: v.picklist(['host', 'snapshot', 'session', 'wrap']),
  directory: v.pipe(v.string(), v.startsWith('/')),
  launch: LAUNCH,
  env: variables,
  runtimeEnv: variables,
  passEnv: words,
  runtimePassEnv: words,
  launchPassEnv: words,
  pathPrepend: words,
  functions: v.union([v.picklist(['all', 'none']), words]),
  inputs: words,
  onStale: v.picklist(['reopen', 'warn', 'refuse']),
  idleTimeoutMs: v.nullable(count),
  openTimeoutMs: count,
  killGraceMs: count,
  maxConcurrent: count,
  maxQueue: count,
  jobOutputLimitBytes: count,
  containment: v.picklist(['auto', 'cgroup', 'warden', 'group']),
  identity: v.exactOptional(v.pipe(v.string(), v.minLength(1))),
  volatile: words,
  wrap: v.exactOptional(WRAP),
  hold: v.exactOptional(HOLD),
});

/** A definition that was stored or sent, not typed by a user. @throws {HoldfastError} `CONFIG_INVALID`, naming the member. */
export function parseDefinition(input: unknown): SessionDefinition {
  const result = v.safeParse(DEFINITION, input);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const member = v.getDotPath(issue) ?? 'all of it';
  throw new HoldfastError('CONFIG_INVALID', `the definition of a session is malformed at '${member}': ${issue.message.toLowerCase()}`, {
    cause: new v.ValiError(result.issues),
  });
}

/** Whether two definitions, or any two values made of JSON, say the same, whatever the order of their members. */
export function isSame(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

/** JSON with the members of every object in order. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)));
  });
}
