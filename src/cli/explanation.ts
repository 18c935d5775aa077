// Where each variable of a session comes from, as far as its agent and its definition tell.

import { isUtf8 } from 'node:buffer';

import * as v from 'valibot';

import { HoldfastError } from '../errors.js';
import { control } from '../session/control.js';
import type { SessionDefinition } from '../session/definition.js';
import { readOpened } from '../session/opened.js';
import { formatTable, shellWord } from './table.js';

const TIMEOUT_MS = 5000;
/** bash's way to export a function. */
const FUNCTION_NAME = /^BASH_FUNC_(.+)%%$/;

const ANSWER = v.object({ base: v.array(v.tuple([v.string(), v.string()])) });

export interface Variable {
  readonly name: string;
  /** The function's own name, when the variable carries one. */
  readonly function?: string;
  /** Text where it is UTF-8, else one character a byte. Absent: read from the caller at each command. */
  readonly value?: string;
  readonly source: string;
}

/** @throws {HoldfastError} `NO_SESSION`, and as `control`. */
export async function explainEnvironment(name: string): Promise<Variable[]> {
  const answer = v.safeParse(ANSWER, await control(name, { op: 'environment', protocol: 1 }, { timeoutMs: TIMEOUT_MS }));
  if (!answer.success) {
    throw new HoldfastError('PROTOCOL', `the environment of session '${name}' is not understood`, {
      hint: 'close the session and open it again with this version of Holdfast',
    });
  }
  return explainVariables(answer.output.base, readOpened(name).record.definition);
}

/** Sorted by name; pure. @param base names and values as latin1, one character a byte. */
export function explainVariables(base: ReadonlyArray<readonly [string, string]>, definition: SessionDefinition): Variable[] {
  const perCommand = definition.runtimePassEnv.filter((name) => name !== '*');
  const variables = base
    .filter(([name]) => !perCommand.includes(textOf(name)))
    .map(([latin1Name, value]): Variable => {
      const name = textOf(latin1Name);
      const carried = FUNCTION_NAME.exec(name)?.[1];
      return { name, ...(carried === undefined ? {} : { function: carried }), value: textOf(value), source: sourceOf(name, definition) };
    });
  for (const name of perCommand) variables.push({ name, source: 'the caller, at each command (runtime_pass_env)' });
  return variables.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

/** The strongest one that gives a value wins; docs/config.md has the order. */
function sourceOf(name: string, definition: SessionDefinition): string {
  if (definition.passEnv.includes(name)) return 'the caller, at the opening (pass_env)';
  if (Object.hasOwn(definition.runtimeEnv, name)) return 'declared (runtime_env)';
  if (Object.hasOwn(definition.env, name)) return 'declared (env)';
  if (name === 'PATH' && definition.pathPrepend.length > 0) return 'the environment, behind path_prepend';
  return definition.passEnv.includes('*') ? "the environment, or the caller at the opening (pass_env '*')" : 'the environment';
}

export function formatVariables(variables: readonly Variable[]): string {
  const rows = variables.map((variable) => [variable.source, shownAs(variable)]);
  return formatTable(['FROM', 'VARIABLE'], rows);
}

/** A list of directories is easier to read one below the other. */
export function formatVariable(variable: Variable): string {
  const { name, value, source } = variable;
  if (value === undefined || variable.function !== undefined) return `${shownAs(variable)}\nfrom ${source}\n`;
  const isList = /PATH$/.test(name) && value.includes(':');
  const shown = isList
    ? `${name}:\n${value
        .split(':')
        .map((part) => `  ${part}\n`)
        .join('')}`
    : `${name}=${shellWord(value)}\n`;
  return `${shown}from ${source}\n`;
}

function shownAs({ name, function: carried, value }: Variable): string {
  if (carried !== undefined) return `${carried}() (a shell function)`;
  return value === undefined ? name : `${name}=${shellWord(value)}`;
}

function textOf(latin1: string): string {
  const bytes = Buffer.from(latin1, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : latin1;
}
