// Pins the agent against docs/protocol.md, through a peer that shares neither codec of frames nor addon with it: one request a
// connection, exactly one outcome each, and what a bad peer does is nobody else's trouble.

import { closeSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { encodeFrame } from '../../../src/protocol/frame.js';
import { Kind } from '../../../src/protocol/limits.js';
import { encodeResume, encodeRun, encodeSignal, encodeSuspend, packStrings, RefusalCode, Step } from '../../../src/protocol/messages.js';
import { eventually } from '../../harness/eventually.js';
import { descriptorsOf, findProcess, isAlive } from '../../harness/processes.js';
import { Agent } from './agent-process.js';
import { RawPeer } from './raw-peer.js';
import { runRequest } from './requests.js';

const [SIGKILL, SIGTERM, SIGCONT, SIGSTOP] = [9, 15, 18, 19];
/** From its birth: a trap of a shell may come too late. */
const TERM_IGNORED = 1n << BigInt(SIGTERM - 1);

describe('a request', () => {
  it('is answered by SPAWNED with a pidfd, then EXITED with the status', async () => {
    const agent = await Agent.start();
    for (const [script, waitStatus] of [
      ['exit 0', 0],
      ['exit 7', 7 << 8],
      ['kill -9 $$', SIGKILL],
    ] as const) {
      const asker = agent.run(['sh', '-c', script]);
      const spawned = await asker.expect('spawned');
      await eventually(() => expect(asker.peer.fds).toHaveLength(1));
      expect(readFileSync(`/proc/self/fdinfo/${asker.peer.fds[0]}`, 'utf8')).toContain('Pid:');
      expect(spawned).toMatchObject({ job: '' });
      const exited = await asker.expect('exited');
      expect(exited).toMatchObject({ waitStatus, cancelledBy: 'nobody', leftovers: [] });
      expect(exited.timings.runUs).toBeGreaterThan(0);
      await asker.peer.closed();
    }
  });

  it('gets the base environment, its own changes, umask and directory', async () => {
    const agent = await Agent.start({ environ: { PATH: '/usr/bin:/bin', BASE: 'b\xff', PWD: '/launcher' } });
    const own = { env: packStrings(['=OWN=1']), cwd: Buffer.from('/usr'), umask: 0o077 };
    expect(await agent.output(['cat', '/proc/self/environ'], own)).toBe('PATH=/usr/bin:/bin\0BASE=b\xff\0PWD=/usr\0OWN=1\0');
    expect(await agent.output(['sh', '-c', 'umask; pwd; ulimit -Sn; ulimit -Hn'], own)).toBe('0077\n/usr\n1000\n20000\n');
    expect(await agent.output(['/bin/cat', '/proc/self/environ'], { exact: true })).toBe('');
  });

  it('has its descriptors for itself: none stays with the agent', async () => {
    const agent = await Agent.start();
    const path = join(agent.directory, 'shared');
    const file = openSync(path, 'w');
    const asker = agent.run(['sh', '-c', 'echo one >&1; echo two >&7; sleep 600'], {}, { 1: file, 7: file });
    await asker.expect('spawned');
    closeSync(file);
    await eventually(() => expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n'));
    expect([...descriptorsOf(agent.pid).values()]).not.toContain(path);
    asker.peer.send(encodeSignal(SIGTERM));
    expect(await asker.ended()).toMatchObject({ waitStatus: SIGTERM });
    writeFileSync(path, '');
    rmSync(path);
  });

  it('that cannot be started says where and why', async () => {
    const agent = await Agent.start();
    const missing = await agent.run(['no-such-program']).expect('notStarted');
    expect({ ...missing, subject: `${missing.subject}`, searched: `${missing.searched}` }).toEqual({
      type: 'notStarted',
      step: Step.PROGRAM,
      errno: 2,
      subject: 'no-such-program',
      searched: '/usr/bin:/bin',
    });
    const directory = await agent.run(['true'], { cwd: Buffer.from('/nowhere') }).expect('notStarted');
    expect([directory.step, `${directory.subject}`, `${directory.searched}`]).toEqual([Step.DIRECTORY, '/nowhere', '']);
  });

  it('for a program that is being written waits until it is written', async () => {
    const agent = await Agent.start();
    const program = join(agent.directory, 'program.json');
    writeFileSync(program, readFileSync('/bin/true'), { mode: 0o755 });
    const writer = openSync(program, 'r+');
    const asker = agent.run([program]);
    await agent.control({ op: 'status' });
    closeSync(writer);
    expect(await asker.ended()).toMatchObject({ waitStatus: 0 });
  });

  it('whose directory is inside a process is refused', async () => {
    const agent = await Agent.start();
    const refused = await agent.run(['true'], { cwd: Buffer.from('/proc/self/fd/3') }).expect('refused');
    expect(refused.code).toBe(RefusalCode.BAD_DIRECTORY);
    expect(refused.hint).not.toBe('');
  });

  it('is stopped, continued and signalled by its client', async () => {
    const agent = await Agent.start();
    const asker = agent.run(['sh', '-c', 'trap "exit 9" USR1; while :; do sleep 0.02; done']);
    const { pid } = await asker.expect('spawned');
    asker.peer.send(encodeSuspend());
    expect(await asker.expect('stopped')).toMatchObject({ signal: SIGSTOP });
    expect(findProcess(pid)?.state).toBe('T');
    asker.peer.send(encodeResume());
    await asker.expect('continued');
    asker.peer.send(encodeSignal(10));
    expect(await asker.expect('exited')).toMatchObject({ waitStatus: 9 << 8, cancelledBy: 'nobody' });
  });

  it('is ended at its deadline: TERM, then KILL', async () => {
    const agent = await Agent.start();
    const soft = await agent.run(['sleep', '600'], { timeoutMs: 50 }).ended();
    expect(soft).toMatchObject({ waitStatus: SIGTERM, cancelledBy: 'deadline' });
    const hard = await agent.run(['sleep', '600'], { timeoutMs: 50, killGraceMs: 50, ignored: TERM_IGNORED }).ended();
    expect(hard).toMatchObject({ waitStatus: SIGKILL, cancelledBy: 'deadline' });
    const stopped = await agent.run(['sh', '-c', 'kill -STOP $$'], { timeoutMs: 100 }).ended();
    expect(stopped).toMatchObject({ waitStatus: SIGTERM, cancelledBy: 'deadline' });
  });

  it('may have a deadline and a grace of any length', async () => {
    const agent = await Agent.start();
    const asker = agent.run(['sh', '-c', 'sleep 0.1; exit 4'], { timeoutMs: 0xffffffff, killGraceMs: 0xfffffffe });
    expect(await asker.ended()).toMatchObject({ waitStatus: 4 << 8, cancelledBy: 'nobody' });
  });

  it('tells what it left running, when asked', async () => {
    const agent = await Agent.start();
    const exited = await agent.run(['sh', '-c', 'sleep 600 & setsid sleep 601 & exit 0'], { report: true }).ended();
    expect(exited.leftovers.length).toBeGreaterThan(0);
    expect(exited.leftovers.every((pid) => isAlive(pid))).toBe(true);
    for (const pid of exited.leftovers) process.kill(pid, 'SIGKILL');
  });
});

describe.each(['cgroup', 'warden', 'group'] as const)('a client that vanishes, with containment %s', (containment) => {
  const SCRIPT = 'sleep 600 & (sleep 601 & sleep 602) & trap "" TERM; echo; while :; do sleep 0.05; done';

  it('takes its target and all of its group along', async () => {
    const agent = await Agent.start({ containment });
    const asker = agent.run(['sh', '-c', SCRIPT], { killGraceMs: 100 });
    await asker.expect('spawned');
    await eventually(() => expect(agent.processes().length).toBeGreaterThan(4));
    const held = agent.processes();
    asker.peer.destroy();
    await eventually(() => expect(held.filter(({ pid, startTicks }) => isAlive(pid, startTicks))).toEqual([]));
  });

  it.skipIf(containment === 'group')('takes along what has left the group', async () => {
    const agent = await Agent.start({ containment });
    const asker = agent.run(['sh', '-c', 'setsid sh -c "setsid sleep 600 & setsid sleep 601 & wait" & setsid -f sleep 602; sleep 603'], {
      killGraceMs: 200,
    });
    await asker.expect('spawned');
    await eventually(() => expect(agent.processes().filter(({ command }) => command.startsWith('sleep'))).toHaveLength(4));
    const held = agent.processes();
    asker.peer.destroy();
    await eventually(() => expect(held.filter(({ pid, startTicks }) => isAlive(pid, startTicks))).toEqual([]));
  });

  it('leaves others alone', async () => {
    const agent = await Agent.start({ containment });
    const [gone, stays] = [agent.run(['sleep', '600']), agent.run(['sleep', '601'])];
    const [{ pid }] = [await gone.expect('spawned'), await stays.expect('spawned')];
    gone.peer.destroy();
    await eventually(() => expect(isAlive(pid)).toBe(false));
    stays.peer.send(encodeSignal(SIGTERM));
    expect(await stays.ended()).toMatchObject({ waitStatus: SIGTERM, cancelledBy: 'nobody' });
  });
});

describe('a peer that', () => {
  const broken: [what: string, bytes: Buffer, code: number, message: RegExp][] = [
    ['sends an unknown kind', Buffer.from('0000000063000000', 'hex'), RefusalCode.BAD_REQUEST, /kind 99/],
    ['speaks something else', Buffer.from('GET / HTTP/1.1\r\n\r\n'), RefusalCode.BAD_REQUEST, /kind/],
    ['claims a body over the cap', Buffer.from('ffffffff01000000', 'hex'), RefusalCode.TOO_LARGE, /4294967295/],
    ['sends a malformed body', encodeFrame(Kind.RUN, Buffer.from('nonsense')), RefusalCode.BAD_REQUEST, /magic/],
    ['signals before it has asked', encodeSignal(SIGTERM), RefusalCode.BAD_REQUEST, /before a request/],
    [
      'asks for an unknown operation',
      encodeFrame(Kind.CONTROL, Buffer.from('{"op":"dance","protocol":1}')),
      RefusalCode.UNSUPPORTED,
      /dance/,
    ],
  ];
  it.each(broken)('%s is told so and dropped', async (_, bytes, code, message) => {
    const agent = await Agent.start();
    const bad = agent.connect();
    bad.peer.send(bytes);
    const refused = await bad.expect('refused');
    expect([refused.code, refused.message]).toEqual([code, expect.stringMatching(message)]);
    await bad.peer.closed();
    expect(await agent.run(['true']).ended()).toMatchObject({ waitStatus: 0 });
  });

  it('speaks another version is told both, and the cure', async () => {
    const agent = await Agent.start();
    const frame = encodeRun(runRequest({}));
    frame.writeUInt16BE(7, 12);
    const asker = agent.connect();
    asker.peer.send(frame);
    const refused = await asker.expect('refused');
    expect([refused.code, refused.message]).toEqual([RefusalCode.VERSION, 'the client speaks version 7, this agent 1']);
    expect(refused.hint).toMatch(/open/);
    const controller = agent.connect();
    controller.peer.send(encodeFrame(Kind.CONTROL, Buffer.from('{"op":"status","protocol":2}')));
    expect((await controller.expect('refused')).code).toBe(RefusalCode.VERSION);
  });

  it('asks twice is dropped, and its target ended', async () => {
    const agent = await Agent.start();
    const asker = agent.run(['sleep', '600']);
    const { pid } = await asker.expect('spawned');
    const file = openSync('/dev/null', 'r');
    asker.peer.send(encodeRun(runRequest({ fds: [5] })), [file]);
    expect((await asker.expect('refused')).code).toBe(RefusalCode.BAD_REQUEST);
    closeSync(file);
    await eventually(() => expect(isAlive(pid)).toBe(false));
  });

  it('sends descriptors that it does not name leaves none behind', async () => {
    const agent = await Agent.start();
    const file = openSync('/dev/null', 'r');
    for (const frame of [
      encodeRun(runRequest({})),
      encodeFrame(Kind.RUN, Buffer.from('x'), 2),
      encodeSignal(SIGCONT),
      Buffer.from('garbage!'),
    ]) {
      const asker = agent.connect();
      asker.peer.send(frame, [file, file]);
      expect((await asker.expect('refused')).code).toBe(RefusalCode.BAD_REQUEST);
    }
    closeSync(file);
    await agent.isIdle();
  });

  it('says nothing, or half of something, holds up nobody', async () => {
    const agent = await Agent.start();
    const silent = agent.connect();
    const half = agent.connect();
    half.peer.send(encodeRun(runRequest({})).subarray(0, 30));
    expect(await agent.run(['true']).ended()).toMatchObject({ waitStatus: 0 });
    // The deadline of the first frame.
    await silent.peer.closed();
    await half.peer.closed();
  }, 30_000);

  it('goes away in the middle leaves nothing', async () => {
    const agent = await Agent.start();
    const frame = encodeRun(runRequest({ argv: packStrings(['sleep', '600']) }));
    for (const cut of [0, 1, 8, 20, frame.length]) {
      const peer = new RawPeer(agent.socket);
      if (cut > 0) peer.send(frame.subarray(0, cut));
      peer.destroy();
    }
    await agent.isIdle();
  });
});

describe('a session', () => {
  it('runs as many as it may, tells the others their places, and refuses the rest', async () => {
    const agent = await Agent.start({ maxConcurrent: 1, maxQueue: 2 });
    const first = agent.run(['sleep', '600']);
    await first.expect('spawned');
    const second = agent.run(['sleep', '600']);
    expect(await second.expect('queued')).toMatchObject({ position: 1 });
    const third = agent.run(['sh', '-c', 'exit 3']);
    expect(await third.expect('queued')).toMatchObject({ position: 2 });
    const busy = await agent.run(['true']).expect('refused');
    expect([busy.code, busy.hint]).toEqual([RefusalCode.BUSY, expect.stringContaining('max_queue')]);
    expect(await agent.control({ op: 'status' })).toMatchObject({ running: 1, queued: 2 });

    second.peer.destroy();
    await eventually(async () => expect(await agent.control({ op: 'status' })).toMatchObject({ queued: 1 }));
    first.peer.send(encodeSignal(SIGKILL));
    await third.expect('spawned');
    const exited = await third.expect('exited');
    expect(exited.waitStatus).toBe(3 << 8);
    expect(exited.timings.queuedUs).toBeGreaterThan(0);
  });

  it('tells a queued one that its deadline has passed', async () => {
    const agent = await Agent.start({ maxConcurrent: 1 });
    await agent.run(['sleep', '600']).expect('spawned');
    const late = agent.run(['true'], { timeoutMs: 30 });
    await late.expect('queued');
    expect((await late.expect('refused')).code).toBe(RefusalCode.DEADLINE);
  });

  it('gives a signal that came while its target waited to the target', async () => {
    const agent = await Agent.start({ maxConcurrent: 1 });
    const first = agent.run(['sleep', '600']);
    await first.expect('spawned');
    const second = agent.run(['sleep', '601']);
    await second.expect('queued');
    second.peer.send(encodeSignal(SIGTERM));
    await agent.control({ op: 'status' });
    first.peer.send(encodeSignal(SIGTERM));
    expect(await second.ended()).toMatchObject({ waitStatus: SIGTERM });
  });

  it('serves 120 at once', async () => {
    const agent = await Agent.start();
    const askers = await Promise.all(Array.from({ length: 120 }, async (_, index) => agent.run(['sh', '-c', `exit ${index}`])));
    const ends = await Promise.all(askers.map(async (asker) => await asker.ended()));
    expect(ends.map(({ waitStatus }) => waitStatus >> 8)).toEqual(askers.map((_, index) => index));
  });

  it('keeps a job after its client has gone', async () => {
    const agent = await Agent.start();
    const asker = agent.run(['sh', '-c', 'test -t 0 || exit 5'], { detach: true });
    const { job } = await asker.expect('spawned');
    expect(job).not.toBe('');
    await asker.peer.closed();
    expect(await agent.control({ op: 'job', action: 'wait', id: job })).toMatchObject({
      job: { id: job, state: 'ended', waitStatus: 5 << 8 },
    });
    expect(await agent.control({ op: 'jobs' })).toMatchObject({ jobs: [{ id: job }] });
  });

  it('ends everything when it is closed, and tells that it stops', async () => {
    const agent = await Agent.start({ killGraceMs: 200 });
    const asker = agent.run(['sh', '-c', 'setsid sleep 600 & while :; do sleep 0.05; done'], { ignored: TERM_IGNORED });
    await asker.expect('spawned');
    await agent.run(['sh', '-c', 'setsid sleep 601 & exit 0']).ended();
    const left = agent.processes();
    expect(await agent.control({ op: 'stop' })).toEqual({ stopping: true });
    expect(await asker.ended()).toMatchObject({ waitStatus: SIGKILL, cancelledBy: 'shutdown' });
    await agent.hears('STOPPING=1');
    await agent.stop();
    expect(left.filter(({ pid, startTicks }) => isAlive(pid, startTicks))).toEqual([]);
  });

  it('closes though its runtime directory is gone', async () => {
    const agent = await Agent.start();
    await agent.isIdle();
    rmSync(agent.directory, { recursive: true });
    agent.process.kill('SIGTERM');
    expect(await agent.ended()).toBe(0);
  });

  it('closes when it has idled for long enough, not before', async () => {
    const agent = await Agent.start({ idleTimeoutMs: 300 });
    const asker = agent.run(['sleep', '0.6']);
    expect(await asker.ended()).toMatchObject({ waitStatus: 0 });
    expect(await agent.exited).toBe(0);
    expect(existsSync(agent.socket)).toBe(false);
    await agent.stop();
  });

  it.each(['cgroup', 'warden'] as const)('whose agent is killed takes its targets along (%s)', async (containment) => {
    const agent = await Agent.start({ containment });
    const asker = agent.run(['sh', '-c', 'setsid sleep 600 & trap "" TERM HUP; while :; do sleep 0.05; done']);
    await asker.expect('spawned');
    await eventually(() => expect(agent.processes().length).toBeGreaterThan(1));
    const left = agent.processes();
    await agent.kill();
    await eventually(() => expect(left.filter(({ pid, startTicks }) => isAlive(pid, startTicks))).toEqual([]));
  });
});
