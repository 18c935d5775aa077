// Compares what each column shows with what its direct column shows, and looks up each difference in docs/differences.md.

import type { Column } from './columns.js';
import { type Difference, matches } from './differences.js';
import type { Fact, Observation } from './observation.js';

export interface Finding {
  column: string;
  scene: string;
  fact: string;
  direct: Fact | undefined;
  shown: Fact | undefined;
  /** The rows that explain it, first the most special one; `undefined`: nobody does. */
  id: string | undefined;
}

export interface Judgement {
  findings: Finding[];
  /** Ids of differences that did not occur, though all was run in which they could. */
  stale: string[];
}

export function judge(
  columns: readonly Column[],
  observations: readonly Observation[],
  differences: readonly Difference[],
  isWhole: boolean,
): Judgement {
  const seen = new Map(observations.map((each) => [`${each.column}\n${each.scene}`, each]));
  const findings: Finding[] = [];
  const used = new Set<string>();
  for (const column of columns) {
    for (const { scene, facts } of observations.filter((each) => each.column === column.name)) {
      const direct = seen.get(`${column.against}\n${scene}`)?.facts ?? {};
      for (const fact of [...new Set([...Object.keys(direct), ...Object.keys(facts)])].sort()) {
        if (JSON.stringify(direct[fact]) === JSON.stringify(facts[fact])) continue;
        const found = { column: column.name, scene, fact, direct: direct[fact], shown: facts[fact] };
        const id = column.judged ? differences.find((each) => explains(each, found))?.id : undefined;
        if (id !== undefined) used.add(id);
        findings.push({ ...found, id });
      }
    }
  }
  const judged = columns.filter((column) => column.judged && observations.some((each) => each.column === column.name));
  const stale = isWhole ? differences.filter((each) => !used.has(each.id) && judged.some(({ name }) => matches(each.columns, name))) : [];
  return { findings, stale: stale.map(({ id }) => id) };
}

function explains(difference: Difference, { column, scene, fact, shown }: Omit<Finding, 'id'>): boolean {
  const isCovered = matches(difference.columns, column) && matches(difference.scenes, scene) && matches(difference.facts, fact);
  return isCovered && (difference.shown.length === 0 || matches(difference.shown, JSON.stringify(shown) ?? 'none'));
}
