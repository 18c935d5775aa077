// Pins src/agent/capture.ts: what the entry shim writes is read byte by byte.

import { describe, expect, it } from 'vitest';
import { parseCapture, parseEnviron } from '../../../src/agent/capture.js';

const HEAD = 'HOLDFAST-CAPTURE 1\numask 027\nnice -5\nblocked 0000000000000000\nignored 0000000000000001\n';

function capture(cwd: string, environ: string): ReturnType<typeof parseCapture> {
  return parseCapture(
    Buffer.from(`${HEAD}rlimit 0 infinity infinity\nrlimit 7 1024 20000\ncwd ${cwd.length} ${cwd}\nenviron\n${environ}`, 'latin1'),
  );
}

describe('a capture', () => {
  it('has attributes, limits, directory and environment', () => {
    expect(capture('/work', 'A=1\0B=2\0')).toEqual({
      umask: 0o027,
      nice: -5,
      cwd: '/work',
      limits: [
        [0, Infinity, Infinity],
        [7, 1024, 20000],
      ],
      environment: new Map([
        ['A', '1'],
        ['B', '2'],
      ]),
    });
  });

  it('has a directory of any bytes', () => {
    for (const cwd of ['/', '/a b', '/a  b ', '/line\nend', '/environ\nA=1\0', '/\xff\xfe', '/\n\n'])
      expect(capture(cwd, 'A=1\0').cwd).toBe(cwd);
  });

  it('has an environment of any bytes', () => {
    const { environment } = capture('/', 'A=\xff\n=x\0environ\n=1\0EMPTY=\0BASH_FUNC_f%%=() {\n :\n}\0LAST=no end');
    expect([...environment]).toEqual([
      ['A', '\xff\n=x'],
      ['environ\n', '1'],
      ['EMPTY', ''],
      ['BASH_FUNC_f%%', '() {\n :\n}'],
      ['LAST', 'no end'],
    ]);
    expect(capture('/', '').environment.size).toBe(0);
  });

  it('keeps the first of a doubled name, and no string without one', () => {
    expect([...parseEnviron('A=1\0nameless\0A=2\0=x\0\0B=3\0')]).toEqual([
      ['A', '1'],
      ['B', '3'],
    ]);
  });

  it('of another version, or cut, is an error', () => {
    expect(() => parseCapture(Buffer.from('HOLDFAST-CAPTURE 2\nenviron\n'))).toThrow('different versions');
    expect(() => parseCapture(Buffer.alloc(0))).toThrow('different versions');
    expect(() => parseCapture(Buffer.from(`${HEAD}cwd`))).toThrow('cut');
    expect(() => parseCapture(Buffer.from(`${HEAD}cwd 5 /work\n`))).toThrow('cut');
  });
});
