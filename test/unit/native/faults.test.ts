// Every system call of the addon that is wrapped by FAULT() (native/fault.h) fails once here: the error is clear, nothing is left
// open or running, and the same thing works the next time. The last test checks that none is missing.

import { closeSync, existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getSystemErrorName } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { Step } from '../../../src/protocol/numbers.js';
import { openDescriptors } from './descriptors.js';
import { faultPoints, useFaultAddon } from './fault-addon.js';

useFaultAddon();
const native = {
  ...(await import('../../../src/native.js')),
  ...(await import('../../../src/native/children.js')),
  ...(await import('../../../src/native/descriptors.js')),
  ...(await import('../../../src/native/files.js')),
  ...(await import('../../../src/native/poll.js')),
  ...(await import('../../../src/native/processes.js')),
  ...(await import('../../../src/native/sockets.js')),
  ...(await import('../../../src/native/spawn.js')),
};

const EINTR = 4;
const EIO = 5;
const ENOSYS = 38;

const exercised = new Set<string>();

/** `call` fails once, with EIO, while `act` runs. */
function withFault<T>(call: string, act: () => T, errno = EIO, nth = 1): T {
  exercised.add(call);
  expect(native.armFault(call, errno, nth)).toBe(true);
  return act();
}

function errorOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return error instanceof native.NativeError ? `${error.syscall}: ${error.code}` : String(error);
  }
  return 'none';
}

// These two are called once in a process, so they come first.
describe('the first use', () => {
  it('of the poller may fail and be tried again', () => {
    const before = openDescriptors();
    const { read, write } = native.makePipe();
    expect(withFault('epoll_create1', () => errorOf(() => native.watch(read, { readable: true }, () => {})))).toBe('epoll_create1: EIO');
    native.watch(read, { readable: true }, () => {});
    native.unwatch(read);
    native.closeFds([read, write]);
    expect(openDescriptors()).toEqual(before);
  });

  it('of the children’s watch may fail and be tried again', () => {
    expect(withFault('eventfd', () => errorOf(() => native.watchChildren(() => {})))).toBe('eventfd: EIO');
  });
});

describe('a system call that fails once', () => {
  let targets: typeof import('./targets.js');
  beforeAll(async () => {
    targets = await import('./targets.js');
  });

  /** Fails, leaves nothing, then works. */
  function failsOnce(call: string, syscall: string, act: () => number | undefined): void {
    const before = openDescriptors();
    expect(withFault(call, () => errorOf(act))).toBe(`${syscall}: EIO`);
    expect(openDescriptors()).toEqual(before);
    const fd = act();
    if (fd !== undefined) native.closeFd(fd);
    expect(openDescriptors()).toEqual(before);
  }

  function connected(): { listener: number; client: number; server: number; path: string; close(): void } {
    const path = join(targets.scratch(), 'sock');
    const listener = native.listenUnix(path, 4);
    const client = native.connectUnix(path);
    const server = native.acceptUnix(listener) ?? -1;
    return { listener, client, server, path, close: () => native.closeFds([listener, client, server]) };
  }

  it('looking at a cgroup', () => {
    const directory = targets.scratch();
    const file = join(directory, 'cgroup.events');
    writeFileSync(file, 'populated 0\nfrozen 0\n');
    const [own, events] = [native.openDirectory(directory), openSync(file, 'r')];
    try {
      failsOnce('pread', 'pread', () => {
        expect(native.cgroupState(own, events)).toBe('empty');
        return undefined;
      });
      mkdirSync(join(directory, 'below'));
      expect(native.cgroupState(own, events)).toBe('parent');
      writeFileSync(file, 'populated 1\nfrozen 0\n');
      expect(native.cgroupState(own, events)).toBe('occupied');
    } finally {
      native.closeFds([own, events]);
    }
  });

  it('making a socket', () => {
    for (const call of ['socket', 'bind', 'listen']) {
      const path = join(targets.scratch(), 'sock');
      failsOnce(call, 'listen', () => native.listenUnix(path, 4));
    }
    const path = join(targets.scratch(), 'notify');
    failsOnce('bind', 'bind', () => native.bindDatagram(path));
  });

  it('listening leaves no file', () => {
    const path = join(targets.scratch(), 'sock');
    withFault('listen', () => errorOf(() => native.listenUnix(path, 4)));
    expect(existsSync(path)).toBe(false);
  });

  it('connecting, accepting', () => {
    const { listener, path, close } = connected();
    failsOnce('connect', 'connect', () => native.connectUnix(path));
    native.closeFd(native.acceptUnix(listener) ?? -1);
    const waiting = native.connectUnix(path);
    failsOnce('accept', 'accept4', () => native.acceptUnix(listener));
    native.closeFd(waiting);
    close();
  });

  it('sending, receiving', () => {
    const { client, server, close } = connected();
    const into = Buffer.alloc(8);
    expect(withFault('sendmsg', () => errorOf(() => native.send(client, Buffer.from('x'), 0, [0])))).toBe('sendmsg: EIO');
    expect(native.receive(server, into, 0)).toBeUndefined();
    native.send(client, Buffer.from('x'), 0, [0]);
    expect(withFault('recvmsg', () => errorOf(() => native.receive(server, into, 0)))).toBe('recvmsg: EIO');
    const got = native.receive(server, into, 0);
    expect([got?.bytes, got?.fds.length]).toEqual([1, 1]);
    native.closeFds(got?.fds ?? []);
    close();
  });

  it('telling who the peer is, notifying', () => {
    const { client, close } = connected();
    failsOnce('getsockopt', 'getsockopt', () => void native.peerCredentials(client));
    close();
    const path = join(targets.scratch(), 'notify');
    const socket = native.bindDatagram(path);
    for (const call of ['socket', 'connect', 'sendmsg']) failsOnce(call, 'notify', () => native.notify(path, 'x') as undefined);
    native.closeFd(socket);
  });

  it('locking, opening, making a pipe', () => {
    const directory = targets.scratch();
    failsOnce('open', 'flock', () => native.lockFile(join(directory, 'lock'), false));
    failsOnce('flock', 'flock', () => native.lockFile(join(directory, 'lock'), true));
    failsOnce('open', 'open', () => native.openDirectory(directory));
    failsOnce('pipe2', 'pipe2', () => {
      const { read, write } = native.makePipe();
      native.closeFd(read);
      return write;
    });
  });

  it('watching', () => {
    const { read, write } = native.makePipe();
    expect(withFault('epoll_ctl', () => errorOf(() => native.watch(read, { readable: true }, () => {})))).toBe('epoll_ctl: EIO');
    native.watch(read, { readable: true }, () => {});
    withFault('epoll_ctl', () => native.unwatch(read));
    native.closeFds([read, write]);
  });

  it('signalling', () => {
    expect(withFault('kill', () => errorOf(() => native.killProcess(process.pid, 0)))).toBe('kill: EIO');
    expect(native.killProcess(process.pid, 0)).toBe(true);
  });

  it('a signal to another user’s process takes no effect, and is no error', () => {
    const EPERM = 1;
    expect(withFault('kill', () => native.killProcess(process.pid, 0), EPERM)).toBe(true);
    expect(withFault('kill', () => native.killProcess(process.pid, 28), EPERM)).toBe(false);
    expect(withFault('kill', () => native.killGroup(process.pid, 28), EPERM)).toBe(false);
  });

  const steps: [call: string, step: number, subject: string, options?: () => object][] = [
    ['clone', Step.FORK, ''],
    ['setpgid', Step.GROUP, 'setpgid'],
    ['setsid', Step.SESSION, 'setsid', () => ({ terminal: { kind: 1, fd: 0 } })],
    ['ioctl', Step.TERMINAL, '0', () => ({ terminal: { kind: 1, fd: 0 } })],
    ['chdir', Step.DIRECTORY, '/'],
    ['dup2', Step.DESCRIPTOR, '0'],
    ['fcntl', Step.DESCRIPTOR, '0', () => ({ fds: { 0: 2 } })],
    ['close_range', Step.DESCRIPTOR, 'close_range'],
    ['setrlimit', Step.LIMIT, '7', () => ({ limits: [7, 64, 64] })],
    ['setpriority', Step.NICE, '5', () => ({ nice: 5 })],
    ['execve', Step.EXEC, '/usr/bin/true'],
  ];
  it.each(steps)('starting a target: %s', async (call, step, subject, options = () => ({})) => {
    const before = openDescriptors();
    expect(withFault(call, () => targets.failureOf(['true'], options()))).toEqual({ step, errno: EIO, subject });
    expect(openDescriptors()).toEqual(before);
    expect(await targets.outputOf(['echo', 'fine'])).toBe('fine\n');
  });

  it('starting a target: fchdir', () => {
    const cwd = openSync('/', 'r');
    expect(withFault('fchdir', () => targets.failureOf(['true'], { cwd }))).toEqual({ step: Step.DIRECTORY, errno: EIO, subject: '' });
    closeSync(cwd);
  });

  it('clone3 where it is not allowed: clone does it', async () => {
    for (const errno of [ENOSYS, 1]) {
      withFault('clone', () => {}, errno);
      expect(await targets.outputOf(['echo', 'by clone'])).toBe('by clone\n');
    }
  });

  it('waiting for children loses no news', async () => {
    const own = process.listeners('uncaughtException');
    const uncaught: unknown[] = [];
    process.removeAllListeners('uncaughtException');
    process.on('uncaughtException', (error) => uncaught.push(error));
    withFault('waitid', () => {});
    const target = targets.start(['sh', '-c', 'exit 7']);
    expect((await target.ended()).status).toBe(7 << 8);
    expect(uncaught.map(String)).toEqual(['NativeError: waitid: EIO']);
    process.removeAllListeners('uncaughtException');
    for (const listener of own) process.on('uncaughtException', listener);
  });
});

describe('a system call of the warden’s that fails once', () => {
  it('starting it', async () => {
    const { failureOf } = await import('./targets.js');
    const { installed } = await import('../../../src/install.js');
    const before = openDescriptors();
    for (const [call, step] of [
      ['socketpair', Step.FORK],
      ['clone', Step.FORK],
      ['dup2', Step.DESCRIPTOR],
    ] as const) {
      expect(withFault(call, () => failureOf(['true'], { warden: installed.runnerExec }))).toMatchObject({ step, errno: EIO });
    }
    expect(openDescriptors()).toEqual(before);
  });

  it('hearing from it', async () => {
    const { startWarded } = await import('./warded.js');
    const { control, news } = startWarded(['sh', '-c', 'exit 3']);
    expect(withFault('recv', () => errorOf(() => native.wardenNews(control)))).toBe('recv: EIO');
    expect((await news()).map(({ waitStatus }) => waitStatus)).toEqual([3 << 8]);
  });
});

describe('a system call that is interrupted', () => {
  it('is made again', async () => {
    const { scratch } = await import('./targets.js');
    const path = join(scratch(), 'sock');
    const again = <T>(call: string, act: () => T): T => withFault(call, act, EINTR);
    const listener = native.listenUnix(path, 4);
    const client = again('connect', () => native.connectUnix(path));
    const server = again('accept', () => native.acceptUnix(listener)) ?? -1;
    expect(again('sendmsg', () => native.send(client, Buffer.from('x')))).toBe(1);
    expect(again('recvmsg', () => native.receive(server, Buffer.alloc(4), 0))?.bytes).toBe(1);
    const lock = again('flock', () => native.lockFile(`${path}.lock`, false)) ?? -1;
    native.closeFds([listener, client, server, lock]);
  });
});

describe('the list of faults', () => {
  it('is complete, and each is a known error', () => {
    const points = faultPoints();
    expect(points.length).toBeGreaterThan(20);
    const missing = points.filter(({ call }) => !exercised.has(call));
    expect(missing).toEqual([]);
    expect(getSystemErrorName(-EIO)).toBe('EIO');
  });
});
