// "Did you mean": the known word closest to one that is not known. Pure.

/** The closest of `known`, or `undefined` when none is close enough to be a slip of the fingers. */
export function findNearest(word: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  // Two letters in five may be wrong: `idle_timout` is a slip, `foo` for `mode` is not.
  let bestDistance = Math.max(1, Math.round(word.length * 0.4)) + 1;
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** The closest of the choices that `expected`, the schema's "one of "a", "b"", offers. */
export function findNearestChoice(expected: string, received: string): string | undefined {
  if (!expected.startsWith('one of ')) return undefined;
  return findNearest(
    received,
    [...expected.matchAll(/"([^"]+)"/g)].map((match) => match[1] ?? ''),
  );
}

/** The number of letters added, dropped, replaced or swapped with their neighbour between two words. */
export function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(at(previous, column) + 1, at(current, column - 1) + 1, at(previous, column - 1) + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, at(beforePrevious, column - 2) + 1);
      current.push(cost);
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
