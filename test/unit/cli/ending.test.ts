import { describe, expect, it } from 'vitest';

import { describeFailure, EndAs, endingOf, Interrupted, SilentFailure } from '../../../src/cli/ending.js';
import { HOLDFAST_ERROR_CODES, HoldfastError } from '../../../src/errors.js';

describe('how the command ends', () => {
  it('is 0 when it is done', () => {
    expect(endingOf(undefined)).toEqual({ kind: 'exit', code: 0 });
  });

  it.each(HOLDFAST_ERROR_CODES)('is 2 for misuse and 1 for every other failure: %s', (code) => {
    const misuse = code === 'USAGE' || code === 'NAME_INVALID';
    expect(endingOf(new HoldfastError(code, 'x'))).toEqual({ kind: 'exit', code: misuse ? 2 : 1 });
  });

  it('is 1 for a fault of ours, and for a failure already told', () => {
    expect(endingOf(new TypeError('x'))).toEqual({ kind: 'exit', code: 1 });
    expect(endingOf(new SilentFailure())).toEqual({ kind: 'exit', code: 1 });
    expect(endingOf('thrown text')).toEqual({ kind: 'exit', code: 1 });
  });

  it('is the signal that interrupted it', () => {
    expect(endingOf(new Interrupted(2))).toEqual({ kind: 'signal', signal: 2 });
  });

  it.each([
    [0, { kind: 'exit', code: 0 }],
    [0x2a00, { kind: 'exit', code: 42 }],
    [9, { kind: 'signal', signal: 9 }],
    [0x8b, { kind: 'signal', signal: 11 }],
  ])('is that of the job that was waited for: %d', (waitStatus, ending) => {
    expect(endingOf(new EndAs(waitStatus))).toEqual(ending);
  });
});

describe('what is said of a failure', () => {
  it('is one line, and the cure on a second', () => {
    const error = new HoldfastError('NO_SESSION', "session 'web' is not open", { hint: 'open it' });
    expect(describeFailure(error)).toBe("holdfast: session 'web' is not open\nhint: open it\n");
    expect(describeFailure(new HoldfastError('PROTOCOL', 'x'))).toBe('holdfast: x\n');
  });

  it('shows what a name or a key holds of control characters, and stays one line', () => {
    const error = new HoldfastError('NO_SESSION', "session '\x1b[31mé\nx' is not open", { hint: "'holdfast open \x1b]0;t\x07'" });
    expect(describeFailure(error)).toBe("holdfast: session '\\E[31mé\\nx' is not open\nhint: 'holdfast open \\E]0;t\\007'\n");
  });

  it('is nothing when there is nothing to say', () => {
    for (const thrown of [undefined, new SilentFailure(), new Interrupted(2), new EndAs(256)]) expect(describeFailure(thrown)).toBe('');
  });

  it('shows where a fault of ours is', () => {
    expect(describeFailure(new TypeError('no such thing'))).toMatch(/^holdfast: a fault of its own: TypeError: no such thing\n +at /);
  });
});
