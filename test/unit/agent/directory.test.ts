// Pins src/agent/directory.ts: the forms of a working directory, and which ones are refused.

import { describe, expect, it } from 'vitest';
import { directoryOf } from '../../../src/agent/directory.js';

const isInside = (cwd: string): boolean => directoryOf(Buffer.from(cwd)).isInsideProcess;

describe('a directory', () => {
  it('keeps every byte, and is made once for the same bytes', () => {
    const bytes = Buffer.from('/a\xff b', 'latin1');
    const directory = directoryOf(bytes);
    expect(directory).toEqual({ text: '/a\xff b', path: Buffer.from('/a\xff b\0', 'latin1'), isInsideProcess: false });
    expect(directoryOf(bytes)).toBe(directory);
    expect(directoryOf(Buffer.from('/b')).text).toBe('/b');
    expect(directoryOf(bytes)).toEqual(directory);
  });
});

describe('a directory inside a process', () => {
  it('is refused however it is spelled', () => {
    const inside = [
      '/proc/self',
      '/proc/self/fd/3',
      '/proc/1/cwd',
      '//proc///self/root',
      '/proc/./self/fd',
      '/proc/thread-self/cwd',
      '/dev/fd/5',
      '/dev/fd',
    ];
    expect(inside.filter((cwd) => !isInside(cwd))).toEqual([]);
  });

  it('is not any other one', () => {
    const outside = ['/', '/proc', '/proc/sys', '/proc/selfish', '/proc/12a', '/home/proc/self', '/dev/fdx', '/dev', '/x/dev/fd/3'];
    expect(outside.filter(isInside)).toEqual([]);
  });
});
