// Where a key stands in a TOML text, which the parser does not tell. Only used once something is wrong.

import { parse } from 'smol-toml';

/** More than any file by hand needs; beyond it no line is told, rather than that somebody waits for one. */
const MAX_PARSED_CHARS = 64 * 1024 * 1024;

/**
 * The line (from 1) on which the statement begins that gives `path` its value; `undefined` when the text has no such key.
 * `text` must be valid TOML.
 *
 * A statement is complete where it parses by itself, whatever strings and arrays it spans.
 */
export function findLine(text: string, path: readonly string[]): number | undefined {
  const lines = text.split(/\r?\n/);
  let header: readonly string[] = [];
  let parsedChars = 0;
  for (let first = 0; first < lines.length; ) {
    let statement: unknown;
    let last = first - 1;
    do {
      last++;
      if (last >= lines.length || parsedChars > MAX_PARSED_CHARS) return undefined;
      if (last > first && !mayEnd(lines[last] ?? '')) continue;
      const candidate = lines.slice(first, last + 1).join('\n');
      parsedChars += candidate.length;
      statement = findParsed(candidate);
    } while (statement === undefined);
    if (/^\s*\[/.test(lines[first] ?? '')) {
      header = keysOf(statement);
      if (isBeginning(path, header)) return first + 1;
    } else if (isBeginning(header, path) && has(statement, path.slice(header.length))) return first + 1;
    first = last + 1;
  }
  return undefined;
}

/** Whether a value that spans lines can end on this one: with a bracket or a quote, behind which a comment may stand. */
function mayEnd(line: string): boolean {
  return /[\]}"']\s*$/.test(line) || line.includes('#');
}

function findParsed(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}

/** Of `[a.b]` and `[[a.b]]`: a, b. */
function keysOf(table: unknown): string[] {
  const inner: unknown = Array.isArray(table) ? table[0] : table;
  const [only] = typeof inner === 'object' && inner !== null ? Object.entries(inner) : [];
  return only === undefined ? [] : [only[0], ...keysOf(only[1])];
}

function isBeginning(beginning: readonly string[], whole: readonly string[]): boolean {
  return beginning.length <= whole.length && beginning.every((key, i) => whole[i] === key);
}

function has(value: unknown, path: readonly string[]): boolean {
  let at: unknown = value;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return false;
    at = Reflect.get(at, key);
  }
  return path.length > 0;
}
