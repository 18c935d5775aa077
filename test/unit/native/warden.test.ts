// Pins native/warden.c: the warden between us and a target is not to be noticed by either, tells how the target fares, holds all that
// it starts, and ends all of it when told to or when we are gone.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { installed } from '../../../src/install.js';
import { wardenKill, wardenSignal } from '../../../src/native/children.js';
import { killGroup, killProcess } from '../../../src/native/processes.js';
import { Step } from '../../../src/protocol/numbers.js';
import { eventually } from '../../harness/eventually.js';
import { descendantsOf, descriptorsOf, findProcess, isAlive } from '../../harness/processes.js';
import { failureOf, scratch } from './targets.js';
import { startWarded } from './warded.js';

const [SIGKILL, SIGTERM, SIGCONT] = [9, 15, 18];
const [STACK, NOFILE] = [3, 7];

describe('a target under a warden', () => {
  it('is as one without, and its end is told once', async () => {
    const script = 'ps -o pid=,pgid= -p $$; umask; pwd; grep Sig[BI] /proc/self/status; ls /proc/$$/fd; exit 7';
    const { pid, news, output } = startWarded(['sh', '-c', script], { umask: 0o077, cwd: '/usr', ignored: [1] });
    expect((await news()).map(({ waitStatus }) => waitStatus)).toEqual([7 << 8]);
    const [facts = '', umask, directory, ...rest] = readFileSync(output, 'utf8').trim().split('\n');
    expect([facts.trim().split(/\s+/), umask, directory]).toEqual([[`${pid}`, `${pid}`], '0077', '/usr']);
    expect(rest.map((line) => line.replace(/\s+/, ' '))).toEqual(['SigBlk: 0000000000000000', 'SigIgn: 0000000000000001', '0', '1', '2']);
  });

  it('has limits under which its warden could not start', async () => {
    const { pid, warden, news, output } = startWarded(['sh', '-c', 'ulimit -n; ulimit -Hn; ulimit -s; kill -STOP $$'], {
      limits: [NOFILE, 4, 5, STACK, 65_536, 65_536],
    });
    const gone = news();
    await eventually(() => expect(readFileSync(output, 'utf8')).toBe('4\n5\n64\n'));
    const own = readFileSync('/proc/self/limits', 'latin1').match(/^Max stack size.*$/m)?.[0];
    expect(readFileSync(`/proc/${warden}/limits`, 'latin1')).toContain(own);
    killGroup(pid, SIGKILL);
    await gone;
  });

  it('that cannot be started is told with its step', () => {
    const warden = installed.runnerExec;
    expect(failureOf(['no-such-program'], { warden })).toEqual({ step: Step.PROGRAM, errno: 2, subject: 'no-such-program' });
    expect(failureOf(['true'], { warden, cwd: '/nowhere' })).toEqual({ step: Step.DIRECTORY, errno: 2, subject: '/nowhere' });
    expect(failureOf(['true'], { warden, limits: [NOFILE, 2 ** 40, 2 ** 40] })).toEqual({
      step: Step.LIMIT,
      errno: 1,
      subject: `${NOFILE}`,
    });
    expect(failureOf(['true'], { warden: '/nowhere/runner-exec' })).toMatchObject({ step: Step.CONTAINMENT, errno: 2 });
  });

  it('is not kept open by it', async () => {
    const { warden } = startWarded(['sleep', '600']);
    await eventually(() => expect([...descriptorsOf(warden).values()].every((each) => /^(socket|anon_inode)/.test(each))).toBe(true));
  });

  it('stops and continues, and is told to', async () => {
    const { pid, told, news } = startWarded(['sh', '-c', 'kill -STOP $$; sleep 600']);
    const gone = news();
    const [stopped, continued] = [0x137f, 0xffff];
    await eventually(() => expect(told.map(({ waitStatus }) => waitStatus)).toEqual([stopped]));
    killGroup(pid, SIGCONT);
    await eventually(() => expect(told.map(({ waitStatus }) => waitStatus)).toEqual([stopped, continued]));
    killGroup(pid, SIGTERM);
    await gone;
    expect(told.map(({ waitStatus }) => waitStatus)).toEqual([stopped, continued, SIGTERM]);
  });

  it('is ended with all that left its group and session', async () => {
    const started = join(scratch(), 'started');
    const script = `setsid sh -c 'setsid sh -c "sleep 600 & sleep 600 & echo >${started}; wait" & wait' & trap "" TERM; sleep 600 & wait; sleep 600`;
    const { warden, control, news } = startWarded(['sh', '-c', script]);
    await eventually(() => expect(existsSync(started)).toBe(true));
    const held = descendantsOf(warden);
    expect(held.length).toBeGreaterThan(4);
    expect(wardenSignal(control, 28 /* WINCH, which nobody minds */)).toBe(true);
    expect(wardenKill(control)).toBe(true);
    expect((await news()).at(-1)?.waitStatus).toBe(SIGKILL);
    expect(held.filter(({ pid, startTicks }) => isAlive(pid, startTicks))).toEqual([]);
  });

  it('is ended in the middle of a fork storm', async () => {
    const directory = scratch();
    // Each forks its successor and ends. Bounded by a flag file, in case that the test fails.
    const script = `hop() { [ -e ${directory}/on ] && hop & }; touch ${directory}/on; for i in 1 2 3 4 5; do hop; done; echo >${directory}/started; sleep 600`;
    const { warden, control, news } = startWarded(['sh', '-c', script]);
    onTestFinished(() => rmSync(`${directory}/on`, { force: true }));
    await eventually(() => expect(existsSync(`${directory}/started`)).toBe(true));
    wardenKill(control);
    await news();
    expect(descendantsOf(warden)).toEqual([]);
  });

  it('leaves what it started to its warden, which ends with the last of it', async () => {
    const { warden, told, control, news } = startWarded(['sh', '-c', 'sleep 600 & exit 5']);
    await eventually(() => expect(findProcess(warden)?.state).toBe('S'));
    await eventually(() => expect(descendantsOf(warden).map(({ command }) => command)).toEqual(['sleep 600']));
    wardenSignal(control, SIGTERM);
    await news();
    expect(told.map(({ waitStatus }) => waitStatus)).toEqual([5 << 8]);
  });

  it('dies with a warden that is killed', async () => {
    const { pid, warden, news } = startWarded(['sleep', '600']);
    const target = findProcess(pid);
    killProcess(warden, SIGKILL);
    await news();
    await eventually(() => expect(isAlive(pid, target?.startTicks)).toBe(false));
  });
});
