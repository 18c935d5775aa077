// What each key of a session table may hold. Every message completes "'key' must be …".

import * as v from 'valibot';

import { PROVIDER_NAMES } from '../session/launchers/providers.js';
import { findDuration } from './duration.js';
import { findSize } from './size.js';

const TEXT = 'text in quotes';
const text = v.pipe(v.string(TEXT), v.minLength(1, 'text that is not empty'), v.check(hasNoNul, 'text without a NUL'));

const WORDS = 'a list of words in quotes, such as ["devenv", "shell", "--"]';
const words = v.pipe(v.array(v.pipe(v.string(WORDS), v.check(hasNoNul, 'words without a NUL')), WORDS), v.minLength(1, WORDS));

const LIST = 'a list of text in quotes, such as ["a", "b"]';
const list = v.array(v.pipe(v.string(LIST), v.minLength(1, 'a list without empty text'), v.check(hasNoNul, 'text without a NUL')), LIST);

const NAMES = 'a list of variable names, such as ["SSH_AUTH_SOCK"]';
const names = v.array(v.pipe(v.string(NAMES), v.check(isVariableName, NAMES)), NAMES);

const VALUE = 'text in quotes, such as "0"';
/** Names that the library drops from every record, as some programs can be tricked by them. Better refused than lost. */
const LOST_NAMES = ['__proto__', 'prototype', 'constructor'];
const variables = v.pipe(
  v.custom<object>(
    (input) => typeof input !== 'object' || input === null || !LOST_NAMES.some((name) => Object.hasOwn(input, name)),
    'a table without a variable that is called "__proto__", "prototype" or "constructor"',
  ),
  v.record(
    v.string(),
    v.pipe(v.string(VALUE), v.check(hasNoNul, 'text without a NUL')),
    'a table of variables, such as { CGO_ENABLED = "0" }',
  ),
  v.check((table) => Object.keys(table).every(isVariableName), 'a table whose names are not empty and hold no "="'),
);

const COUNT = 'a whole number from 0 to 1000000';
const count = v.pipe(v.number(COUNT), v.integer(COUNT), v.minValue(0, COUNT), v.maxValue(1_000_000, COUNT));

const DURATION = 'a duration in quotes, such as "500ms", "90s" or "1h"';
const duration = v.pipe(
  v.string(DURATION),
  v.rawTransform<string, number>(({ dataset, addIssue, NEVER }) => {
    const ms = findDuration(dataset.value);
    if (typeof ms === 'number') return ms;
    addIssue({ message: DURATION });
    return NEVER;
  }),
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
);

const DURATION_OR_NEVER = 'a duration in quotes, such as "500ms", "90s", "1h" or "never"';
const durationOrNever = v.pipe(
  v.string(DURATION_OR_NEVER),
  v.rawTransform<string, number | null>(({ dataset, addIssue, NEVER }) => {
    const ms = findDuration(dataset.value);
    if (ms !== undefined) return ms;
    addIssue({ message: DURATION_OR_NEVER });
    return NEVER;
  }),
);

/** A session as declared: what is absent was not said. Durations are milliseconds, `null` is "never"; sizes are bytes. */
export interface SessionSettings {
  mode?: 'host' | 'snapshot' | 'session' | 'wrap';
  launcher?: string[];
  launcher_style?: 'words' | 'string';
  source?: string;
  source_command?: string[];
  provider?: string;
  env?: Record<string, string>;
  runtime_env?: Record<string, string>;
  pass_env?: string[];
  runtime_pass_env?: string[];
  launch_pass_env?: string[];
  path_prepend?: string[];
  inputs?: string[];
  on_stale?: 'reopen' | 'warn' | 'refuse';
  idle_timeout?: number | null;
  open_timeout?: number;
  kill_grace?: number;
  max_concurrent?: number;
  max_queue?: number;
  job_output_limit?: number;
  containment?: 'auto' | 'cgroup' | 'warden' | 'group';
  prefix?: string[];
  operand?: string[];
  env_style?: 'inherit' | 'option' | 'option-by-name' | 'setenv' | 'env-command' | 'remote-shell';
  env_option?: string;
  cwd_option?: string;
}

const SETTINGS_SCHEMA: v.GenericSchema<unknown, SessionSettings> = v.strictObject(
  {
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
    inputs: v.exactOptional(list),
    on_stale: v.exactOptional(choice(['reopen', 'warn', 'refuse'] as const)),
    idle_timeout: v.exactOptional(durationOrNever),
    open_timeout: v.exactOptional(duration),
    kill_grace: v.exactOptional(duration),
    max_concurrent: v.exactOptional(count),
    max_queue: v.exactOptional(count),
    job_output_limit: v.exactOptional(size),
    containment: v.exactOptional(choice(['auto', 'cgroup', 'warden', 'group'] as const)),
    prefix: v.exactOptional(words),
    operand: v.exactOptional(list),
    env_style: v.exactOptional(choice(['inherit', 'option', 'option-by-name', 'setenv', 'env-command', 'remote-shell'] as const)),
    env_option: v.exactOptional(text),
    cwd_option: v.exactOptional(text),
  },
  'a table',
);

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
      path: issue.path?.map((item) => String(item.key)) ?? [],
      unknownKey: issue.type === 'strict_object' && issue.expected === 'never',
      expected: issue.message,
      received: issue.input,
    })),
  };
}

function choice<const T extends readonly [string, ...string[]]>(options: T): v.PicklistSchema<T, string> {
  return v.picklist(options, oneOf(options));
}

function oneOf(options: readonly string[]): string {
  return `one of ${options.map((option) => `"${option}"`).join(', ')}`;
}

/** Bytes that a variable's name cannot hold are "=" and NUL; everything else is left to the programs that read it. */
function isVariableName(name: string): boolean {
  return name !== '' && !name.includes('=') && hasNoNul(name);
}

function hasNoNul(value: string): boolean {
  return !value.includes('\0');
}
