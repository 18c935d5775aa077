// Pins native/fd.c through src/native.ts: connections, bytes and descriptors of Unix sockets. The other side of a transfer is
// usocket, which shares no code with ours.

import { closeSync, constants, fstatSync, linkSync, openSync, readFileSync, readSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { closeFd, closeFds, fdFlags, makePipe } from '../../../src/native/descriptors.js';
import { lockFile, openDirectory } from '../../../src/native/files.js';
import { acceptUnix, connectUnix, listenUnix, peerCredentials, receive, send } from '../../../src/native/sockets.js';
import { NativeError } from '../../../src/native.js';
import { eventually } from '../../harness/eventually.js';
import { Peer } from '../../harness/peer.js';
import { expectNoDescriptorsLeft } from './descriptors.js';
import { executable, scratch } from './targets.js';

const FD_CLOEXEC_FLAG = 0o2000000;

function codeOf(call: () => unknown): string {
  try {
    call();
  } catch (error) {
    return error instanceof NativeError ? error.code : String(error);
  }
  return 'none';
}

/** Two ends of one connection. */
function pair(): [number, number] {
  const path = join(scratch(), 'sock');
  const listener = listenUnix(path, 1);
  const client = connectUnix(path);
  const server = acceptUnix(listener);
  closeFd(listener);
  if (server === undefined) throw new Error('nothing to accept');
  return [client, server];
}

function flagsInProc(fd: number): number {
  return Number.parseInt(/^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1] ?? '', 8);
}

const sameFile = (a: number, b: number): boolean => fstatSync(a).ino === fstatSync(b).ino && fstatSync(a).dev === fstatSync(b).dev;

describe('a listening socket', () => {
  expectNoDescriptorsLeft();

  it('is its owner’s alone, whatever the umask', () => {
    const before = process.umask(0);
    try {
      const path = join(scratch(), 'sock');
      const listener = listenUnix(path, 8);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(process.umask()).toBe(0);
      expect((fdFlags(listener) ?? 0) & constants.O_NONBLOCK).not.toBe(0);
      expect(flagsInProc(listener) & FD_CLOEXEC_FLAG).not.toBe(0);
      closeFd(listener);
    } finally {
      process.umask(before);
    }
  });

  it('is not made in place of something else', () => {
    const directory = scratch();
    executable(directory, 'file', '');
    symlinkSync('absent', join(directory, 'link'));
    for (const name of ['file', 'link']) expect(codeOf(() => listenUnix(join(directory, name), 1))).toBe('EADDRINUSE');
    expect(codeOf(() => listenUnix(join(directory, 'absent/sock'), 1))).toBe('ENOENT');
  });

  it('has a name of 107 bytes at most, never a cut one', () => {
    const directory = openDirectory(scratch());
    const prefix = `/proc/self/fd/${directory}/`;
    const name = 'n'.repeat(107 - prefix.length);
    const listener = listenUnix(prefix + name, 1);
    expect(codeOf(() => listenUnix(`${prefix}${name}n`, 1))).toBe('ENAMETOOLONG');
    expect(codeOf(() => connectUnix(`${prefix}${name}n`))).toBe('ENAMETOOLONG');
    expect(codeOf(() => listenUnix('n'.repeat(100_000), 1))).toBe('ENAMETOOLONG');
    expect(codeOf(() => listenUnix('', 1))).toBe('EINVAL');
    expect(codeOf(() => listenUnix('a\0b', 1))).toBe('ENAMETOOLONG');
    closeFds([listener, directory]);
  });

  it('has nobody, then one after the other', () => {
    const path = join(scratch(), 'sock');
    const listener = listenUnix(path, 8);
    expect(acceptUnix(listener)).toBeUndefined();
    const clients = [connectUnix(path), connectUnix(path)];
    const servers = [acceptUnix(listener), acceptUnix(listener)].map((fd) => fd ?? -1);
    expect(acceptUnix(listener)).toBeUndefined();
    for (const fd of [...clients, ...servers]) {
      expect((fdFlags(fd) ?? 0) & constants.O_NONBLOCK).not.toBe(0);
      expect(flagsInProc(fd) & FD_CLOEXEC_FLAG).not.toBe(0);
    }
    closeFds([listener, ...clients, ...servers]);
  });

  it('with a full backlog says try again; with nobody behind it, refuses', () => {
    const path = join(scratch(), 'sock');
    const listener = listenUnix(path, 0);
    const client = connectUnix(path);
    expect(codeOf(() => connectUnix(path))).toBe('EAGAIN');
    closeFds([client, listener]);
    expect(codeOf(() => connectUnix(path))).toBe('ECONNREFUSED');
    expect(codeOf(() => connectUnix(`${path}x`))).toBe('ENOENT');
  });

  it('is reached by a second name of the same file', () => {
    const directory = scratch();
    const listener = listenUnix(join(directory, 'sock'), 1);
    linkSync(join(directory, 'sock'), join(directory, 'second'));
    closeFds([connectUnix(join(directory, 'second')), acceptUnix(listener) ?? -1, listener]);
  });
});

describe('a peer', () => {
  expectNoDescriptorsLeft();

  it('is known by pid, user and group, on both sides', () => {
    const [client, server] = pair();
    const own = { pid: process.pid, uid: process.geteuid?.(), gid: process.getegid?.() };
    expect([peerCredentials(client), peerCredentials(server)]).toEqual([own, own]);
    closeFds([client, server]);
  });

  it('that is no socket is an error', () => {
    const { read, write } = makePipe();
    expect(codeOf(() => peerCredentials(read))).toBe('ENOTSOCK');
    expect(codeOf(() => send(write, Buffer.from('x')))).toBe('ENOTSOCK');
    closeFds([read, write]);
    expect(codeOf(() => receive(read, Buffer.alloc(1), 0))).toBe('EBADF');
  });
});

describe('bytes', () => {
  expectNoDescriptorsLeft();

  it('arrive in order, at the offset asked for, and end', () => {
    const [client, server] = pair();
    const into = Buffer.alloc(16, '.');
    expect(receive(server, into, 0)).toBeUndefined();
    expect(send(client, Buffer.from('hello'))).toBe(5);
    expect(send(client, Buffer.from('-world'), 1)).toBe(5);
    expect(receive(server, into, 3)).toEqual({ bytes: 10, fds: [] });
    expect(into.toString()).toBe('...helloworld...');
    closeFd(client);
    expect(receive(server, into, 0)).toEqual({ bytes: 0, fds: [] });
    closeFd(server);
  });

  it('are taken in part when the buffer is full, and then none', () => {
    const [client, server] = pair();
    const much = Buffer.alloc(8 << 20, 'm');
    const taken = send(client, much) ?? 0;
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThan(much.length);
    let more = send(client, much, taken);
    while (more !== undefined) more = send(client, much, taken);
    closeFds([client, server]);
  });

  it('to a peer that is gone are an error, not a signal', () => {
    const [client, server] = pair();
    closeFd(server);
    expect(codeOf(() => send(client, Buffer.from('x')))).toBe('EPIPE');
    closeFd(client);
  });

  it('outside of the buffer are refused', () => {
    const [client, server] = pair();
    expect(codeOf(() => receive(server, Buffer.alloc(4), 4))).toBe('EINVAL');
    expect(codeOf(() => receive(server, Buffer.alloc(4), -1))).toBe('EINVAL');
    expect(codeOf(() => send(client, Buffer.alloc(4), 5))).toBe('EINVAL');
    closeFds([client, server]);
  });
});

describe('descriptors', () => {
  expectNoDescriptorsLeft();

  it('arrive in order, as the same files, closed on exec; 0 to 253 of them', () => {
    const directory = scratch();
    const [client, server] = pair();
    for (const count of [0, 1, 2, 3, 60, 252, 253]) {
      const sent = Array.from({ length: count }, (_, index) => openSync(executable(directory, `${index}`, ''), 'r'));
      expect(send(client, Buffer.from('x'), 0, sent)).toBe(1);
      const got = receive(server, Buffer.alloc(8), 0)?.fds ?? [];
      expect(got.map((fd, index) => sameFile(fd, sent[index] ?? -1))).toEqual(sent.map(() => true));
      expect(got.every((fd) => (flagsInProc(fd) & FD_CLOEXEC_FLAG) !== 0)).toBe(true);
      closeFds([...sent, ...got]);
    }
    closeFds([client, server]);
  });

  it('are refused from the 254th on, before anything is sent', () => {
    const [client, server] = pair();
    expect(codeOf(() => send(client, Buffer.from('x'), 0, Array(254).fill(client)))).toBe('EINVAL');
    expect(receive(server, Buffer.alloc(8), 0)).toBeUndefined();
    closeFds([client, server]);
  });

  it('that are not open are an error, and nothing is sent', () => {
    const [client, server] = pair();
    expect(codeOf(() => send(client, Buffer.from('x'), 0, [client, 987_654]))).toBe('EBADF');
    expect(receive(server, Buffer.alloc(8), 0)).toBeUndefined();
    closeFds([client, server]);
  });

  it('of two messages are never mixed', () => {
    const [client, server] = pair();
    const { read, write } = makePipe();
    send(client, Buffer.from('ab'), 0, [read]);
    send(client, Buffer.from('cd'), 0, [write]);
    const first = receive(server, Buffer.alloc(16), 0);
    const second = receive(server, Buffer.alloc(16), 0);
    expect([first?.bytes, first?.fds.length, second?.bytes, second?.fds.length]).toEqual([2, 1, 2, 1]);
    closeFds([read, write, client, server, ...(first?.fds ?? []), ...(second?.fds ?? [])]);
  });

  it('that are on their way are closed with the socket', () => {
    const [client, server] = pair();
    const { read, write } = makePipe();
    send(client, Buffer.from('x'), 0, [write]);
    closeFds([write, client, server]);
    // End of file: nobody has the write end any more.
    expect(readSync(read, Buffer.alloc(1))).toBe(0);
    closeFd(read);
  });

  it('of another program arrive', async () => {
    const directory = scratch();
    const listener = listenUnix(join(directory, 'sock'), 1);
    const peer = await Peer.connect(join(directory, 'sock'));
    const server = await eventually(() => acceptUnix(listener) ?? Promise.reject(new Error('nobody')));
    const sent = openSync(executable(directory, 'file', 'content'), 'r');
    peer.send(Buffer.from('hello'), [sent]);
    const got = await eventually(() => receive(server, Buffer.alloc(16), 0) ?? Promise.reject(new Error('nothing')));
    expect(got.bytes).toBe(5);
    expect(readFileSync(got.fds[0] ?? -1, 'utf8')).toBe('content');
    peer.destroy();
    closeFds([listener, server, sent, ...got.fds]);
  });

  it('reach another program', async () => {
    const directory = scratch();
    const listener = listenUnix(join(directory, 'sock'), 1);
    const peer = await Peer.connect(join(directory, 'sock'));
    const server = await eventually(() => acceptUnix(listener) ?? Promise.reject(new Error('nobody')));
    const file = openSync(executable(directory, 'file', 'content'), 'r');
    send(server, Buffer.from('x'), 0, [file]);
    await eventually(() => expect(peer.fds).toHaveLength(1));
    expect(readFileSync(peer.fds[0] ?? -1, 'utf8')).toBe('content');
    closeFds([listener, server]);
    await peer.closed();
    peer.destroy();
    closeSync(file);
  });
});

describe('a lock', () => {
  expectNoDescriptorsLeft();

  it('is held by one at a time and given back by closing', () => {
    const path = join(scratch(), 'lock');
    const first = lockFile(path, false) ?? -1;
    expect(first).toBeGreaterThan(2);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(lockFile(path, false)).toBeUndefined();
    closeFd(first);
    const second = lockFile(path, true) ?? -1;
    closeFd(second);
  });

  it('never goes through a link', () => {
    const directory = scratch();
    executable(directory, 'file', '');
    symlinkSync('file', join(directory, 'link'));
    expect(codeOf(() => lockFile(join(directory, 'link'), true))).toBe('ELOOP');
  });
});

describe('a directory to start from', () => {
  expectNoDescriptorsLeft();

  it('is a directory and no link', () => {
    const directory = scratch();
    executable(directory, 'file', '');
    symlinkSync('.', join(directory, 'link'));
    closeFd(openDirectory(directory));
    expect(codeOf(() => openDirectory(join(directory, 'file')))).toBe('ENOTDIR');
    expect(['ELOOP', 'ENOTDIR']).toContain(codeOf(() => openDirectory(join(directory, 'link'))));
    expect(codeOf(() => openDirectory(join(directory, 'none')))).toBe('ENOENT');
  });
});
