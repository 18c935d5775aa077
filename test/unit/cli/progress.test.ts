import { describe, expect, it, vi } from 'vitest';

import { ProgressLine, type ProgressTarget, printable, progressText } from '../../../src/cli/progress.js';

describe('the line of progress', () => {
  it('says what is done, for how long, and the last words', () => {
    expect(progressText('web', 'entering', 3249, 'building shell')).toEqual(["holdfast: entering 'web' 3.2 s", ': building shell']);
    expect(progressText('web', 'draining', 0, 'the end of 2 commands')).toEqual([
      "holdfast: waiting for 'web' 0.0 s",
      ': the end of 2 commands',
    ]);
    expect(progressText('web', 'entering', 0, '').join('')).toBe("holdfast: entering 'web' 0.0 s");
  });

  it.each([
    ['x'.repeat(200), 40, /^\r- holdfast: entering 'web' 0\.1 s: x{5}\x1b\[K$/],
    ['建'.repeat(200), 41, /^\r- holdfast: entering 'web' 0\.1 s: 建{3}\x1b\[K$/],
    ['x', 10, /^\r- holdfas\x1b\[K$/],
    ['x', 1, /^\r- h\x1b\[K$/],
  ])('is shorter than the terminal is wide: %s', (said, columns, expected) => {
    expect(drawn({ isTTY: true, columns }, said, 150)[0]).toMatch(expected);
  });

  it.each([
    ['\x1b[31mred\x1b[0m', 'red'],
    ['\x1b]0;title\x07text', 'text'],
    ['10%\r20%\r', '20%'],
    ['10%\r20%', '20%'],
    ['a\tb\x07\x00c', 'a bc'],
    ['evil\u202eright-to-left', 'evilright-to-left'],
  ])('cannot be made to move the cursor: %j', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });

  it('is rewritten in place, and cleared at the end', () => {
    const written = drawn({ isTTY: true, columns: 80 }, 'hello', 250);
    expect(written).toHaveLength(3);
    expect(written[0]).toMatch(/^\r- holdfast: entering 'web' \d\.\d s: hello\x1b\[K$/);
    expect(written.at(-1)).toBe('\r\x1b[K');
  });

  it('turns, in colour and in Unicode, where the terminal has them', () => {
    const written = drawn({ isTTY: true, columns: 80 }, 'hello', 250, { TERM: 'xterm', LANG: 'de_DE.UTF-8' });
    expect(written[0]).toMatch(/^\r\x1b\[36m⠋\x1b\[39m holdfast: entering 'web' \d\.\d s\x1b\[2m: hello\x1b\[22m\x1b\[K$/);
    expect(written[1]).toContain('⠙');
  });

  it('is a line for each phase in a file, a pipe or a dumb terminal, and only where it takes long', () => {
    for (const [target, env] of [
      [{}, {}],
      [{ isTTY: true }, { TERM: 'dumb' }],
      [{ isTTY: true }, { HOLDFAST_PROGRESS: 'phases' }],
    ] as const) {
      expect(drawn(target, 'hello', 9_000, env)).toEqual([]);
      expect(drawn(target, 'hello', 30_000, env)).toEqual(["holdfast: entering 'web' 10.0 s: hello\n"]);
    }
    expect(drawn({ isTTY: true }, 'hello', 30_000, { HOLDFAST_PROGRESS: 'none' })).toEqual([]);
  });

  it('tells a new phase', () => {
    vi.useFakeTimers();
    const written: string[] = [];
    const line = new ProgressLine({ write: (text) => written.push(text) }, 'web', {});
    line.say('the end of 1 command in it', 'draining');
    vi.advanceTimersByTime(12_000);
    line.say('building');
    vi.advanceTimersByTime(12_000);
    line.end();
    vi.useRealTimers();
    expect(written).toEqual([
      "holdfast: waiting for 'web' 10.0 s: the end of 1 command in it\n",
      "holdfast: entering 'web' 12.1 s: building\n",
    ]);
  });
});

/** All that is written in so long a time. */
function drawn(target: Omit<ProgressTarget, 'write'>, said: string, forMs: number, env: Record<string, string> = {}): string[] {
  vi.useFakeTimers();
  const written: string[] = [];
  const line = new ProgressLine({ ...target, write: (text) => written.push(text) }, 'web', {
    NO_COLOR: env['TERM'] === 'xterm' ? '' : '1',
    ...env,
  });
  line.say(said);
  vi.advanceTimersByTime(forMs);
  line.end();
  line.end();
  vi.advanceTimersByTime(1000);
  vi.useRealTimers();
  return written;
}
