// Resource limits by name. The numbers are those of Linux (include/uapi/asm-generic/resource.h).

import type { RunLimit } from '../protocol/messages.js';

export const LIMIT_NUMBERS = {
  cpu: 0,
  fsize: 1,
  data: 2,
  stack: 3,
  core: 4,
  rss: 5,
  nproc: 6,
  nofile: 7,
  memlock: 8,
  as: 9,
  locks: 10,
  sigpending: 11,
  msgqueue: 12,
  nice: 13,
  rtprio: 14,
  rttime: 15,
} as const;

export type LimitName = keyof typeof LIMIT_NUMBERS;
/** In the unit of setrlimit(2). */
export type LimitValue = number | bigint | 'unlimited';

export function isLimitName(name: string): name is LimitName {
  return Object.hasOwn(LIMIT_NUMBERS, name);
}

/** The name of RLIMIT number `text`; what is none stays as it is. */
export function limitNameOf(text: string): string {
  return Object.entries(LIMIT_NUMBERS).find(([, number]) => String(number) === text)?.[0] ?? text;
}

/** `undefined`: there is no such limit, or setrlimit(2) would not take it. */
export function findLimit(name: string, soft: LimitValue, hard: LimitValue): RunLimit | undefined {
  const [least, most] = [findAmount(String(soft)), findAmount(String(hard))];
  if (!isLimitName(name) || least === undefined || most === undefined || least > most) return undefined;
  return { resource: LIMIT_NUMBERS[name], soft: least, hard: most };
}

/** Decimal digits, or the word `unlimited` (or `infinity`). `undefined`: it is neither, or over what the kernel takes. */
export function findAmount(text: string): bigint | undefined {
  if (text === 'unlimited' || text === 'infinity') return INFINITE;
  if (!/^\d{1,20}$/.test(text)) return undefined;
  const value = BigInt(text);
  return value < INFINITE ? value : undefined;
}

const INFINITE = 0xffffffffffffffffn;
