import { describe, expect, it } from 'vitest';

import { findAmount, isLimitName, limitOf } from '../../../src/client/limits.js';

describe('a limit', () => {
  it('has a number by its name', () => {
    expect(limitOf('nofile', 64, 'unlimited')).toEqual({ resource: 7, soft: 64n, hard: 0xffffffffffffffffn });
    expect([isLimitName('core'), isLimitName('toString')]).toEqual([true, false]);
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
