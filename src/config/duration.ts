// Durations as people write them: "500ms", "90s", "1h30m", "never". Pure. Inside the program only milliseconds exist.

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/y;

/** Largest duration taken, in milliseconds: a u32 of the wire and Node's timers both end near here (24.8 days). */
export const MAX_DURATION_MS = 0x7fffffff;

/**
 * Milliseconds of `text`: one or more numbers with unit ms, s, m, h or d; a bare number is seconds, as for timeout(1).
 *
 * @returns `null` for "never"; `undefined` when `text` is no duration, or longer than `MAX_DURATION_MS`.
 */
export function findDuration(text: string): number | null | undefined {
  if (text === 'never') return null;
  if (/^\d+(\.\d+)?$/.test(text)) return inRange(Number(text) * 1000);
  let totalMs = 0;
  PART.lastIndex = 0;
  do {
    const part = PART.exec(text);
    if (part === null) return undefined;
    totalMs += Number(part[1]) * (UNIT_MS[part[2] ?? ''] ?? Number.NaN);
  } while (PART.lastIndex < text.length);
  return inRange(totalMs);
}

/** The shortest exact spelling of a number of milliseconds; `null` is "never". */
export function formatDuration(ms: number | null): string {
  if (ms === null) return 'never';
  if (ms === 0) return '0s';
  const parts: string[] = [];
  let rest = ms;
  for (const unit of ['d', 'h', 'm', 's', 'ms']) {
    const size = UNIT_MS[unit] ?? 1;
    const count = Math.floor(rest / size);
    if (count > 0) parts.push(`${count}${unit}`);
    rest -= count * size;
  }
  return parts.join('');
}

function inRange(ms: number): number | undefined {
  return ms <= MAX_DURATION_MS ? Math.round(ms) : undefined;
}
