// docs/differences.md: the accepted differences, read from the table in which users find them. A row says in which columns and scenes
// which facts differ and what they are then; one that it does not cover is a fault, and one that never occurs is stale.

import { readFileSync } from 'node:fs';

export interface Difference {
  /** Stable: never reused for another one. */
  id: string;
  facts: readonly RegExp[];
  scenes: readonly RegExp[];
  columns: readonly RegExp[];
  /** What a session shows, as JSON; empty: anything. */
  shown: readonly RegExp[];
}

const HEADINGS = ['id', 'facts', 'scenes', 'columns', 'shown', 'why'];

/** @throws Error that names the line. */
export function parseDifferences(markdown: string): Difference[] {
  const found: Difference[] = [];
  let headings: string[] | undefined;
  for (const [index, line] of markdown.split('\n').entries()) {
    if (!line.startsWith('|')) {
      headings = undefined;
      continue;
    }
    // An escaped bar is no border.
    const cells = line
      .slice(1)
      .split(/(?<!\\)\|/)
      .slice(0, -1)
      .map((cell) => cell.trim().replaceAll('\\|', '|'));
    if (headings === undefined) headings = cells;
    else if (headings.join() === HEADINGS.join() && !/^-+$/.test(cells[0] ?? '')) found.push(parseRow(cells, index + 1));
  }
  const doubled = found.find(({ id }, index) => found.findIndex((other) => other.id === id) < index);
  if (doubled !== undefined) throw new Error(`docs/differences.md: '${doubled.id}' is there twice`);
  return found;
}

export function readDifferences(path: string): Difference[] {
  return parseDifferences(readFileSync(path, 'utf8'));
}

function parseRow(cells: readonly string[], line: number): Difference {
  const [id = '', facts = '', scenes = '', columns = '', shown = '', why = ''] = cells;
  if (!/^`[a-z0-9-]+`$/.test(id) || why === '') throw new Error(`docs/differences.md:${line}: a difference needs an id and a reason`);
  const row = { id: id.slice(1, -1), facts: patterns(facts), scenes: patterns(scenes), columns: patterns(columns), shown: patterns(shown) };
  if (row.facts.length === 0 || row.scenes.length === 0 || row.columns.length === 0) {
    throw new Error(`docs/differences.md:${line}: '${row.id}' says not which facts, scenes and columns`);
  }
  return row;
}

/** What is between backticks, `*` standing for anything. */
function patterns(cell: string): RegExp[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, pattern = '']) => globOf(pattern));
}

export function globOf(pattern: string): RegExp {
  return new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')}$`, 's');
}

export const matches = (globs: readonly RegExp[], text: string): boolean => globs.some((glob) => glob.test(text));
