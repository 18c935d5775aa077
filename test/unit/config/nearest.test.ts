import { describe, expect, it } from 'vitest';

import { editDistance, findNearest } from '../../../src/config/nearest.js';

describe('did you mean', () => {
  it.each([
    ['', 'ab', 2],
    ['mode', 'mode', 0],
    ['moed', 'mode', 1],
    ['idle_timout', 'idle_timeout', 1],
    ['abc', 'xyz', 3],
  ])('counts the slips between %j and %j', (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance);
    expect(editDistance(b, a)).toBe(distance);
  });

  it('finds a word with a slip in it', () => {
    expect(findNearest('luancher', ['mode', 'launcher', 'source'])).toBe('launcher');
    expect(findNearest('Mode', ['mode', 'launcher'])).toBe('mode');
  });

  it('finds nothing for a word that is another word', () => {
    expect(findNearest('shell', ['mode', 'launcher', 'source'])).toBeUndefined();
  });
});
