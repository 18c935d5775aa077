// What many measurements of one thing come to.

export interface Spread {
  count: number;
  min: number;
  median: number;
  p95: number;
  max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0) throw new Error('nothing was measured');
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
  return { count: sorted.length, min: at(0), median: at(0.5), p95: at(0.95), max: at(1) };
}
