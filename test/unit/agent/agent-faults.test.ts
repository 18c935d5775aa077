// A system call that fails under the agent costs at most the request that met it: it is told, nothing is left, the agent lives on.

import { execFileSync } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { AgentMessage } from '../../../src/protocol/messages.js';
import { RefusalCode, Step } from '../../../src/protocol/messages.js';
import { eventually } from '../../harness/eventually.js';
import { descriptorsOf, isAlive } from '../../harness/processes.js';
import { useFaultAddon } from '../native/fault-addon.js';
import type { Agent } from './agent-process.js';

useFaultAddon();
const { Agent: FaultyAgent } = await import('./agent-process.js');

const { EIO, EMFILE, ENFILE, EAGAIN, ENOMEM, EPERM, ECONNABORTED, EMSGSIZE, ETXTBSY } = constants.errno;

/** The last message to a request that meets the fault, or undefined when it is dropped without one. */
async function outcomeUnder(agent: Agent, call: string, errno: number, nth = 1): Promise<AgentMessage | undefined> {
  const file = openSync('/dev/null', 'r');
  await agent.arm(call, errno, nth);
  const asker = agent.run(['sh', '-c', 'exit 3'], { report: true }, { 0: file });
  closeSync(file);
  let last: AgentMessage | undefined;
  try {
    for (;;) {
      const message = await asker.next();
      last = message;
      if (message.type !== 'spawned' && message.type !== 'queued') break;
    }
  } catch {
    // Dropped.
  }
  await agent.arm('none', 0);
  asker.peer.destroy();
  return last;
}

async function worksAgain(agent: Agent): Promise<void> {
  await agent.isIdle();
  expect(await agent.output(['echo', 'fine'])).toBe('fine\n');
}

describe('a fault under the agent', () => {
  const starts: [call: string, errno: number, outcome: Partial<AgentMessage> & { type: string }][] = [
    ['clone', EIO, { type: 'notStarted', step: Step.CONTAINMENT, errno: EIO }],
    ['clone', EAGAIN, { type: 'refused', code: RefusalCode.RESOURCES }],
    ['clone', ENOMEM, { type: 'refused', code: RefusalCode.RESOURCES }],
    ['setpgid', EPERM, { type: 'notStarted', step: Step.GROUP, errno: EPERM }],
    ['dup2', EIO, { type: 'notStarted', step: Step.DESCRIPTOR, errno: EIO }],
    ['close_range', EIO, { type: 'notStarted', step: Step.DESCRIPTOR, errno: EIO }],
    ['chdir', EIO, { type: 'notStarted', step: Step.DIRECTORY, errno: EIO }],
    ['setrlimit', EPERM, { type: 'notStarted', step: Step.LIMIT, errno: EPERM }],
    ['execve', ENOMEM, { type: 'notStarted', step: Step.EXEC, errno: ENOMEM }],
    ['execve', ETXTBSY, { type: 'exited', waitStatus: 3 << 8 }],
    ['open', EMFILE, { type: 'refused', code: RefusalCode.RESOURCES }],
  ];
  it.each(starts)('while a target is started is told: %s %i', async (call, errno, outcome) => {
    const agent = await FaultyAgent.start();
    // A new cgroup for each (report), so that opening it can fail.
    expect(await outcomeUnder(agent, call, errno)).toMatchObject(outcome);
    await worksAgain(agent);
  });

  it('while a request is received is told', async () => {
    const agent = await FaultyAgent.start();
    expect(await outcomeUnder(agent, 'recvmsg', EIO)).toMatchObject({ type: 'refused', code: RefusalCode.INTERNAL });
    expect(await outcomeUnder(agent, 'recvmsg', EMSGSIZE)).toMatchObject({ type: 'refused', code: RefusalCode.RESOURCES });
    await worksAgain(agent);
  });

  it('while an answer is sent drops the client, and ends its target', async () => {
    const agent = await FaultyAgent.start();
    for (const nth of [1, 2]) expect((await outcomeUnder(agent, 'sendmsg', EIO, nth))?.type).not.toBe('exited');
    await worksAgain(agent);
  });

  it('while a connection is taken costs that connection', async () => {
    for (const [call, errno] of [
      ['getsockopt', EIO],
      ['epoll_ctl', ENOMEM],
    ] as const) {
      const agent = await FaultyAgent.start();
      expect(await outcomeUnder(agent, call, errno)).toBeUndefined();
      await worksAgain(agent);
      await agent.stopWithLog(/internal error: NativeError: (getsockopt: EIO|epoll_ctl: ENOMEM)/);
    }
  });

  it('while a connection is accepted is survived, and the next one served', async () => {
    const agent = await FaultyAgent.start();
    expect(await outcomeUnder(agent, 'accept', ECONNABORTED)).toMatchObject({ type: 'exited', waitStatus: 3 << 8 });
    expect(await outcomeUnder(agent, 'accept', ENOMEM)).toMatchObject({ type: 'exited', waitStatus: 3 << 8 });
    for (const errno of [EMFILE, ENFILE])
      expect(await outcomeUnder(agent, 'accept', errno)).toMatchObject({ type: 'refused', code: RefusalCode.RESOURCES });
    await worksAgain(agent);
  });

  it('while it waits for children loses no outcome', async () => {
    const agent = await FaultyAgent.start();
    expect(await outcomeUnder(agent, 'waitid', EIO)).toMatchObject({ type: 'exited', waitStatus: 3 << 8 });
    await worksAgain(agent);
    await agent.stopWithLog(/internal error: NativeError: waitid: EIO/);
  });

  it('while a signal is sent ends nobody else', async () => {
    const agent = await FaultyAgent.start({ containment: 'group', killGraceMs: 50 });
    const asker = agent.run(['sleep', '600']);
    const { pid } = await asker.expect('spawned');
    // It is not ours to signal (sudo) for once: the KILL comes none the less.
    await agent.arm('kill', EPERM);
    asker.peer.destroy();
    await eventually(() => expect(isAlive(pid)).toBe(false));
    await worksAgain(agent);
  });

  it('in a warden’s start is told', async () => {
    const agent = await FaultyAgent.start({ containment: 'warden' });
    expect(await outcomeUnder(agent, 'socketpair', EMFILE)).toMatchObject({ type: 'refused', code: RefusalCode.RESOURCES });
    expect(await outcomeUnder(agent, 'clone', EAGAIN)).toMatchObject({ type: 'refused', code: RefusalCode.RESOURCES });
    await worksAgain(agent);
  });
});

describe('an agent at its limit of open files', () => {
  /** Descriptors that it may still open: enough for connections, not for what comes with them. */
  const FREE = 4;
  it.each(['cgroup', 'warden', 'group'] as const)('refuses, ends what it has to end, and recovers (%s)', async (containment) => {
    const agent = await FaultyAgent.start({ containment, killGraceMs: 100 });
    const held = agent.run(['sh', '-c', 'trap "" TERM; while :; do sleep 0.05; done']);
    const { pid } = await held.expect('spawned');
    await eventually(() =>
      expect(agent.processes().map(({ state, command }) => `${state} ${command}`)).toContainEqual(expect.stringMatching(/^\w sleep/)),
    );
    const taken = [...descriptorsOf(agent.pid).keys()];
    const roomFor = (limit: number): number => limit - taken.filter((fd) => fd < limit).length;
    let limit = taken.length;
    while (roomFor(limit) < FREE) limit++;
    execFileSync('prlimit', ['--pid', String(agent.pid), `--nofile=${limit}:20000`]);
    const outcomes = [];
    for (let i = 0; i < 5; i++) {
      const files = Array.from({ length: 40 }, () => openSync('/dev/null', 'r'));
      const asker = agent.run(['true'], {}, Object.fromEntries(files.map((file, index) => [index, file])));
      for (const file of files) closeSync(file);
      outcomes.push(await asker.next());
    }
    expect(outcomes).toMatchObject(Array(5).fill({ type: 'refused', code: RefusalCode.RESOURCES }));
    held.peer.destroy();
    await eventually(() => expect(isAlive(pid)).toBe(false));
    execFileSync('prlimit', ['--pid', String(agent.pid), '--nofile=20000:20000']);
    await worksAgain(agent);
  });
});
