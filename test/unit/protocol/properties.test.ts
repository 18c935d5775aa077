// Pins that the codec gives back what it was given, and that no bytes at all can make it fail in another way than it says.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProtocolError } from '../../../src/protocol/error.js';
import { parseFrame } from '../../../src/protocol/frame.js';
import { HEADER_BYTES, RULES, type Side } from '../../../src/protocol/limits.js';
import { type AgentMessage, type ClientMessage, parseAgentFrame, parseClientFrame } from '../../../src/protocol/messages.js';
import { agentMessages, clientMessages, mutate, mutations } from './arbitraries.js';
import { agentBytes, clientBytes } from './message-bytes.js';

describe('any message', () => {
  it('of a client is read as it was written', () => {
    fc.assert(
      fc.property(clientMessages, (message) => {
        expect(parse('client', clientBytes(message))).toEqual(message);
      }),
    );
  });

  it('of an agent is read as it was written', () => {
    fc.assert(
      fc.property(agentMessages, (message) => {
        expect(parse('agent', agentBytes(message, 0))).toEqual(message);
      }),
    );
  });
});

describe('any bytes', () => {
  it('are a message, too few, or a ProtocolError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), sides, (bytes, side) => judged(side, Buffer.from(bytes))),
      { numRuns: 2000 },
    );
  });

  it('under a true header are a message or a ProtocolError', () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(RULES)), fc.uint8Array({ maxLength: 300 }), ({ kind, from }, body) => {
        const header = Buffer.from([0, 0, body.length >> 8, body.length & 0xff, kind, 0, 0, 0]);
        judged(from, Buffer.concat([header, body]));
      }),
      { numRuns: 3000 },
    );
  });

  it('put into a frame of a client leave a frame or a ProtocolError', () => {
    fc.assert(
      fc.property(clientMessages, mutations, (message, changes) => judgedAtTrueLength('client', mutate(clientBytes(message), changes))),
      { numRuns: 2000 },
    );
  });

  it('put into a frame of an agent leave a frame or a ProtocolError', () => {
    fc.assert(
      fc.property(agentMessages, mutations, (message, changes) => judgedAtTrueLength('agent', mutate(agentBytes(message, 0), changes))),
      { numRuns: 2000 },
    );
  });
});

const sides = fc.constantFrom<Side>('client', 'agent');

function parse(side: Side, bytes: Buffer): ClientMessage | AgentMessage | undefined {
  const parsed = parseFrame(bytes, side);
  if (parsed === undefined) return undefined;
  return side === 'client' ? parseClientFrame(parsed.frame) : parseAgentFrame(parsed.frame);
}

/** Lets a ProtocolError be; any other fails the property. What is taken must be written as the very bytes that were read. */
function judged(side: Side, bytes: Buffer): void {
  let message: ClientMessage | AgentMessage | undefined;
  try {
    message = parse(side, bytes);
  } catch (error) {
    if (error instanceof ProtocolError) return;
    throw error;
  }
  if (message?.type !== 'run') return;
  const again = clientBytes(message);
  expect(again).toEqual(bytes.subarray(0, again.length));
}

/** As it is, and with a header that tells the length that came out: the bodies are what this is about. */
function judgedAtTrueLength(side: Side, bytes: Buffer): void {
  judged(side, bytes);
  if (bytes.length < HEADER_BYTES) return;
  bytes.writeUInt32BE(bytes.length - HEADER_BYTES, 0);
  judged(side, bytes);
}
