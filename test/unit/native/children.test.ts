// Pins native/process.c: every change of a child is told once, with its status and usage; signals reach whom they name, never all.

import { describe, expect, it } from 'vitest';
import { killGroup, killProcess, processStartTicks } from '../../../src/native/processes.js';
import { NativeError } from '../../../src/native.js';
import { eventually } from '../../harness/eventually.js';
import { findProcess } from '../../harness/processes.js';
import { changesOf, failures, start, type Target } from './targets.js';

const [SIGABRT, SIGKILL, SIGTERM, SIGCONT, SIGSTOP, SIGTSTP] = [6, 9, 15, 18, 19, 20];
const CORE = 0x80;
const CONTINUED = 0xffff;
const stopped = (signal: number): number => (signal << 8) | 0x7f;
const RLIMIT_CORE = 4;

function pidOf({ result }: Target): number {
  if (!result.started) throw new Error('it was not started');
  return result.pid;
}

async function statuses(pid: number, count: number): Promise<number[]> {
  return await eventually(() => {
    const found = changesOf(pid).map(({ waitStatus }) => waitStatus);
    if (found.length < count) throw new Error(`seen: ${found.join(' ')}`);
    return found;
  });
}

describe('a child', () => {
  it('that exits is told with its code', async () => {
    for (const code of [0, 1, 125, 255]) expect((await start(['sh', '-c', `exit ${code}`]).ended()).status).toBe(code << 8);
  });

  it('that fails is told of before it is reaped, and no other', async () => {
    const seen = failures.length;
    const { result, ended } = start(['sh', '-c', 'exit 7']);
    await ended();
    const { exitCode, stat = '' } = failures.find((each) => result.started && each.pid === result.pid) ?? {};
    expect(exitCode).toBe(7);
    expect(stat).toMatch(/^\d+ \(sh\) Z /);
    await start(['true']).ended();
    await start(['sh', '-c', 'kill -9 $$']).ended();
    expect(failures.length).toBe(seen + 1);
  });

  it('that is killed is told with its signal', async () => {
    for (const signal of [SIGTERM, SIGKILL, 34, 64]) {
      expect((await start(['sh', '-c', `kill -${signal} $$`]).ended()).status).toBe(signal);
    }
  });

  it('that dumps core is told so', async () => {
    const { status } = await start(['sh', '-c', `cd /tmp && kill -${SIGABRT} $$`], { limits: [RLIMIT_CORE, 0, 0] }).ended();
    expect(status & ~CORE).toBe(SIGABRT);
    // Whether a core is written is the machine's to say (core_pattern); where it is, the bit comes from the kernel as it is.
    const dumped = await start(['sh', '-c', `kill -${SIGABRT} $$`], { limits: [RLIMIT_CORE, Infinity, Infinity], cwd: '/tmp' }).ended();
    expect([SIGABRT, SIGABRT | CORE]).toContain(dumped.status);
  });

  it('that stops and continues is told each time', async () => {
    const pid = pidOf(start(['sleep', '600']));
    killProcess(pid, SIGSTOP);
    expect(await statuses(pid, 1)).toEqual([stopped(SIGSTOP)]);
    killProcess(pid, SIGCONT);
    expect(await statuses(pid, 2)).toEqual([stopped(SIGSTOP), CONTINUED]);
    killGroup(pid, SIGTSTP);
    expect(await statuses(pid, 3)).toEqual([stopped(SIGSTOP), CONTINUED, stopped(SIGTSTP)]);
  });

  it('is told with what it used', async () => {
    const { change } = await start(['sh', '-c', 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done']).ended();
    expect(change.userUs).toBeGreaterThan(1000);
    expect(change.userUs + change.systemUs).toBeLessThan(60_000_000);
    expect(change.maxRssKib).toBeGreaterThan(100);
    expect(change.minorFaults).toBeGreaterThan(10);
    expect(change.voluntarySwitches + change.involuntarySwitches).toBeGreaterThanOrEqual(0);
  });

  it('is told among hundreds that end at once', async () => {
    const targets = Array.from({ length: 300 }, (_, index) => start(['sh', '-c', `exit ${index % 256}`]));
    const ends = await Promise.all(targets.map((target) => target.ended()));
    expect(ends.map(({ status }) => status >> 8)).toEqual(targets.map((_, index) => index % 256));
    expect(targets.map((target) => findProcess(pidOf(target)))).toEqual(targets.map(() => undefined));
  });
});

describe('a signal', () => {
  it('is never sent to everybody, to init, or to our own group', () => {
    for (const pid of [1, 0, -1, -process.pid]) {
      for (const kill of [killProcess, killGroup]) {
        expect(() => kill(pid, 0)).toThrow(NativeError);
        expect(() => kill(pid, 0)).toThrow('EINVAL');
      }
    }
  });

  it('tells whether anybody was there', async () => {
    const target = start(['sleep', '600']);
    const pid = pidOf(target);
    expect(killGroup(pid, 0)).toBe(true);
    expect(killProcess(pid, SIGKILL)).toBe(true);
    await target.ended();
    expect(killProcess(pid, 0)).toBe(false);
    expect(killGroup(pid, 0)).toBe(false);
  });

  it('that does not exist is an error', () => {
    expect(() => killProcess(process.pid, 65)).toThrow('EINVAL');
  });

  it('to a group reaches all of it', async () => {
    const target = start(['sh', '-c', 'sleep 600 & sleep 600 & wait']);
    const pid = pidOf(target);
    await eventually(() => expect(changesOf(pid)).toEqual([]));
    killGroup(pid, SIGKILL);
    await target.ended();
    await eventually(() => expect(killGroup(pid, 0)).toBe(false));
  });
});

describe('the start of a process', () => {
  it('is the kernel’s number, whatever the name in front of it', async () => {
    const name = 'a) Z 1 (b';
    const target = start([name, '600'], { program: '/bin/sleep' });
    const pid = pidOf(target);
    expect(processStartTicks(pid)).toBe(findProcess(pid)?.startTicks);
    expect(processStartTicks(process.pid)).toBe(findProcess(process.pid)?.startTicks);
    killProcess(pid, SIGKILL);
    await target.ended();
    expect(processStartTicks(pid)).toBeUndefined();
  });
});
