// Pins DESIGN section 7 for one request: what is sent, what comes of every last word, and that nothing stays open.

import { closeSync, createReadStream, mkdirSync, openSync, readFileSync, rmdirSync, writeFileSync, writeSync } from 'node:fs';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { run } from '../../../src/client/run.js';
import type { RunOptions } from '../../../src/client/run-handle.js';
import { HoldfastError } from '../../../src/errors.js';
import { encodeAnswer, encodeNotStarted, encodeQueued, encodeRefused, RefusalCode, Step } from '../../../src/protocol/messages.js';
import { eventually } from '../../harness/eventually.js';
import { descriptorsOf } from '../../harness/processes.js';
import { exited, PID, ScriptedAgent, spawned, words } from './scripted-agent.js';

let agent: ScriptedAgent;
let before: number;

beforeEach(() => {
  // The first watch of a process makes the poller, which stays.
  new ScriptedAgent().stop();
  before = descriptorsOf('self').size;
  agent = new ScriptedAgent();
});

afterEach(async () => {
  agent.stop();
  await eventually(() => expect(descriptorsOf('self').size).toBe(before));
});

async function failureOf(outcome: Promise<unknown>): Promise<HoldfastError> {
  const error = await outcome.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof HoldfastError)) throw new Error(`no HoldfastError: ${String(error)}`);
  return error;
}

describe('a request', () => {
  it('says argv, directory, mask and descriptors', async () => {
    const handle = run(
      { program: 'cargo', args: ['build', Buffer.from([0xff])], cwd: '/srv', umask: 0o27, stdio: 'ignore' },
      agent.address,
    );
    const peer = await agent.peer();
    const request = await peer.request();
    expect(words(request.argv)).toEqual(['cargo', 'build', '\xff']);
    expect(request).toMatchObject({
      umask: 0o27,
      ignored: 0n,
      fds: [0, 1, 2],
      exact: false,
      detach: false,
      report: false,
      terminal: { kind: 'plain' },
    });
    expect(request.cwd.toString()).toBe('/srv');
    expect(request.program.toString()).toBe('');
    expect(peer.fds).toHaveLength(3);
    peer.say(spawned, exited(0));
    await handle.outcome;
  });

  it.each([
    [{ timeoutMs: Number.NaN }, "'timeoutMs' must be a number of milliseconds up to 4294967295, not NaN"],
    [{ timeoutMs: -1 }, "'timeoutMs' must be"],
    [{ killGraceMs: Number.POSITIVE_INFINITY }, "'killGraceMs' must be"],
    [{ umask: 0o1000 }, "'umask' must be a whole number from 0 to 511, not 512"],
    [{ nice: 1.5 }, "'nice' must be a whole number from -20 to 19, not 1.5"],
    [{ limits: { nofile: -1 } }, "the limit 'nofile' cannot be -1"],
  ])('of numbers that cannot be is refused before it is sent: %j', async (options, message) => {
    const error = await failureOf(run({ program: 'true', stdio: 'ignore', ...options }, agent.address).outcome);
    expect(error.code).toBe('REQUEST_INVALID');
    expect(error.message).toContain(message);
  });

  it.each([
    [undefined, 'a command must be an object, not undefined'],
    ['ls -l', 'a command must be an object, not text'],
    [{}, "'program' must be text or a Buffer, not undefined"],
    [{ program: 'echo', args: '-n' }, "'args' must be a list of text or a Buffer, not text"],
    [{ program: 'echo', args: ['a', 1] }, "'args[1]' must be text or a Buffer, not 1"],
    [{ program: 'env', env: { PORT: 80 } }, "'env.PORT' must be text or a Buffer, or undefined to leave it out, not 80"],
    [{ program: 'env', env: ['A=1'] }, "'env' must be an object, as in { CGO_ENABLED: '0' }, not a list"],
    [{ program: 'pwd', cwd: new URL('file:///tmp') }, "'cwd' must be text or a Buffer, not an object"],
    [{ program: 'ls', passEnv: 'HOME' }, "'passEnv' must be a list of names, not text"],
    [{ program: 'ls', signal: 5 }, "'signal' must be an AbortSignal, not 5"],
    [{ program: 'ls', stdio: 'pip' }, `'stdio' cannot be "pip" for 0`],
    [{ program: 'ls', stdio: ['ignore', null] }, "'stdio' cannot be null for 1"],
  ])('of types that cannot be is refused in its own terms: %j', async (options, message) => {
    const error = await failureOf(run(options as unknown as RunOptions, agent.address).outcome);
    expect([error.code, error.message]).toEqual(['REQUEST_INVALID', message]);
  });

  it('has a deadline, however little is left of it', async () => {
    const handle = run({ program: 'true', stdio: 'ignore', timeoutMs: 0.4 }, agent.address);
    const peer = await agent.peer();
    expect(await peer.request()).toMatchObject({ timeoutMs: 1 });
    peer.end();
    await handle;
  });

  it('takes the working directory and mask of this process', async () => {
    const handle = run({ program: 'x', stdio: 'ignore' }, agent.address);
    const request = await (await agent.peer()).request();
    expect(request.cwd.toString()).toBe(process.cwd());
    expect(request.umask).toBe(process.umask());
    agent.stop();
    agent = new ScriptedAgent();
    expect(await handle.outcome).toEqual({ kind: 'lost', when: 'unknown' });
  });

  it('orders the changes of the environment from weak to strong', async () => {
    writeFileSync(`${agent.directory}/s.pass`, 'H6_SOCK\nH6_NONE\n');
    process.env['H6_SOCK'] = 'now';
    const handle = run(
      {
        program: 'x',
        stdio: 'ignore',
        passEnv: ['H6_SOCK', 'H6_NONE'],
        env: { A: 'b=c', PATH: undefined },
        pathPrepend: ['/a', 'b'],
        cwd: '/w',
      },
      agent.address,
    );
    const peer = await agent.peer();
    expect(words((await peer.request()).env)).toEqual(['=H6_SOCK=now', '=H6_SOCK=now', '-H6_NONE', '=A=b=c', '-PATH', ':/a', ':/w/b']);
    peer.say(spawned, exited(0));
    await handle.outcome;
  });

  it('names another argv[0] apart from the program', async () => {
    const handle = run({ program: '/bin/busybox', argv0: 'ls', args: ['-l'], stdio: 'ignore' }, agent.address);
    const peer = await agent.peer();
    const request = await peer.request();
    expect([words(request.argv), request.program.toString()]).toEqual([['ls', '-l'], '/bin/busybox']);
    peer.say(spawned, exited(0));
    await handle.outcome;
  });

  it('sends a removed working directory as a descriptor', async () => {
    const home = process.cwd();
    mkdirSync(`${agent.directory}/gone`);
    process.chdir(`${agent.directory}/gone`);
    rmdirSync(`${agent.directory}/gone`);
    try {
      const handle = run({ program: 'x', stdio: 'ignore' }, agent.address);
      const peer = await agent.peer();
      const request = await peer.request();
      expect(request).toMatchObject({ cwdByDescriptor: true, fds: [0, 1, 2] });
      expect(peer.fds).toHaveLength(4);
      peer.say(spawned, exited(0));
      await handle.outcome;
    } finally {
      process.chdir(home);
    }
  });
});

describe('descriptors', () => {
  it('are real pipes whose other ends are streams', async () => {
    const handle = run({ program: 'cat' }, agent.address);
    const peer = await agent.peer();
    await peer.request();
    const [stdin = -1, stdout = -1, stderr = -1] = peer.fds;
    expect(readFileSync(`/proc/self/fdinfo/${stdout}`, 'utf8')).toMatch(/flags:\s+0?2000001\n/);
    handle.stdin?.end('to the target');
    writeSync(stdout, 'out');
    writeSync(stderr, 'err');
    expect(await text(createReadStream('', { fd: stdin, autoClose: false }))).toBe('to the target');
    peer.say(spawned, exited(0));
    expect(await handle.outcome).toEqual({ kind: 'exited', code: 0 });
    peer.end();
    const { stdout: output = Readable.from([]), stderr: errors = Readable.from([]) } = handle;
    expect([await text(output), await text(errors)]).toEqual(['out', 'err']);
  });

  it('can be any of ours, under any number', async () => {
    const file = openSync(`${agent.directory}/f`, 'w+');
    const handle = run({ program: 'x', stdio: ['ignore', file, file, undefined, file] }, agent.address);
    const peer = await agent.peer();
    expect((await peer.request()).fds).toEqual([0, 1, 2, 4]);
    expect(new Set(peer.fds.slice(1).map((fd) => descriptorsOf('self').get(fd)))).toEqual(new Set([`${agent.directory}/f`]));
    peer.say(spawned, exited(0));
    await handle.outcome;
    closeSync(file);
  });

  it.each([
    ['a number that is not open', ['ignore', 999, 'ignore'], "descriptor 999, for the target's 1, is not open"],
    ['a pipe past 2', ['ignore', 'ignore', 'ignore', 'pipe'], "descriptor 3 cannot be 'pipe'"],
  ] as const)('are refused: %s', async (_, stdio, message) => {
    const error = await failureOf(run({ program: 'x', stdio }, agent.address).outcome);
    expect([error.code, error.message]).toEqual(['REQUEST_INVALID', message]);
  });
});

describe('the last word', () => {
  it.each([
    [exited(7 << 8), { kind: 'exited', code: 7 }],
    [exited(15), { kind: 'signaled', signal: 15, core: false }],
    [exited(0x8b), { kind: 'signaled', signal: 11, core: true }],
    [exited(15, 'deadline'), { kind: 'cancelled', by: 'deadline', ending: { kind: 'signaled', signal: 15, core: false } }],
  ])('of a target that ran becomes its outcome', async (frame, outcome) => {
    const handle = run({ program: 'x', stdio: 'ignore' }, agent.address);
    const peer = await agent.peer();
    await peer.request();
    peer.say(encodeQueued(1), spawned, frame);
    expect(await handle.pid).toBe(PID);
    expect(await handle.outcome).toEqual(outcome);
    expect(await handle.report).toMatchObject({ pid: PID, startNs: 7n, timings: { runUs: 12 }, leftovers: [] });
  });

  it('of a target that was not started names the step', async () => {
    const handle = run({ program: 'x', stdio: 'ignore' }, agent.address);
    const peer = await agent.peer();
    await peer.request();
    peer.say(encodeNotStarted({ step: Step.PROGRAM, errno: 2, subject: Buffer.from('x'), searched: Buffer.from('/bin') }));
    expect(await handle.outcome).toEqual({
      kind: 'notStarted',
      step: 'PROGRAM',
      errno: 2,
      subject: Buffer.from('x'),
      searched: Buffer.from('/bin'),
    });
    expect([await handle.pid, await handle.report]).toEqual([undefined, undefined]);
  });

  it.each([
    ['unknown', []],
    ['unknown', [encodeQueued(3)]],
    ['after-spawn', [encodeQueued(3), spawned]],
  ] as const)('that never comes is a lost request: %s', async (when, frames) => {
    const handle = run({ program: 'x', stdio: 'ignore' }, agent.address);
    const peer = await agent.peer();
    await peer.request();
    peer.say(...frames);
    peer.end();
    expect(await handle.outcome).toEqual({ kind: 'lost', when });
  });

  it('that cannot come, since the request was never read, says that nothing was started', async () => {
    const handle = run({ program: 'x', stdio: 'ignore' }, agent.address);
    (await agent.peer()).end();
    expect(await handle.outcome).toEqual({ kind: 'lost', when: 'before-spawn' });
  });

  it('of an agent that refuses is our failure, in its words', async () => {
    const handle = run({ program: 'x', stdio: 'ignore' }, agent.address);
    const peer = await agent.peer();
    await peer.request();
    peer.say(encodeRefused({ code: RefusalCode.BUSY, message: 'full', hint: 'wait' }));
    const error = await failureOf(handle.outcome);
    expect([error.code, error.message, error.hint]).toEqual(['BUSY', "session 'web' refused: full", 'wait']);
  });

  it('that makes no sense is a broken protocol', async () => {
    const handle = run({ program: 'x' }, agent.address);
    const peer = await agent.peer();
    await peer.request();
    peer.say(encodeAnswer({}));
    expect((await failureOf(handle.outcome)).code).toBe('PROTOCOL');
  });
});

describe('a session that is not there', () => {
  it('is told from one that is not served any more', async () => {
    const absent = { ...agent.address, socket: Buffer.from('/nonexistent/s.sock') };
    expect(await failureOf(run({ program: 'x' }, absent).outcome)).toMatchObject({
      code: 'NO_SESSION',
      message: "session 'web' is not open",
    });
    agent.abandon();
    expect(await failureOf(run({ program: 'x' }, agent.address).outcome)).toMatchObject({
      message: "session 'web' is not served any more",
    });
    agent = new ScriptedAgent();
  });
});

describe('signals', () => {
  it('reach the agent, early ones included', async () => {
    const handle = run({ program: 'x', stdio: 'ignore' }, agent.address);
    handle.signal('SIGUSR1');
    const peer = await agent.peer();
    peer.say(spawned);
    await handle.pid;
    handle.signal('SIGTERM');
    await peer.heard(3);
    expect(peer.messages.slice(1)).toEqual([
      { type: 'signal', signal: 10 },
      { type: 'signal', signal: 15 },
    ]);
    peer.say(exited(15));
    await handle.outcome;
    handle.signal('SIGTERM');
    expect(() => handle.signal(65)).toThrow(/'65' is no signal/);
  });
});

describe('an abort', () => {
  it('before the request rejects with its reason', async () => {
    const reason = new Error('enough');
    await expect(run({ program: 'x', signal: AbortSignal.abort(reason) }, agent.address).outcome).rejects.toBe(reason);
  });

  it('while it is queued drops the request', async () => {
    const controller = new AbortController();
    const handle = run({ program: 'x', signal: controller.signal }, agent.address);
    const peer = await agent.peer();
    await peer.request();
    peer.say(encodeQueued(1));
    controller.abort();
    await peer.heard(2);
    expect(peer.messages[1]).toEqual({ type: 'cancel' });
    peer.say(encodeRefused({ code: RefusalCode.STOPPING, message: 'cancelled', hint: '' }));
    await expect(handle.outcome).rejects.toBe(controller.signal.reason);
  });

  it('of a running target asks the agent to cancel it, and hears how it ended', async () => {
    const controller = new AbortController();
    const handle = run({ program: 'x', stdio: 'ignore', signal: controller.signal }, agent.address);
    const peer = await agent.peer();
    await peer.request();
    peer.say(spawned);
    await handle.pid;
    controller.abort();
    await peer.heard(2);
    expect(peer.messages.slice(1)).toEqual([{ type: 'cancel' }]);
    peer.say(exited(9, 'client'));
    expect(await handle.outcome).toEqual({ kind: 'cancelled', by: 'client', ending: { kind: 'signaled', signal: 9, core: false } });
  });
});
