import { describe, expect, it } from 'vitest';

import { findDurationMs, findNumber, readLimit } from '../../../src/cli/runner-exec-values.js';

describe('a duration', () => {
  it.each([
    ['0', 0],
    ['5', 5000],
    ['500ms', 500],
    ['1.5m', 90_000],
    ['.1s', 100],
    ['1h', 3_600_000],
    ['2d', 172_800_000],
    ['0.0001ms', 1],
    ['4294967294ms', 0xfffffffe],
    ['4294967295ms', undefined],
    ['', undefined],
    ['.', undefined],
    ['s', undefined],
    ['1 s', undefined],
    ['1h30m', undefined],
    ['-1', undefined],
    ['1e3', undefined],
  ])('%j is %s ms', (text, ms) => {
    expect(findDurationMs(text)).toBe(ms);
  });
});

describe('a number', () => {
  it.each([
    ['7', 7],
    ['007', 7],
    ['10', undefined],
    ['', undefined],
    ['+1', undefined],
    ['0x1', undefined],
  ])('%j up to 9 is %s', (text, number) => {
    expect(findNumber(text, 9)).toBe(number);
  });
});

describe('a limit', () => {
  it.each([
    ['nofile=64', { resource: 7, soft: 64n, hard: 64n }],
    ['core=0:unlimited', { resource: 4, soft: 0n, hard: 0xffffffffffffffffn }],
    ['nofile', 'it needs the form NAME=SOFT[:HARD]'],
    ['files=1', 'no such limit'],
    ['nofile=x', "it needs a number or 'unlimited'"],
    ['nofile=5x', 'it needs the form NAME=SOFT[:HARD]'],
    ['nofile=5:', "it needs a number or 'unlimited' behind the colon"],
    ['nofile=5:6:7', 'it needs the form NAME=SOFT[:HARD]'],
    ['nofile=unlimited:5', 'its soft limit is above its hard one'],
  ])('%s', (text, limit) => {
    expect(readLimit(text)).toEqual(limit);
  });
});
