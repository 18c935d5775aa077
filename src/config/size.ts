// Sizes as users write them: "4096", "512K", "64M", "2G".

const UNITS: Readonly<Record<string, number>> = { '': 1, K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };

/** Bytes; `undefined` when it is no size. */
export function findSize(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,9})([KMGT]?)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  return digits === undefined || factor === undefined ? undefined : Number(digits) * factor;
}
