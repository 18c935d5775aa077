// Unix sockets, and the descriptors that ride on their messages: native/fd.c.

import { addon, check, EINVAL, NativeError, toBytes, unlessBlocked } from '../native.js';
import { closeFds } from './descriptors.js';

/** A listening SOCK_STREAM socket, non-blocking, mode 0600. The caller owns it. @throws EADDRINUSE, ENAMETOOLONG (107 bytes). */
export function listenUnix(path: string | Buffer, backlog: number): number {
  return check(addon.listen(toBytes(path), backlog), 'listen');
}

/** The next connection, non-blocking, owned by the caller; `undefined`: none waits. @throws EMFILE, ENFILE. */
export function acceptUnix(listener: number): number | undefined {
  return unlessBlocked(addon.accept(listener), 'accept4');
}

/** A connected, non-blocking socket that the caller owns. @throws ENOENT, ECONNREFUSED, EAGAIN (backlog full), EACCES. */
export function connectUnix(path: string | Buffer): number {
  return check(addon.connect(toBytes(path)), 'connect');
}

const received = new Int32Array(254);
const NO_FDS: number[] = [];

function takeReceived(): number[] {
  const count = received[0] ?? 0;
  if (count === 0) return NO_FDS;
  const fds: number[] = [];
  for (let i = 1; i <= count; i++) fds.push(received[i] ?? -1);
  return fds;
}

/**
 * One recvmsg(2) into `into` from `offset`. The caller owns the descriptors, CLOEXEC from birth.
 * @returns 0 bytes at the end of the stream; `undefined` when nothing is there yet.
 * @throws EMSGSIZE when descriptors were lost on the way; none is left open then.
 */
export function receive(fd: number, into: Buffer, offset: number): { bytes: number; fds: number[] } | undefined {
  const count = unlessBlocked(addon.receive(fd, into, offset, received), 'recvmsg');
  if (count === undefined) return undefined;
  return { bytes: count, fds: takeReceived() };
}

const riding = new Int32Array(253);

/** One sendmsg(2): bytes taken from `offset` on, or `undefined` when the buffer is full. `fds` ride on the first byte and stay the caller's. */
export function send(fd: number, data: Buffer, offset = 0, fds?: readonly number[]): number | undefined {
  const count = fds?.length ?? 0;
  if (count > riding.length) throw new NativeError('sendmsg', EINVAL);
  for (let i = 0; i < count; i++) riding[i] = fds?.[i] ?? -1;
  return unlessBlocked(addon.send(fd, data, offset, riding, count), 'sendmsg');
}

const peerOut = new Int32Array(3);

/** SO_PEERCRED: who connected, or who called listen(2) on the other side. */
export function peerCredentials(fd: number): { pid: number; uid: number; gid: number } {
  check(addon.peer(fd, peerOut), 'getsockopt');
  const [pid = 0, uid = 0, gid = 0] = peerOut;
  return { pid, uid: uid >>> 0, gid: gid >>> 0 };
}

/** A bound SOCK_DGRAM socket, non-blocking, mode 0600, owned by the caller: what notify() sends to. */
export function bindDatagram(path: string | Buffer): number {
  return check(addon.bindDatagram(toBytes(path)), 'bind');
}

/** One datagram, or `undefined` when none waits. At most 64 KiB are kept. */
export function receiveDatagram(fd: number): Buffer | undefined {
  const into = Buffer.allocUnsafe(65536);
  const count = unlessBlocked(addon.receive(fd, into, 0, received), 'recvmsg');
  if (count === undefined) return undefined;
  closeFds(takeReceived());
  return into.subarray(0, count);
}

/** One sd_notify(3) datagram to a path or an `@abstract` address. @throws ECONNREFUSED or ENOENT when nobody listens. */
export function notify(address: string | Buffer, message: string): void {
  check(addon.notify(toBytes(address), Buffer.from(message)), 'notify');
}
