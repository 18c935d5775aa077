// What each key of a session table may hold. Every message completes "'key' must be …".

import * as v from 'valibot';

import { compileGlob } from '../session/functions.js';
import { PROVIDER_NAMES } from '../session/launchers/providers.js';

import { isVariableName, variablesSchema } from '../session/variables.js';
import { COMMAND_STYLES, ENV_STYLES, FAR_SIDES } from '../wrap/definition.js';
import { PRESET_NAMES } from '../wrap/presets/presets.js';

import { findDuration } from './duration.js';
import type { SessionSettings } from './settings.js';
import { findSize } from './size.js';

const TEXT = 'text in quotes';
const text = v.pipe(v.string(TEXT), v.minLength(1, 'text that is not empty'), v.check(hasNoNul, 'text without a NUL'));

const words = command('a list of words in quotes, such as ["devenv", "shell", "--"]');

const LIST = 'a list of text in quotes, such as ["a", "b"]';
const list = v.array(v.pipe(v.string(LIST), v.minLength(1, 'a list without empty text'), v.check(hasNoNul, 'text without a NUL')), LIST);

const NAMES = 'a list of variable names, such as ["SSH_AUTH_SOCK"]';
const names = v.array(v.pipe(v.string(NAMES), v.check(isVariableName, NAMES)), NAMES);

const variables = v.pipe(
  variablesSchema({
    table: 'a table of variables, such as { CGO_ENABLED = "0" }',
    name: 'a variable whose name is not empty and holds no "=" or NUL',
    value: 'text in quotes, such as "0"',
    nul: 'text without a NUL',
  }),
  v.metadata({ json: { type: 'object', additionalProperties: { type: 'string' } } }),
);

const prefix = command('a list of words in quotes, such as ["docker", "exec", "-i"]');

const PATH_MAP = 'a table of absolute paths, host to inside, such as { "/home/me/src" = "/src" }';
const pathMap = v.pipe(
  v.record(v.string(), v.pipe(v.string(PATH_MAP), v.check(hasNoNul, 'text without a NUL')), PATH_MAP),
  v.check(isPathMap, PATH_MAP),
  v.metadata({ json: { type: 'object', additionalProperties: { type: 'string' } } }),
);

const OPTIONS = 'a table of text, lists and true or false, such as { network = "none" }';
const optionValue = v.union([v.pipe(v.string(), v.check(hasNoNul)), v.boolean(), v.array(v.pipe(v.string(), v.check(hasNoNul)))], OPTIONS);
const presetOptions = v.pipe(
  v.record(v.string(), optionValue, OPTIONS),
  v.metadata({
    json: {
      type: 'object',
      additionalProperties: { anyOf: [{ type: 'string' }, { type: 'boolean' }, { type: 'array', items: { type: 'string' } }] },
    },
  }),
);

const CODES = 'a list of exit codes from 1 to 255, such as [125]';
const codes = v.array(v.pipe(v.number(CODES), v.integer(CODES), v.minValue(1, CODES), v.maxValue(255, CODES)), CODES);

const FUNCTIONS = '"all", "none", or a list of globs in quotes, such as ["my-*"]';
const functions = v.pipe(
  v.union(
    [
      v.picklist(['all', 'none'], FUNCTIONS),
      v.array(
        v.pipe(
          v.string(FUNCTIONS),
          v.minLength(1, FUNCTIONS),
          v.check((glob) => compileGlob(glob) !== undefined, 'a list of globs (*, ?, [a-z], [!a-z]) that can match something'),
        ),
        FUNCTIONS,
      ),
    ],
    FUNCTIONS,
  ),
  v.metadata({ json: { anyOf: [{ enum: ['all', 'none'] }, { type: 'array', items: { type: 'string', minLength: 1 } }] } }),
);

const COUNT = 'a whole number from 0 to 1000000';
const count = v.pipe(v.number(COUNT), v.integer(COUNT), v.minValue(0, COUNT), v.maxValue(1_000_000, COUNT));

/** What `findDuration` and `findSize` take, for editors (json-schema.ts). */
const DURATION_PATTERN = '(\\d+(\\.\\d+)?|(\\d+(\\.\\d+)?(ms|s|m|h|d))+)';
const SIZE_PATTERN = '^\\d+[KMG]?$';

const DURATION = 'a duration in quotes, such as "500ms", "90s" or "1h"';
const duration = v.pipe(
  v.string(DURATION),
  v.rawTransform<string, number>(({ dataset, addIssue, NEVER }) => {
    const ms = findDuration(dataset.value);
    if (typeof ms === 'number') return ms;
    addIssue({ message: DURATION });
    return NEVER;
  }),
  v.metadata({ json: { type: 'string', pattern: `^${DURATION_PATTERN}$` } }),
);

const SIZE = 'a number of bytes, or a size in quotes, such as "64M" (K, M, G: powers of 1024)';
const size = v.pipe(
  v.union([v.number(), v.string()], SIZE),
  v.rawTransform<number | string, number>(({ dataset, addIssue, NEVER }) => {
    const bytes = findSize(String(dataset.value));
    if (bytes !== undefined) return bytes;
    addIssue({ message: SIZE });
    return NEVER;
  }),
  v.metadata({ json: { type: ['integer', 'string'], minimum: 0, pattern: SIZE_PATTERN } }),
);

const DURATION_OR_NEVER = 'a duration in quotes, such as "500ms", "90s", "1h" or "never"';
/** It would be over before the first command. */
const NOT_NOTHING = 'longer than nothing, or "never"';
const durationOrNever = v.pipe(
  v.string(DURATION_OR_NEVER),
  v.rawTransform<string, number | null>(({ dataset, addIssue, NEVER }) => {
    const ms = findDuration(dataset.value);
    if (ms !== undefined && ms !== 0) return ms;
    addIssue({ message: ms === 0 ? NOT_NOTHING : DURATION_OR_NEVER });
    return NEVER;
  }),
  v.metadata({ json: { type: 'string', pattern: `^(never|${DURATION_PATTERN})$` } }),
);

const SETTINGS_SCHEMA = v.strictObject(
  {
    extends: v.exactOptional(text),
    mode: v.exactOptional(choice(['host', 'snapshot', 'session', 'wrap'] as const)),
    launcher: v.exactOptional(words),
    launcher_style: v.exactOptional(choice(['words', 'string'] as const)),
    source: v.exactOptional(text),
    source_command: v.exactOptional(words),
    provider: v.exactOptional(v.picklist(PROVIDER_NAMES, oneOf(PROVIDER_NAMES))),
    env: v.exactOptional(variables),
    runtime_env: v.exactOptional(variables),
    pass_env: v.exactOptional(names),
    runtime_pass_env: v.exactOptional(names),
    launch_pass_env: v.exactOptional(names),
    path_prepend: v.exactOptional(list),
    functions: v.exactOptional(functions),
    inputs: v.exactOptional(list),
    on_stale: v.exactOptional(choice(['reopen', 'warn', 'refuse'] as const)),
    idle_timeout: v.exactOptional(durationOrNever),
    open_timeout: v.exactOptional(duration),
    kill_grace: v.exactOptional(duration),
    max_concurrent: v.exactOptional(count),
    max_queue: v.exactOptional(count),
    job_output_limit: v.exactOptional(size),
    containment: v.exactOptional(choice(['auto', 'cgroup', 'warden', 'group'] as const)),
    identity: v.exactOptional(text),
    volatile: v.exactOptional(names),
    preset: v.exactOptional(v.picklist(PRESET_NAMES, oneOf(PRESET_NAMES))),
    options: v.exactOptional(presetOptions),
    prefix: v.exactOptional(prefix),
    operand: v.exactOptional(list),
    env_style: v.exactOptional(choice(ENV_STYLES)),
    env_option: v.exactOptional(text),
    cwd_option: v.exactOptional(text),
    tty_option: v.exactOptional(list),
    end_of_options: v.exactOptional(text),
    command_style: v.exactOptional(choice(COMMAND_STYLES)),
    path_map: v.exactOptional(pathMap),
    map_argv: v.exactOptional(v.boolean('true or false')),
    failure_codes: v.exactOptional(codes),
    far_side: v.exactOptional(choice(FAR_SIDES)),
    kill: v.exactOptional(words),
    start: v.exactOptional(words),
    stop: v.exactOptional(words),
  },
  'a table',
);

/** What each key takes: json-schema.ts makes of it what editors read. */
export const KEY_SCHEMAS: Readonly<Record<keyof SessionSettings, { readonly wrapped: v.GenericSchema }>> = SETTINGS_SCHEMA.entries;

/** What is wrong with one value. `path` leads from the session table to it. */
export interface Fault {
  readonly path: readonly string[];
  readonly unknownKey: boolean;
  /** Completes "'key' must be …". */
  readonly expected: string;
  readonly received: unknown;
}

/** Checks one session table: its settings, or every fault in it. */
export function checkSettings(input: unknown): { settings: SessionSettings } | { faults: readonly Fault[] } {
  const result = v.safeParse(SETTINGS_SCHEMA, input);
  if (result.success) return { settings: result.output };
  return {
    faults: result.issues.map((issue) => ({
      // The index of a list item says nothing that its value does not.
      path: issue.path?.filter((item) => item.type !== 'array').map((item) => String(item.key)) ?? [],
      unknownKey: issue.type === 'strict_object' && issue.expected === 'never',
      expected: issue.message,
      received: issue.input,
    })),
  };
}

/** A program and its first words. */
function command(expected: string) {
  return v.pipe(
    v.array(v.pipe(v.string(expected), v.check(hasNoNul, 'words without a NUL')), expected),
    v.minLength(1, expected),
    v.check(([program]) => program !== '', 'words of which the first is a program'),
  );
}

function choice<const T extends readonly [string, ...string[]]>(options: T): v.PicklistSchema<T, string> {
  return v.picklist(options, oneOf(options));
}

function oneOf(options: readonly string[]): string {
  return `one of ${options.map((option) => `"${option}"`).join(', ')}`;
}

function hasNoNul(value: string): boolean {
  return !value.includes('\0');
}

function isPathMap(table: Readonly<Record<string, string>>): boolean {
  return Object.entries(table).every(([host, inside]) => host.startsWith('/') && inside.startsWith('/'));
}
