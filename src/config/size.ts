// Sizes as people write them: "4096", "512K", "64M", "2G". Pure. Inside the program only bytes exist.

const UNIT_BYTES: Readonly<Record<string, number>> = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 };

/** Bytes; `undefined` when `text` is no size, or beyond what a number holds exactly. */
export function findSize(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d+)([KMG]?)$/.exec(text) ?? [];
  const bytes = Number(digits) * (UNIT_BYTES[unit] ?? Number.NaN);
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** For people: the largest unit that divides it, or bytes. */
export function formatSize(bytes: number): string {
  for (const unit of ['G', 'M', 'K']) {
    const size = UNIT_BYTES[unit] ?? 1;
    if (bytes >= size && bytes % size === 0) return `${bytes / size}${unit}`;
  }
  return `${bytes}`;
}
