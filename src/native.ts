// The door to the addon, and the only file that loads it. What it can do is in src/native/, a file for each kind of call. Raw descriptor
// numbers are at home there and in channel.ts; each function says who owns them. Nothing there reads or writes what a passed descriptor
// carries. EINTR is retried beneath (native/fd.c); everything else that fails is thrown as a NativeError.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { getSystemErrorName } from 'node:util';
import { HoldfastError } from './errors.js';
import { installed, prebuiltFolders } from './install.js';

export interface Addon {
  listen(path: Buffer, backlog: number): number;
  accept(fd: number): number;
  connect(path: Buffer): number;
  receive(fd: number, into: Buffer, offset: number, fds: Int32Array): number;
  send(fd: number, data: Buffer, offset: number, fds: Int32Array, fdCount: number): number;
  peer(fd: number, out: Int32Array): number;
  bindDatagram(path: Buffer): number;
  notify(address: Buffer, message: Buffer): number;
  lock(path: Buffer, wait: number): number;
  openDirectory(path: Buffer): number;
  /** At most 12 of them. */
  close(...fds: number[]): number;
  cloexecFrom(first: number): number;
  pipe(out: Int32Array): number;
  flags(fd: number): number;
  isTty(fd: number): number;
  spawn(
    scalars: Int32Array,
    program: Buffer | undefined,
    searchPath: Buffer | undefined,
    argv: Buffer,
    env: Buffer,
    cwd: Buffer | undefined,
    fds: Int32Array,
    numbers: Int32Array,
    limits: Float64Array,
    out: Int32Array,
    subject: Buffer,
    warden: Buffer | undefined,
    before: Buffer | undefined,
  ): number;
  cgroupState(directory: number, events: number): number;
  wardenNews(control: number, out: Float64Array): number;
  wardenOrder(control: number, order: number): number;
  watchChildren(): number;
  nextChange(out: Float64Array, which: number, leavesFailed: number): number;
  kill(pid: number, signal: number): number;
  killGroup(pgid: number, signal: number): number;
  startTicks(pid: number): number;
  dieBy(signal: number): number;
  becomeSubreaper(): number;
  followParent(signal: number): number;
  setsid(): number;
  umask(): number;
  renewStamps(paths: Buffer, places: number, stamps: BigInt64Array, moved: Int32Array): number;
  startPoller(callback: (count: number) => void, ready: Int32Array): number;
  watch(fd: number, events: number, change: number): number;
  /** Test builds only: native/fault.h. */
  fault?(call: Buffer, errno: number, nth: number): number;
}

const ADDON = 'holdfast.node';

/** What `holdfast build-native` or a clone's build made comes first, then what the package brings: that of another C library does not load. */
function load(): Addon {
  const require = createRequire(import.meta.url);
  const named = process.env['HOLDFAST_ADDON_FOR_TESTS'];
  const places = named === undefined ? [dirname(installed.runnerExec), ...prebuiltFolders()].map((folder) => join(folder, ADDON)) : [named];
  let cause: unknown;
  for (const place of places.filter(existsSync)) {
    try {
      return require(place) as Addon;
    } catch (error) {
      cause = error;
    }
  }
  const why = cause instanceof Error ? `: ${cause.message.split('\n')[0]}` : ` is not in '${dirname(installed.runnerExec)}'`;
  throw new HoldfastError('NATIVE_MISSING', `the native part '${ADDON}'${cause === undefined ? why : ` does not load${why}`}`, {
    hint: "'holdfast build-native' makes it fit this machine; in a clone, 'npm run build' does",
    cause,
  });
}

/** For src/native/ alone, whose files say what each call does. */
export const addon: Addon = load();

/** libuv has no name for it. */
const ETOOMANYREFS = 109;

/** A system call that failed. `code` is its name, as in `ECONNREFUSED`. */
export class NativeError extends Error {
  static {
    NativeError.prototype.name = 'NativeError';
  }
  readonly code: string;
  readonly errno: number;
  readonly syscall: string;
  constructor(syscall: string, errno: number) {
    const code = errno === ETOOMANYREFS ? 'ETOOMANYREFS' : getSystemErrorName(-errno);
    super(`${syscall}: ${code}`);
    this.code = code;
    this.errno = errno;
    this.syscall = syscall;
  }
}

export const EAGAIN = 11;
export const EINVAL = 22;

/** @throws NativeError for what is below zero: a negated errno. */
export function check(result: number, syscall: string): number {
  if (result < 0) throw new NativeError(syscall, -result);
  return result;
}

/** `undefined` in place of EAGAIN. */
export function unlessBlocked(result: number, syscall: string): number | undefined {
  return result === -EAGAIN ? undefined : check(result, syscall);
}

export const toBytes = (text: string | Buffer): Buffer => (typeof text === 'string' ? Buffer.from(text) : text);

/** Test builds only: makes the `nth` next call of one syscall fail with `errno`. False: this build cannot. */
export function armFault(call: string, errno: number, nth: number): boolean {
  if (addon.fault === undefined) return false;
  addon.fault(Buffer.from(call), errno, nth);
  return true;
}
