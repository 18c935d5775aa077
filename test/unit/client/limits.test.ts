import { describe, expect, it } from 'vitest';

import { findAmount, findLimit, isLimitName } from '../../../src/client/limits.js';

describe('a limit', () => {
  it('has a number by its name', () => {
    expect(findLimit('nofile', 64, 'unlimited')).toEqual({ resource: 7, soft: 64n, hard: 0xffffffffffffffffn });
    expect([isLimitName('core'), isLimitName('toString')]).toEqual([true, false]);
  });

  it.each([
    ['nofile', -1, 5],
    ['nofile', 1.5, 5],
    ['nofile', Number.NaN, 5],
    ['nofile', 5, 1],
    ['nofiles', 1, 5],
  ] as const)('that the kernel would not take is none: %s %s:%s', (name, soft, hard) => {
    expect(findLimit(name, soft, hard)).toBeUndefined();
  });

  it.each([
    ['0', 0n],
    ['18446744073709551614', 0xfffffffffffffffen],
    ['unlimited', 0xffffffffffffffffn],
    ['infinity', 0xffffffffffffffffn],
    ['18446744073709551615', undefined],
    ['1k', undefined],
    ['', undefined],
    ['-1', undefined],
  ])('%j is %s', (text, amount) => {
    expect(findAmount(text)).toBe(amount);
  });
});
