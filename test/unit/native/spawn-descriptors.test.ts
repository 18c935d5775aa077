// Pins native/spawn_child.c: the target has the passed descriptors under their numbers, the same open file descriptions, and no others.

import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fdFlags } from '../../../src/native/descriptors.js';
import { eventually } from '../../harness/eventually.js';
import { descriptorsOf } from '../../harness/processes.js';
import { expectNoDescriptorsLeft, openFilesLimit } from './descriptors.js';
import { executable, outputOf, scratch, start } from './targets.js';

/** An open file of its own name. */
function file(directory: string, name: string, flags = constants.O_RDWR): number {
  const fd = openSync(executable(directory, name, `${name}\n`), flags);
  onTestFinished(() => closeSync(fd));
  return fd;
}

/** What each of the target's descriptors is, once it is past its loader, which opens files of its own. */
async function seen(fds: Record<number, number | null>): Promise<Record<string, string>> {
  const { result } = start(['sleep', '600'], { fds });
  if (!result.started) throw new Error(`step ${result.step}, errno ${result.errno}, '${result.subject}'`);
  return await eventually(() => {
    const found = descriptorsOf(result.pid);
    for (const target of found.values()) if (/^\/(usr|lib|etc)/.test(target)) throw new Error(`it still reads '${target}'`);
    return Object.fromEntries(found);
  });
}

describe('the descriptors of a target', () => {
  it('may be swapped', async () => {
    const directory = scratch();
    const [a, b, c] = [file(directory, 'a'), file(directory, 'b'), file(directory, 'c')];
    const at = (name: string): string => join(directory, name);
    expect(await seen({ 0: a, 1: b, 2: c })).toEqual({ 0: at('a'), 1: at('b'), 2: at('c') });
    expect(await seen({ 0: c, 1: b, 2: a })).toEqual({ 0: at('c'), 1: at('b'), 2: at('a') });
  });

  it('may go to each other’s numbers, in any cycle', async () => {
    const directory = scratch();
    const own = ['a', 'b', 'c', 'd'].map((name) => ({ name, fd: file(directory, name) }));
    const numbers = own.map(({ fd }) => fd);
    for (const shift of [0, 1, 2, 3]) {
      const fds = Object.fromEntries(own.map(({ fd }, index) => [numbers[(index + shift) % 4] ?? 0, fd]));
      const wanted = Object.fromEntries(own.map(({ name }, index) => [numbers[(index + shift) % 4] ?? 0, join(directory, name)]));
      expect(await seen({ ...fds, 0: null, 1: null, 2: null })).toMatchObject(wanted);
    }
  });

  it('are the passed ones and no others, whatever their numbers', async () => {
    const directory = scratch();
    const fds = {
      0: file(directory, 'zero'),
      1: file(directory, 'one'),
      2: null,
      5: file(directory, 'five'),
      600: file(directory, 'high'),
    };
    expect(await seen(fds)).toEqual({
      0: join(directory, 'zero'),
      1: join(directory, 'one'),
      5: join(directory, 'five'),
      600: join(directory, 'high'),
    });
  });

  it('may reach the last number below the limit', async () => {
    const limit = openFilesLimit();
    const directory = scratch();
    expect(await seen({ [limit - 1]: file(directory, 'last') })).toMatchObject({ [limit - 1]: join(directory, 'last') });
  });

  it('may be 253', async () => {
    const directory = scratch();
    const one = file(directory, 'one');
    const fds = Object.fromEntries(Array.from({ length: 253 }, (_, index) => [index * 2, one]));
    expect(await seen({ 1: null, ...fds })).toEqual(Object.fromEntries(Object.keys(fds).map((number) => [number, join(directory, 'one')])));
  });

  it('may be none at all', async () => {
    expect(await seen({ 0: null, 1: null, 2: null })).toEqual({});
  });

  it('share offset and flags with ours, which are untouched', async () => {
    const directory = scratch();
    const shared = file(directory, 'shared', constants.O_RDWR | constants.O_APPEND | constants.O_NONBLOCK);
    const flags = fdFlags(shared);
    expect(await outputOf(['sh', '-c', 'read line <&5; echo "got $line"; echo more >&5'], { fds: { 5: shared } })).toBe('got shared\n');
    expect(fdFlags(shared)).toBe(flags);
    writeSync(shared, 'ours\n');
    expect(readFileSync(join(directory, 'shared'), 'utf8')).toBe('shared\nmore\nours\n');
    expect(readSync(shared, Buffer.alloc(10))).toBe(0);
  });

  it('may be one file under several numbers', async () => {
    const directory = scratch();
    const one = file(directory, 'one', constants.O_WRONLY | constants.O_APPEND);
    await outputOf(['sh', '-c', 'echo 1; echo 2 >&2; echo 7 >&7'], { fds: { 1: one, 2: one, 7: one } });
    expect(readFileSync(join(directory, 'one'), 'utf8')).toBe('one\n1\n2\n7\n');
    expect(fstatSync(one).size).toBe(10);
  });

  describe('of ours', () => {
    expectNoDescriptorsLeft();
    it('stay as they are', async () => {
      for (let i = 0; i < 20; i++) await outputOf(['true']);
    });
  });
});
