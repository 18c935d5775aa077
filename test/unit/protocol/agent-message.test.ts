// Pins what an agent says when it has more to say than a frame holds: docs/protocol.md §5.

import { describe, expect, it } from 'vitest';
import { parseFrame } from '../../../src/protocol/frame.js';
import { Kind } from '../../../src/protocol/limits.js';
import {
  type AgentMessage,
  encodeAnswer,
  encodeNotStarted,
  encodeRefused,
  encodeSpawned,
  parseAgentFrame,
  RefusalCode,
  Step,
} from '../../../src/protocol/messages.js';

describe('a refusal', () => {
  it('arrives whatever it quotes', () => {
    const message = parse(
      encodeRefused({ code: RefusalCode.BAD_REQUEST, message: `cannot use 'a\0b': ${'x'.repeat(100_000)}`, hint: 'y'.repeat(100_000) }),
    );
    expect(message).toMatchObject({ type: 'refused', code: RefusalCode.BAD_REQUEST, hint: 'y'.repeat(32_763) });
    expect(message).toHaveProperty('message', expect.stringMatching(/^cannot use 'ab': x{32000}/));
  });
});

describe('a failure to start', () => {
  it('arrives with a PATH as long as a request can hold', () => {
    const subject = Buffer.from('pyhton');
    const message = parse(encodeNotStarted({ step: Step.PROGRAM, errno: 2, subject, searched: Buffer.alloc(8_000_000, 0x70) }));
    expect(message).toMatchObject({ type: 'notStarted', step: Step.PROGRAM, errno: 2, subject });
  });
});

describe('an answer', () => {
  it('over the cap is refused on our side', () => {
    expect(() => encodeAnswer({ jobs: 'x'.repeat(16_777_216) })).toThrow(expect.objectContaining({ code: 'FRAME_TOO_LARGE' }));
  });

  it.each(['[]', '1', 'nul', '{"a":1', '{}{}'])('%s is no JSON object, and refused', (json) => {
    expect(() => parseAgentFrame({ kind: Kind.ANSWER, fdCount: 0, body: Buffer.from(json) })).toThrow(
      expect.objectContaining({ code: 'BODY_MALFORMED' }),
    );
  });
});

describe('a target that was spawned', () => {
  it('carries its pidfd or none', () => {
    const spawned = { pid: 7, startNs: 5n, job: '' };
    expect(encodeSpawned(spawned, 1)[5]).toBe(1);
    expect(encodeSpawned(spawned, 0)[5]).toBe(0);
  });
});

describe('a frame of the other side', () => {
  it('is no message of an agent', () => {
    expect(() => parseAgentFrame({ kind: Kind.RUN, fdCount: 0, body: Buffer.alloc(0) })).toThrow(
      expect.objectContaining({ code: 'FRAME_KIND' }),
    );
  });
});

function parse(bytes: Buffer): AgentMessage {
  const parsed = parseFrame(bytes, 'agent');
  if (parsed === undefined) throw new Error('the frame is not whole');
  return parseAgentFrame(parsed.frame);
}
