// Pins the poller (native/addon_poll.c): descriptors are watched without libuv, and what a watcher does to others is safe.

import { constants, readSync, writeSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { closeFd, closeFds, fdFlags, makePipe } from '../../../src/native/descriptors.js';
import { type Readiness, unwatch, watch } from '../../../src/native/poll.js';
import { eventually } from '../../harness/eventually.js';
import { expectNoDescriptorsLeft } from './descriptors.js';
import { outputOf } from './targets.js';

describe('a watched descriptor', () => {
  expectNoDescriptorsLeft();
  const uncaught: unknown[] = [];
  afterEach(() => uncaught.splice(0));

  it('is told to be readable, as long as it is, and to have hung up', async () => {
    const { read, write } = makePipe();
    const seen: Readiness[] = [];
    watch(read, { readable: true }, (ready) => seen.push(ready));
    writeSync(write, 'x');
    await eventually(() => expect(seen.length).toBeGreaterThan(2));
    readSync(read, Buffer.alloc(1));
    closeFd(write);
    await eventually(() => expect(seen.at(-1)).toEqual({ readable: false, writable: false, hangup: true }));
    unwatch(read);
    unwatch(read);
    closeFd(read);
  });

  it('keeps its flags', async () => {
    const { read, write } = makePipe();
    const flags = fdFlags(read);
    let calls = 0;
    watch(write, { writable: true }, () => calls++);
    await eventually(() => expect(calls).toBeGreaterThan(0));
    expect([fdFlags(read), (fdFlags(write) ?? 0) & constants.O_NONBLOCK]).toEqual([flags, 0]);
    unwatch(write);
    closeFds([read, write]);
  });

  it('may change what it is watched for', async () => {
    const { read, write } = makePipe();
    const seen: string[] = [];
    watch(write, { readable: true }, () => seen.push('first'));
    watch(write, { writable: true }, () => seen.push('second'));
    await eventually(() => expect(seen).toContain('second'));
    expect(seen).not.toContain('first');
    unwatch(write);
    closeFds([read, write]);
  });

  it('may be closed, with others of the same batch, by a watcher', async () => {
    const pipes = Array.from({ length: 100 }, () => makePipe());
    let calls = 0;
    for (const { read } of pipes) {
      watch(read, { readable: true }, () => {
        calls++;
        for (const each of pipes) unwatch(each.read);
        closeFds(pipes.map((each) => each.read));
      });
    }
    for (const { write } of pipes) writeSync(write, 'x');
    await eventually(() => expect(calls).toBe(1));
    // Whatever came next would have been called by now: an empty round of the loop, with a target in it.
    await outputOf(['true']);
    expect(calls).toBe(1);
    closeFds(pipes.map(({ write }) => write));
  });

  it('more than one batch of them is told of each', async () => {
    const pipes = Array.from({ length: 200 }, () => makePipe());
    const seen = new Set<number>();
    for (const { read, write } of pipes) {
      watch(read, { readable: true }, () => {
        readSync(read, Buffer.alloc(1));
        seen.add(read);
      });
      writeSync(write, 'x');
    }
    await eventually(() => expect(seen.size).toBe(200));
    for (const { read } of pipes) unwatch(read);
    closeFds(pipes.flatMap(({ read, write }) => [read, write]));
  });

  it('whose watcher throws is an uncaught exception, and the others go on', async () => {
    const own = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', (error) => uncaught.push(error));
    const [one, two] = [makePipe(), makePipe()];
    let calls = 0;
    watch(one.read, { readable: true }, () => {
      unwatch(one.read);
      throw new Error('of a watcher');
    });
    watch(two.read, { readable: true }, () => calls++);
    writeSync(one.write, 'x');
    writeSync(two.write, 'x');
    await eventually(() => expect(calls).toBeGreaterThan(0));
    expect(uncaught).toEqual([new Error('of a watcher')]);
    process.removeAllListeners('uncaughtException');
    for (const listener of own) process.on('uncaughtException', listener);
    unwatch(two.read);
    closeFds([one.read, one.write, two.read, two.write]);
  });

  it('that is not open is an error, and stays unwatched', () => {
    expect(() => watch(987_654, { readable: true }, () => {})).toThrow('EBADF');
    unwatch(987_654);
  });
});
