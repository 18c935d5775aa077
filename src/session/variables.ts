// A table of variables at the door, for holdfast.toml, the flags and the library. Not valibot's `record`, which drops `__proto__`,
// `prototype` and `constructor` without a word: to a shell these are names like any other.

import * as v from 'valibot';

export interface VariablesMessages {
  readonly table: string;
  readonly name: string;
  readonly value: string;
  readonly nul: string;
}

/** Own properties alone, so that no name is special. The first fault of each variable is told, at its name. */
export function variablesSchema(messages: VariablesMessages): v.GenericSchema<unknown, Record<string, string>> {
  return v.pipe(
    v.custom<Record<string, unknown>>(isTable, messages.table),
    v.rawTransform<Record<string, unknown>, Record<string, string>>(({ dataset, addIssue, NEVER }) => {
      const entries: [string, string][] = [];
      const input = dataset.value;
      for (const [key, value] of Object.entries(input)) {
        const fault = faultOf(key, value, messages);
        if (fault === undefined) entries.push([key, String(value)]);
        else addIssue({ message: fault, input: value, path: [{ type: 'object', origin: 'value', input, key, value }] });
      }
      return entries.length === Object.keys(input).length ? Object.fromEntries(entries) : NEVER;
    }),
  );
}

/** Bytes that a variable's name cannot hold are "=" and NUL; everything else is left to the programs that read it. */
export function isVariableName(name: string): boolean {
  return name !== '' && !name.includes('=') && !name.includes('\0');
}

function faultOf(key: string, value: unknown, messages: VariablesMessages): string | undefined {
  if (!isVariableName(key)) return messages.name;
  if (typeof value !== 'string') return messages.value;
  return value.includes('\0') ? messages.nul : undefined;
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
