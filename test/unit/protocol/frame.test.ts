// Pins docs/protocol.md §2 where the vectors cannot reach: bodies as large as the caps, and what our own side may not send.

import { describe, expect, it } from 'vitest';
import { encodeFrame, parseFrame, parseHeader } from '../../../src/protocol/frame.js';
import { HEADER_BYTES, Kind, RULES } from '../../../src/protocol/limits.js';

describe('encodeFrame', () => {
  it.each(Object.values(RULES))('writes a $name of the cap, which is read back whole', ({ kind, from, maxBodyBytes, maxFds }) => {
    const body = Buffer.alloc(maxBodyBytes, 0x61);
    const frame = encodeFrame(kind, body, maxFds);
    const parsed = parseFrame(frame, from);
    expect(parsed?.used).toBe(HEADER_BYTES + maxBodyBytes);
    expect(parsed?.frame.fdCount).toBe(maxFds);
    expect(parsed?.frame.body.equals(body)).toBe(true);
  });

  it.each(Object.values(RULES))('refuses a $name one byte over the cap', ({ kind, maxBodyBytes }) => {
    expect(() => encodeFrame(kind, Buffer.alloc(maxBodyBytes + 1))).toThrow(expect.objectContaining({ code: 'FRAME_TOO_LARGE' }));
  });

  it.each(Object.values(RULES))('refuses a $name with one descriptor too many', ({ kind, maxFds }) => {
    expect(() => encodeFrame(kind, Buffer.alloc(0), maxFds + 1)).toThrow(expect.objectContaining({ code: 'FRAME_FDS' }));
  });
});

describe('parseHeader', () => {
  it('judges a header in the middle of what came', () => {
    const input = Buffer.concat([Buffer.from('junk'), encodeFrame(Kind.QUEUED, Buffer.alloc(4))]);
    expect(parseHeader(input, 4, 'agent')).toEqual({ kind: Kind.QUEUED, fdCount: 0, bodyBytes: 4 });
    expect(parseHeader(input, input.length - 7, 'agent')).toBeUndefined();
  });

  it('names the kind and the cap that was passed', () => {
    const header = Buffer.from('0000000502000000', 'hex');
    expect(() => parseHeader(header, 0, 'client')).toThrow('body of 5 bytes in a SIGNAL frame, whose cap is 1');
  });
});

describe('parseFrame', () => {
  it('gives a view of the input, not a copy', () => {
    const input = encodeFrame(Kind.SIGNAL, Buffer.of(1));
    const parsed = parseFrame(input, 'client');
    input[HEADER_BYTES] = 9;
    expect(parsed?.frame.body[0]).toBe(9);
  });
});
