// An explanation for people: a table of all variables, one variable with all that is known of it, a comparison with the caller.

import { functionOf } from '../session/functions.js';
import type { Difference } from './explain-diff.js';
import type { Absence, Explanation, Given, Reason, Source, Variable } from './explanation.js';
import { shellBytes, visibleBytes } from './shell-bytes.js';
import { formatTable } from './table.js';

const SOURCES: Readonly<Record<Source, string>> = {
  "pass_env '*'": "the caller, at the opening (pass_env '*')",
  host: 'the host',
  environment: 'the environment',
  env: 'declared (env)',
  runtime_env: 'declared (runtime_env)',
  pass_env: 'the caller, at the opening (pass_env)',
  path_prepend: 'declared (path_prepend)',
  directory: 'where the command runs',
  terminal: 'the caller: a terminal is there',
  runtime_pass_env: 'the caller, now (runtime_pass_env)',
  make: 'the caller: make',
  '--env': 'this command (--env)',
  '--unset': 'this command (--unset)',
  '--pass-env': 'this command (--pass-env)',
  '--path-prepend': 'this command (--path-prepend)',
};

const REASONS: Readonly<Record<Reason, string>> = {
  internal: 'of the shell or session that had it: never passed on',
  unset: 'taken away by this command',
  filtered: "a function that the session's 'functions' leaves out",
  snapshot: 'a function, which a snapshot does not keep',
  'lost-directory': 'named a directory that went with the environment',
  exact: 'this command is --exact',
  scrubbed: 'yours, and neither given to the launcher nor passed',
};

export function sourceText(from: Source): string {
  return SOURCES[from];
}

export function reasonText(why: Reason): string {
  return REASONS[why];
}

/** The variable as it could be typed, a function by its own name. */
export function shownAs({ name, value }: { readonly name: string; readonly value: string }): string {
  const carried = functionOf(name);
  return carried === undefined ? `${shownName(name)}=${shellBytes(value)}` : `${visibleBytes(carried)}()`;
}

function shownName(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : shellBytes(name);
}

export interface FunctionFacts {
  readonly count: number;
  readonly bytes: number;
}

/** Everything, then what is missing and why. */
export function formatExplanation({ variables, absent }: Explanation, functions: FunctionFacts, notes: readonly string[]): string {
  const rows = variables.map((variable) => [SOURCES[variable.from], shownAs(variable)]);
  const parts = [
    notes.map((note) => `${note}\n`).join(''),
    formatTable(['FROM', 'VARIABLE'], rows),
    functions.count === 0
      ? ''
      : `\n${functions.count} ${functions.count === 1 ? 'function' : 'functions'}: ${functions.bytes} bytes in the environment of every command\n`,
    formatAbsent(absent),
  ];
  return parts.join('');
}

function formatAbsent(absent: readonly Absence[]): string {
  const reasons = [...new Set(absent.map(({ why }) => why))];
  const rows = reasons.map((why) => {
    const names = absent
      .filter((each) => each.why === why)
      .map(({ kind, name }) => (kind === 'function' ? `${visibleBytes(name)}()` : shownName(name)));
    return `  ${REASONS[why]}:\n    ${names.join(' ')}\n`;
  });
  return rows.length === 0 ? '' : `\nnot there:\n${rows.join('')}`;
}

/** One variable, a list of directories one below the other, and whom it overrules. */
export function formatVariable(variable: Variable): string {
  const { name, value, from, over, entries } = variable;
  const carried = functionOf(name);
  if (carried !== undefined) return `${visibleBytes(carried)} () ${formatBody(value)}\nfrom ${SOURCES[from]}\n`;
  const overruled = over.map((given) => `over ${SOURCES[given.from]}: ${shellBytes(given.value)}\n`).join('');
  if (entries !== undefined) return `${name}:\n${formatEntries(entries)}${entries.length > 0 ? '' : '  (empty)\n'}`;
  const isList = /(PATH|_DIRS)$/.test(name) && value.includes(':');
  const shown = isList
    ? `${name}:\n${value
        .split(':')
        .map((part) => `  ${shownEntry(part)}\n`)
        .join('')}`
    : `${shownAs(variable)}\n`;
  return `${shown}from ${SOURCES[from]}\n${overruled}`;
}

/** A function's text, line by line: what it holds of control characters is escaped. */
function formatBody(value: string): string {
  return value
    .replace(/^\(\) +/, '')
    .split('\n')
    .map((line) => line.replace(/\t|[^\t]+/g, (part) => (part === '\t' ? part : visibleBytes(part))))
    .join('\n');
}

function shownEntry(part: string): string {
  return part === '' ? "''" : visibleBytes(part);
}

/** Which PATH is searched, and who supplied each directory. An empty one is the working directory. */
function formatEntries(entries: readonly Given[]): string {
  const shown = entries.map(({ value }) => (value === '' ? "'' (the working directory)" : visibleBytes(value)));
  const width = Math.max(0, ...shown.map((text) => text.length));
  return entries.map(({ from }, i) => `  ${(shown[i] ?? '').padEnd(width)}  ${SOURCES[from]}\n`).join('');
}

/** Why there is no such variable. */
export function formatAbsence({ kind, name, why, value }: Absence): string {
  const shown = kind === 'function' ? `${visibleBytes(name)}()` : value === undefined ? shownName(name) : shownAs({ name, value });
  return `${shown}\nnot there: ${REASONS[why]}\n`;
}

/** `+` the session has it, `-` the caller has it, `~` both have, with other values. Functions come last. */
export function formatDifference({ added, changed, removed }: Difference): string {
  const isVariable = ({ name }: { readonly name: string }): boolean => functionOf(name) === undefined;
  const lines = (keep: (each: { readonly name: string }) => boolean): string[] => [
    ...added.filter(keep).map((each) => `+ ${shownAs(each)}`),
    ...changed.filter(keep).flatMap(changeLines),
    ...removed.filter(keep).map((each) => `- ${shownAs({ name: each.name, value: each.was })}`),
  ];
  const variables = lines(isVariable);
  const functions = lines((each) => !isVariable(each));
  return [...variables, ...(functions.length === 0 ? [] : ['functions:', ...functions])].map((line) => `${line}\n`).join('');
}

function changeLines({ name, value, was, entries }: Difference['changed'][number]): string[] {
  if (functionOf(name) !== undefined) return [`~ ${shownAs({ name, value })}`];
  if (entries === undefined) return [`~ ${shownAs({ name, value })}`, `    was ${shellBytes(was)}`];
  const lists = [
    ...entries.added.map((part) => `    + ${shownEntry(part)}`),
    ...entries.removed.map((part) => `    - ${shownEntry(part)}`),
  ];
  return [`~ ${name}`, ...(lists.length === 0 ? ['    in another order'] : lists)];
}
