// The matrix: a row for each thing that a scene is about, a column for each way to run a command.

import type { Column } from './columns.js';
import { globOf, matches } from './differences.js';
import type { Finding } from './judge.js';
import type { Observation } from './observation.js';

interface Row {
  label: string;
  /** By column; absent: not run there. */
  cells: Map<string, string>;
}

const ALL_ELSE = '(all else)';

export function matrixOf(columns: readonly Column[], observations: readonly Observation[], findings: readonly Finding[]): string {
  const rows = rowsOf(columns, observations, findings);
  const width = Math.max(...rows.map(({ label }) => label.length));
  const widths = columns.map(({ name }) => Math.max(name.length, ...rows.map(({ cells }) => cells.get(name)?.length ?? 1)));
  const line = (label: string, cells: readonly string[]): string =>
    [label.padEnd(width), ...cells.map((cell, index) => cell.padEnd(widths[index] ?? 0))].join('  ').trimEnd();
  return [
    line(
      '',
      columns.map(({ name }) => name),
    ),
    ...rows.map(({ label, cells }) =>
      line(
        label,
        columns.map(({ name }) => cells.get(name) ?? '-'),
      ),
    ),
  ].join('\n');
}

function rowsOf(columns: readonly Column[], observations: readonly Observation[], findings: readonly Finding[]): Row[] {
  const rows = new Map<string, Row>();
  const differing = groupBy(findings, ({ column, scene }) => `${column}\n${scene}`);
  const scenes = [...new Map(observations.map((each) => [each.scene, each.focus]))];
  for (const [scene, focus] of scenes) {
    for (const { name, judged } of columns) {
      const there = observations.filter((each) => each.column === name && each.scene === scene);
      if (there.length === 0) continue;
      const facts = new Set(observations.filter((each) => each.scene === scene).flatMap((each) => Object.keys(each.facts)));
      const found = differing.get(`${name}\n${scene}`) ?? [];
      const groups = groupBy(facts, (fact) => groupOf(fact, focus));
      for (const group of [...groups.keys()].sort((a, b) => Number(a === ALL_ELSE) - Number(b === ALL_ELSE))) {
        const label = `${scene}: ${group}`;
        const row = rows.get(label) ?? { label, cells: new Map() };
        rows.set(label, row);
        row.cells.set(
          name,
          cellOf(
            found.filter(({ fact }) => groupOf(fact, focus) === group),
            judged,
          ),
        );
      }
    }
  }
  return [...rows.values()];
}

function groupBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** How many rows are as they are directly, explained or not, in each column. */
export function summaryOf(columns: readonly Column[], observations: readonly Observation[], findings: readonly Finding[]): string {
  const rows = rowsOf(columns, observations, findings).filter(({ label }) => !label.endsWith(ALL_ELSE));
  const lines = columns.map(({ name }) => {
    const cells = rows.flatMap(({ cells }) => cells.get(name) ?? []);
    const same = cells.filter((cell) => cell === 'ok').length;
    const faults = cells.filter((cell) => cell === 'FAIL').length;
    return `${name}: ${same} of ${cells.length} the same${faults > 0 ? `, ${faults} FAIL` : ''}`;
  });
  return lines.join('\n');
}

/** `limits.nofile` → `limits`, where the scene is about it. */
function groupOf(fact: string, focus: readonly string[]): string {
  if (fact === 'scene') return ALL_ELSE;
  return matches(focus.map(globOf), fact) ? (fact.split('.')[0] ?? fact) : ALL_ELSE;
}

function cellOf(found: readonly Finding[], judged: boolean): string {
  if (found.length === 0) return 'ok';
  if (!judged) return 'differs';
  if (found.some(({ id }) => id === undefined)) return 'FAIL';
  return [...new Set(found.map(({ id }) => id))].join(',');
}

/** What nobody explains, one a line. */
export function unexplained(findings: readonly Finding[]): string[] {
  return findings
    .filter(({ id }) => id === undefined)
    .map(({ column, scene, fact, direct, shown }) => `${column}: ${scene}: ${fact}: ${short(direct)} directly, ${short(shown)} here`);
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? 'none';
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
