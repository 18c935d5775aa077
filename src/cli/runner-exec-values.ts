// Values of runner-exec's options, read exactly as native/client_values.c reads them. Pure.

import { findAmount, isLimitName, LIMIT_NUMBERS } from '../client/limits.js';
import type { RunLimit } from '../protocol/messages.js';

/** Decimal digits only, at most `most`. */
export function findNumber(text: string, most: number): number | undefined {
  if (!/^\d+$/.test(text)) return undefined;
  const value = Number(text);
  return value <= most ? value : undefined;
}

const UNIT_MS: Readonly<Record<string, number>> = { '': 1000, ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** All ones mean "the session's" on the wire. */
const MAX_MS = 0xfffffffe;

/** 500ms, 5s, 1.5m, 1h; a plain number is seconds. Rounded up to a millisecond, so that only zero gives 0. */
export function findDurationMs(text: string): number | undefined {
  const match = /^(\d*)(?:\.(\d*))?(ms|s|m|h|d|)$/.exec(text);
  if (match === null) return undefined;
  const [, whole = '', fraction = '', unit = ''] = match;
  const unitMs = UNIT_MS[unit];
  if ((whole === '' && fraction === '') || unitMs === undefined) return undefined;
  // In integers: 0.1 has no exact double, and a rounding up would show it.
  const millionths = Number(fraction.slice(0, 6).padEnd(6, '0'));
  const ms = Number(whole) * unitMs + Math.ceil((millionths * unitMs) / 1_000_000);
  return ms <= MAX_MS ? ms : undefined;
}

/** NAME=SOFT[:HARD]: the limit, or what is wrong with it. One number sets both. */
export function readLimit(text: string): RunLimit | string {
  const equals = text.indexOf('=');
  if (equals === -1) return 'it needs the form NAME=SOFT[:HARD]';
  const name = text.slice(0, equals);
  if (!isLimitName(name)) return 'no such limit';
  const { amount: soft, rest } = takeAmount(text.slice(equals + 1));
  if (soft === undefined) return "it needs a number or 'unlimited'";
  const colon = rest.startsWith(':');
  const { amount: hard, rest: left } = colon ? takeAmount(rest.slice(1)) : { amount: soft, rest };
  if (hard === undefined) return "it needs a number or 'unlimited' behind the colon";
  if (left !== '') return 'it needs the form NAME=SOFT[:HARD]';
  return soft > hard ? 'its soft limit is above its hard one' : { resource: LIMIT_NUMBERS[name], soft, hard };
}

function takeAmount(text: string): { amount: bigint | undefined; rest: string } {
  const word = /^(?:unlimited|infinity|\d*)/.exec(text)?.[0] ?? '';
  return { amount: findAmount(word), rest: text.slice(word.length) };
}
