// Pins EXITED, docs/protocol.md §5, where an agent has more or finer numbers than the wire takes.

import { describe, expect, it } from 'vitest';
import { parseExited } from '../../../src/protocol/exited.js';
import { HEADER_BYTES } from '../../../src/protocol/limits.js';
import { type Exited, encodeExited, MAX_LEFTOVERS } from '../../../src/protocol/messages.js';

const EXITED: Exited = {
  waitStatus: 0,
  cancelledBy: 'nobody',
  usage: {
    userUs: 0,
    systemUs: 0,
    maxRssKib: 0,
    minorFaults: 0,
    majorFaults: 0,
    blocksIn: 0,
    blocksOut: 0,
    voluntarySwitches: 0,
    involuntarySwitches: 0,
  },
  timings: { queuedUs: 0, spawnUs: 0, runUs: 0 },
  tree: { cpuUs: undefined, peakBytes: undefined },
  leftovers: [],
};

describe('EXITED', () => {
  it('lists as many leftovers as the frame has room for', () => {
    const leftovers = Array.from({ length: MAX_LEFTOVERS + 1 }, (_, number) => number + 1);
    expect(again({ ...EXITED, leftovers }).leftovers).toEqual(leftovers.slice(0, MAX_LEFTOVERS));
  });

  it('cuts fractions of a microsecond off', () => {
    const timings = { queuedUs: 0.9, spawnUs: 1234.5678, runUs: 2 ** 40 + 0.5 };
    expect(again({ ...EXITED, timings }).timings).toEqual({ queuedUs: 0, spawnUs: 1234, runUs: 2 ** 40 });
  });

  it('is not written with a negative count', () => {
    expect(() => encodeExited({ ...EXITED, timings: { ...EXITED.timings, runUs: -1 } })).toThrow(RangeError);
  });
});

function again(exited: Exited): Exited {
  return parseExited(encodeExited(exited).subarray(HEADER_BYTES));
}
