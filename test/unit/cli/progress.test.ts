import { describe, expect, it, vi } from 'vitest';

import { ProgressLine, printable, progressText } from '../../../src/cli/progress.js';

describe('the line of progress', () => {
  it('says name, time and last words', () => {
    expect(progressText('web', 3249, 'building shell', 80)).toBe("holdfast: entering 'web' 3.2 s: building shell");
    expect(progressText('web', 0, '', 80)).toBe("holdfast: entering 'web' 0.0 s");
  });

  it('is shorter than the terminal is wide', () => {
    expect(progressText('web', 0, 'x'.repeat(200), 40)).toHaveLength(39);
    expect(progressText('web', 0, '建'.repeat(200), 41)).toBe(`holdfast: entering 'web' 0.0 s: ${'建'.repeat(4)}`);
    expect(progressText('web', 0, 'x', 1)).toHaveLength(1);
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
    vi.useFakeTimers();
    const written: string[] = [];
    const line = new ProgressLine({ isTTY: true, columns: 80, write: (text) => written.push(text) }, 'web');
    line.say('hello');
    vi.advanceTimersByTime(250);
    line.end();
    line.end();
    vi.advanceTimersByTime(1000);
    vi.useRealTimers();
    expect(written).toHaveLength(3);
    expect(written[0]).toMatch(/^\rholdfast: entering 'web' \d\.\d s: hello\x1b\[K$/);
    expect(written.at(-1)).toBe('\r\x1b[K');
  });

  it('is not there for a file or a pipe', () => {
    vi.useFakeTimers();
    const write = vi.fn();
    const line = new ProgressLine({ write }, 'web');
    vi.advanceTimersByTime(1000);
    line.end();
    vi.useRealTimers();
    expect(write).not.toHaveBeenCalled();
  });
});
