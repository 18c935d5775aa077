// One benchmark's outcome, as it is printed, kept as JSON and put into docs/performance.md.

import type { Spread } from './numbers.js';

export interface Row {
  name: string;
  spread: Spread;
  /** Against the first row, median by median. */
  ratio: number;
}

/** What DESIGN asks for, and what was seen. */
export interface Bar {
  what: string;
  limit: number;
  /** 'below': `seen` must not be over `limit`. */
  side: 'below' | 'above';
  seen: number;
}

export interface Result {
  name: string;
  question: string;
  unit: string;
  rows: Row[];
  bars: Bar[];
  /** Rivals that could not take part, each with the reason; and other things to know. */
  notes: string[];
}

export function isMet({ side, limit, seen }: Bar): boolean {
  return side === 'below' ? seen <= limit : seen >= limit;
}

/** Rows in the order given; the first is what the others are compared with. */
export function rowsOf(measured: readonly (readonly [string, Spread])[]): Row[] {
  const first = measured[0]?.[1].median ?? Number.NaN;
  return measured.map(([name, spread]) => ({ name, spread, ratio: spread.median / first }));
}

export function ratioOf(rows: readonly Row[], name: string): number {
  const row = rows.find((each) => each.name === name);
  if (row === undefined) throw new Error(`no row '${name}'`);
  return row.ratio;
}
