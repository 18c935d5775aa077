import { describe, expect, it } from 'vitest';

import { findDuration, formatDuration, MAX_DURATION_MS } from '../../../src/config/duration.js';

describe('durations', () => {
  it.each([
    ['500ms', 500],
    ['90s', 90_000],
    ['1.5s', 1500],
    ['1h30m', 5_400_000],
    ['2d', 172_800_000],
    ['0', 0],
    ['5', 5000],
    ['0.25', 250],
  ])('reads %s', (text, ms) => {
    expect(findDuration(text)).toBe(ms);
  });

  it('reads never as no limit', () => {
    expect(findDuration('never')).toBeNull();
  });

  it.each(['', ' ', '1 h', 'h', '-1s', '1x', '1h!', '1e3', '1hnever', '25d', '٣s'])('refuses %j', (text) => {
    expect(findDuration(text)).toBeUndefined();
  });

  it('takes the longest duration that a timer can hold', () => {
    expect(findDuration(`${MAX_DURATION_MS}ms`)).toBe(MAX_DURATION_MS);
    expect(findDuration(`${MAX_DURATION_MS + 1}ms`)).toBeUndefined();
  });

  it.each([
    [0, '0s'],
    [500, '500ms'],
    [5_400_000, '1h30m'],
    [null, 'never'],
  ])('spells %j as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
    expect(findDuration(text)).toBe(ms);
  });
});
