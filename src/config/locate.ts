// Where a key stands in a TOML text, which the parser does not tell. Only used once something is wrong.

import { parse } from 'smol-toml';

/**
 * The line (from 1) on which the statement begins that gives `path` its value; `undefined` when the text has no such key.
 * `text` must be valid TOML.
 *
 * A statement is complete exactly where the text up to it parses, whatever strings and arrays it spans: so the first prefix that
 * parses and has the key ends with the statement, and the longest shorter one that parses ends just before it.
 */
export function findLine(text: string, path: readonly string[]): number | undefined {
  const lines = text.split(/\r?\n/);
  let lastComplete = 0;
  for (let count = 1; count <= lines.length; count++) {
    let table: unknown;
    try {
      table = parse(lines.slice(0, count).join('\n'));
    } catch {
      continue;
    }
    if (has(table, path)) return lastComplete + 1;
    lastComplete = count;
  }
  return undefined;
}

function has(value: unknown, path: readonly string[]): boolean {
  let at: unknown = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return false;
    at = Reflect.get(at, key);
  }
  return true;
}
