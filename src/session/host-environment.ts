// The caller's environment as bytes. `process.env` decodes as UTF-8 and loses what is not; /proc/self/environ keeps it, but knows
// nothing of what the program changed since it started. So: the first, repaired from the second. Text is latin1, one character a byte.

import { readFileSync } from 'node:fs';

/** Every variable of this process: name → value, both latin1. */
export function hostEnvironment(env: NodeJS.ProcessEnv = process.env, initial: () => string = initialEnvironment): Map<string, string> {
  const variables = new Map<string, string>();
  let raw: Map<string, [name: string, value: string]> | undefined;
  for (const [name, value = ''] of Object.entries(env)) {
    if (!`${name}${value}`.includes('\ufffd')) {
      variables.set(bytesOf(name), bytesOf(value));
      continue;
    }
    raw ??= parseInitial(initial());
    const found = raw.get(name);
    const isUnchanged = found !== undefined && textOf(found[1]) === value;
    const [rawName, rawValue] = isUnchanged ? found : [bytesOf(name), bytesOf(value)];
    variables.set(rawName, rawValue);
  }
  return variables;
}

/** The bytes of a text in UTF-8, as latin1. */
export function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function textOf(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString();
}

function initialEnvironment(): string {
  return readFileSync('/proc/self/environ', 'latin1');
}

/** By the name as `process.env` shows it. */
function parseInitial(block: string): Map<string, [name: string, value: string]> {
  const variables = new Map<string, [string, string]>();
  for (const entry of block.split('\0')) {
    const equals = entry.indexOf('=');
    if (equals > 0) variables.set(textOf(entry.slice(0, equals)), [entry.slice(0, equals), entry.slice(equals + 1)]);
  }
  return variables;
}
