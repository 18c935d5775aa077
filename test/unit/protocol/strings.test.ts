// Pins lists of strings, docs/protocol.md §3.

import { describe, expect, it } from 'vitest';
import { checkList, packStrings, splitStrings } from '../../../src/protocol/strings.js';

describe('packStrings', () => {
  it('ends each string with a NUL, text as UTF-8 and bytes as they are', () => {
    expect(packStrings(['é', Buffer.from('ff', 'hex'), ''])).toEqual({ count: 3, block: Buffer.from('c3a900ff0000', 'hex') });
  });

  it('packs nothing into nothing', () => {
    expect(packStrings([])).toEqual({ count: 0, block: Buffer.alloc(0) });
  });

  it.each([
    ['text', 'a\0b'],
    ['bytes', Buffer.from('a\0')],
  ])('refuses %s with a NUL and says which', (_, item) => {
    expect(() => packStrings(['fine', item])).toThrow('string 2 of a list contains a NUL byte');
  });
});

describe('splitStrings', () => {
  it('gives each string without its NUL', () => {
    expect(splitStrings(packStrings(['a', '', 'bc'])).map(String)).toEqual(['a', '', 'bc']);
    expect(splitStrings(packStrings([]))).toEqual([]);
  });

  it('ends on a block that nobody checked', () => {
    expect(() => splitStrings({ count: 1, block: Buffer.from('unended') })).toThrow('does not end with a NUL');
  });
});

describe('checkList', () => {
  it('finds nothing wrong with what packStrings made', () => {
    expect(checkList(packStrings(['', '', 'x']))).toBeUndefined();
    expect(checkList(packStrings([]))).toBeUndefined();
  });

  it('says how many strings there are when the count lies', () => {
    expect(checkList({ count: 3, block: Buffer.from('a\0b\0') })).toBe('a list of 3 strings holds 2');
  });
});
