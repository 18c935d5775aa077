// Pins how a request's last message becomes its outcome.

import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import { type ExitedMessage, Step } from '../../../src/protocol/messages.js';
import { decodeWaitStatus, outcomeOf } from '../../../src/protocol/outcome.js';

describe('decodeWaitStatus', () => {
  it.each([
    [0x0000, { kind: 'exited', code: 0 }],
    [0x0100, { kind: 'exited', code: 1 }],
    [0xff00, { kind: 'exited', code: 255 }],
    [0x0009, { kind: 'signaled', signal: constants.signals.SIGKILL, core: false }],
    [0x008b, { kind: 'signaled', signal: constants.signals.SIGSEGV, core: true }],
    [0x0040, { kind: 'signaled', signal: 64, core: false }],
  ])('reads %i', (status, ending) => {
    expect(decodeWaitStatus(status)).toEqual(ending);
  });

  it.each([
    ['a stop', 0x137f],
    ['a continue', 0xffff],
    ['a core without a signal', 0x80],
    ['signal 65', 65],
    ['more than 16 bits', 0x10000],
    ['less than nothing', -1],
  ])('refuses %s', (_, status) => {
    expect(() => decodeWaitStatus(status)).toThrow('is not an end');
  });
});

describe('outcomeOf', () => {
  const exited: ExitedMessage = {
    type: 'exited',
    waitStatus: 15,
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

  it('is the ending when nobody cancelled', () => {
    expect(outcomeOf(exited)).toEqual({ kind: 'signaled', signal: 15, core: false });
  });

  it.each(['client', 'deadline', 'shutdown'] as const)('says that the %s cancelled, with the real ending beside it', (by) => {
    expect(outcomeOf({ ...exited, waitStatus: 0x300, cancelledBy: by })).toEqual({
      kind: 'cancelled',
      by,
      ending: { kind: 'exited', code: 3 },
    });
  });

  it('names the step that failed', () => {
    const subject = Buffer.from('pyhton');
    const searched = Buffer.from('/bin');
    const outcome = outcomeOf({ type: 'notStarted', step: Step.PROGRAM, errno: 2, subject, searched });
    expect(outcome).toEqual({ kind: 'notStarted', step: 'PROGRAM', errno: 2, subject, searched });
  });
});
