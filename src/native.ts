// The door to the addon, and the only file that loads it. Raw descriptor numbers are at home here and in channel.ts; each
// function says who owns them. Nothing here reads or writes what a passed descriptor carries.
// EINTR is retried beneath (native/fd.c); everything else that fails is thrown as a NativeError.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { getSystemErrorName } from 'node:util';
import { HoldfastError } from './errors.js';
import { installed, prebuiltFolders } from './install.js';

interface Addon {
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
  close(fd: number): number;
  cloexecFrom(first: number): number;
  pipe(out: Int32Array): number;
  flags(fd: number): number;
  isTty(fd: number): number;
  spawn(
    scalars: Int32Array,
    program: Buffer,
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
  ): number;
  cgroupState(directory: number, events: number): number;
  wardenNews(control: number, out: Float64Array): number;
  wardenOrder(control: number, order: number): number;
  watchChildren(): number;
  nextChange(out: Float64Array, which: number, kept: number): number;
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

const addon = load();

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

const EAGAIN = 11;
const EINVAL = 22;

function check(result: number, syscall: string): number {
  if (result < 0) throw new NativeError(syscall, -result);
  return result;
}

/** `undefined` in place of EAGAIN. */
function unlessBlocked(result: number, syscall: string): number | undefined {
  return result === -EAGAIN ? undefined : check(result, syscall);
}

const bytes = (text: string | Buffer): Buffer => (typeof text === 'string' ? Buffer.from(text) : text);

/** A listening SOCK_STREAM socket, non-blocking, mode 0600. The caller owns it. @throws EADDRINUSE, ENAMETOOLONG (107 bytes). */
export function listenUnix(path: string | Buffer, backlog: number): number {
  return check(addon.listen(bytes(path), backlog), 'listen');
}

/** The next connection, non-blocking, owned by the caller; `undefined`: none waits. @throws EMFILE, ENFILE. */
export function acceptUnix(listener: number): number | undefined {
  return unlessBlocked(addon.accept(listener), 'accept4');
}

/** A connected, non-blocking socket that the caller owns. @throws ENOENT, ECONNREFUSED, EAGAIN (backlog full), EACCES. */
export function connectUnix(path: string | Buffer): number {
  return check(addon.connect(bytes(path)), 'connect');
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
  return check(addon.bindDatagram(bytes(path)), 'bind');
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
  check(addon.notify(bytes(address), Buffer.from(message)), 'notify');
}

const EWOULDBLOCK = EAGAIN;

/** flock(LOCK_EX) on `path`, made 0600 when absent; closing the descriptor gives it back. `undefined`: held by another (`wait` false). */
export function lockFile(path: string | Buffer, wait: boolean): number | undefined {
  const result = addon.lock(bytes(path), wait ? 1 : 0);
  return result === -EWOULDBLOCK ? undefined : check(result, 'flock');
}

/** A directory as a place to start from (O_PATH, never through a link), owned by the caller. @throws ENOTDIR, ELOOP, ENOENT. */
export function openDirectory(path: string | Buffer): number {
  return check(addon.openDirectory(bytes(path)), 'open');
}

/** Numbers of one file in `stamps`: native/stamp.h. */
const STAMP_NUMBERS = 5;

/** What `findMoved` remembers of files: for `count` paths, none of which has been looked at. */
export function newStamps(count: number): BigInt64Array {
  return new BigInt64Array(STAMP_NUMBERS * count);
}

/**
 * Looks at files by stat(2), and remembers what it saw. Cheap enough for every request.
 *
 * @param paths each ended by a NUL. @param places of how many, at the end of `paths`, it matters only which file it is.
 * @param moved gets the numbers of those that are not as they were at the last look; as long as there are paths.
 * @returns how many that are.
 */
export function findMoved(paths: Buffer, places: number, stamps: BigInt64Array, moved: Int32Array): number {
  return check(addon.renewStamps(paths, places, stamps, moved), 'stat');
}

/** Closes a descriptor that the caller owns. */
export function closeFd(fd: number): void {
  addon.close(fd);
}

export function closeFds(fds: readonly number[]): void {
  for (const fd of fds) addon.close(fd);
}

/** Marks every descriptor from `first` up CLOEXEC, so that no child started later inherits what we were given by mistake. */
export function closeOnExecFrom(first: number): void {
  check(addon.cloexecFrom(first), 'close_range');
}

const pipeOut = new Int32Array(2);

/** pipe2(O_CLOEXEC): both ends are the caller's. */
export function makePipe(): { read: number; write: number } {
  check(addon.pipe(pipeOut), 'pipe2');
  const [read = -1, write = -1] = pipeOut;
  return { read, write };
}

/** File status flags (fcntl F_GETFL), or `undefined` when the number is not open. */
export function fdFlags(fd: number): number | undefined {
  const result = addon.flags(fd);
  return result < 0 ? undefined : result;
}

export function isTty(fd: number): boolean {
  return addon.isTty(fd) === 1;
}

// --- processes ---

/** The order is that of `enum scalar` in native/addon_process.c. */
const SCALARS = 12;
const scalars = new Int32Array(SCALARS);
const spawnFds = new Int32Array(253);
const spawnNumbers = new Int32Array(253);
const spawnOut = new Int32Array(6);
const subject = Buffer.alloc(4096);

/** All byte strings end with one NUL; all descriptors are borrowed for the time of the call. */
export interface SpawnRequest {
  /** With a slash: relative to the target's directory. Without: looked up in `searchPath`. */
  program: Buffer;
  /** PATH of the target; `undefined` when it has none. */
  searchPath: Buffer | undefined;
  argv: { count: number; block: Buffer };
  env: { count: number; block: Buffer };
  /** Absolute, or `undefined`: `cwdFd` is the directory. */
  cwd: Buffer | undefined;
  cwdFd: number;
  fds: readonly number[];
  /** In the target, one for each of `fds`. */
  numbers: readonly number[];
  umask: number;
  /** Bit N−1: signal N starts ignored. */
  ignored: bigint;
  nice: number | undefined;
  /** 0 plain, 1 hand-over, 2 pty. */
  terminal: number;
  terminalFd: number;
  /** Triples (resource, soft, hard); Infinity: no limit. */
  limits: Float64Array;
  /** −1, or the cgroup v2 directory that the target is born in. */
  cgroupFd: number;
  /** The program that serves as warden between us and the target (native/warden.h); `undefined`: the target is our own child. */
  warden: Buffer | undefined;
}

/**
 * How a cgroup v2 directory stands: `events` is its cgroup.events, open for reading.
 * @returns 'occupied' while a process lives in it or beneath; 'parent' when only cgroups are left beneath it; else 'empty'.
 */
export function cgroupState(directory: number, events: number): 'occupied' | 'parent' | 'empty' {
  const state = check(addon.cgroupState(directory, events), 'pread');
  return state === 0 ? 'empty' : state === 1 ? 'parent' : 'occupied';
}

/** Owned by the caller: `pidfd` (−1 where the kernel gives none) and the warden's `control` socket. */
export type Started = { started: true; pid: number; pidfd: number; warden: { pid: number; control: number } | undefined };

export type SpawnResult = Started | { started: false; step: number; errno: number; subject: Buffer };

/** Starts a target; returns when its exec has succeeded or failed. Blocks for that long (about 0.2 ms). */
export function spawn(request: SpawnRequest): SpawnResult {
  scalars[0] = request.argv.count;
  scalars[1] = request.env.count;
  scalars[2] = request.cwdFd;
  scalars[3] = request.umask;
  scalars[4] = Number(BigInt.asIntN(32, request.ignored));
  scalars[5] = Number(BigInt.asIntN(32, request.ignored >> 32n));
  scalars[6] = request.nice === undefined ? 0 : 1;
  scalars[7] = request.nice ?? 0;
  scalars[8] = request.terminal;
  scalars[9] = request.terminalFd;
  scalars[10] = request.cgroupFd;
  scalars[11] = request.fds.length;
  if (request.fds.length !== request.numbers.length || request.fds.length > spawnFds.length) throw new NativeError('spawn', EINVAL);
  for (let i = 0; i < request.fds.length; i++) {
    spawnFds[i] = request.fds[i] ?? -1;
    spawnNumbers[i] = request.numbers[i] ?? -1;
  }
  check(
    addon.spawn(
      scalars,
      request.program,
      request.searchPath,
      request.argv.block,
      request.env.block,
      request.cwd,
      spawnFds,
      spawnNumbers,
      request.limits,
      spawnOut,
      subject,
      request.warden,
    ),
    'spawn',
  );
  const step = spawnOut[2] ?? 0;
  if (step !== 0) return { started: false, step, errno: spawnOut[3] ?? 0, subject: Buffer.from(subject.subarray(0, subject.indexOf(0))) };
  const control = spawnOut[5] ?? -1;
  const warden = control === -1 ? undefined : { pid: spawnOut[4] ?? -1, control };
  return { started: true, pid: spawnOut[0] ?? -1, pidfd: spawnOut[1] ?? -1, warden };
}

/** A change of a child's state: ended (and reaped), stopped or continued, as `waitStatus` tells. */
export interface ChildChange {
  pid: number;
  waitStatus: number;
  userUs: number;
  systemUs: number;
  maxRssKib: number;
  minorFaults: number;
  majorFaults: number;
  blocksIn: number;
  blocksOut: number;
  voluntarySwitches: number;
  involuntarySwitches: number;
}

const changeOut = new Float64Array(11);

function changeRead(): ChildChange {
  return {
    pid: changeOut[0] ?? 0,
    waitStatus: changeOut[1] ?? 0,
    userUs: changeOut[2] ?? 0,
    systemUs: changeOut[3] ?? 0,
    maxRssKib: changeOut[4] ?? 0,
    minorFaults: changeOut[5] ?? 0,
    majorFaults: changeOut[6] ?? 0,
    blocksIn: changeOut[7] ?? 0,
    blocksOut: changeOut[8] ?? 0,
    voluntarySwitches: changeOut[9] ?? 0,
    involuntarySwitches: changeOut[10] ?? 0,
  };
}

/**
 * Calls back for each child that ends, stops or continues: of the whole process, so only the agent may use it. What it throws is
 * an uncaught exception, and costs no other child its news.
 */
export function watchChildren(onChange: (change: ChildChange) => void): void {
  const fd = check(addon.watchChildren(), 'eventfd');
  watch(fd, { readable: true }, () => takeChanges(onChange));
}

const ANY_CHILD = 0;
const observed = new Map<number, (waitStatus: number) => void>();

/** Calls back for a child that has ended and is not reaped: /proc still tells of it. @returns ends that; it does so by itself, too. */
export function observeEnd(pid: number, onEnd: (waitStatus: number) => void): () => void {
  observed.set(pid, onEnd);
  return () => {
    if (observed.get(pid) === onEnd) observed.delete(pid);
  };
}

/** Whose change is the next one: it is left to be taken. */
function observe(): number {
  if (check(addon.nextChange(changeOut, ANY_CHILD, 1), 'waitid') !== 1) return ANY_CHILD;
  const { pid, waitStatus } = changeRead();
  const onEnd = observed.get(pid);
  if (onEnd !== undefined && waitStatus !== 0xffff && (waitStatus & 0xff) !== 0x7f) {
    observed.delete(pid);
    onEnd(waitStatus);
  }
  return pid;
}

/** A fork storm makes orphans faster than they are reaped one by one; whoever asks for its end must be heard meanwhile. */
const CHANGES_A_TURN = 64;

function takeChanges(onChange: (change: ChildChange) => void): void {
  for (let taken = 0; taken < CHANGES_A_TURN; taken++) {
    const pid = observed.size === 0 ? ANY_CHILD : observe();
    if (check(addon.nextChange(changeOut, pid, 0), 'waitid') !== 1) return;
    try {
      onChange(changeRead());
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
  setImmediate(() => takeChanges(onChange));
}

/** What a warden tells of its target; `undefined`: nothing for now; `'gone'`: it holds nothing any more, or was killed. */
export function wardenNews(control: number): ChildChange | 'gone' | undefined {
  const result = unlessBlocked(addon.wardenNews(control, changeOut), 'recv');
  return result === undefined ? undefined : result === 0 ? 'gone' : changeRead();
}

/** Orders a warden to send a signal to all that it holds. False: it is gone. */
export function wardenSignal(control: number, signal: number): boolean {
  return addon.wardenOrder(control, signal) === 0;
}

/** WARDEN_KILL of native/warden.h. */
const WARDEN_KILL = 255;

/** Orders a warden to end all that it holds, whatever that forks meanwhile. False: it is gone. */
export function wardenKill(control: number): boolean {
  return addon.wardenOrder(control, WARDEN_KILL) === 0;
}

const EPERM = 1;
const ESRCH = 3;

/** Whether it took effect; with signal 0, whether anybody is there. */
function isKilled(result: number, signal: number): boolean {
  if (result === -EPERM) return signal === 0;
  return result === -ESRCH ? false : check(result, 'kill') === 0;
}

/** kill(2). False: no such process, or one of another user (sudo). Zombies count as there. @throws EINVAL (pid ≤ 1). */
export function killProcess(pid: number, signal: number): boolean {
  return isKilled(addon.kill(pid, signal), signal);
}

/** kill(2) to the whole group. False: no such group, or all of it is another user's. @throws EINVAL (pgid ≤ 1). */
export function killGroup(pgid: number, signal: number): boolean {
  return isKilled(addon.killGroup(pgid, signal), signal);
}

/** Clock ticks from boot to the start of that process: with the pid it names one process for ever. `undefined`: it is gone. */
export function processStartTicks(pid: number): number | undefined {
  const result = addon.startTicks(pid);
  return result < 0 ? undefined : result;
}

/** Ends this process by `signal`, without a core file. Returns only for a signal that does not end a process. */
export function dieBySignal(signal: number): void {
  addon.dieBy(signal);
}

/** Orphaned descendants become children of this process from now on (PR_SET_CHILD_SUBREAPER). */
export function setSubreaper(): void {
  check(addon.becomeSubreaper(), 'prctl');
}

/** This process gets `signal` when its parent ends (PR_SET_PDEATHSIG). */
export function followParent(signal: number): void {
  check(addon.followParent(signal), 'prctl');
}

/** Leads a session of its own. @throws EPERM for a process-group leader. */
export function setsid(): void {
  check(addon.setsid(), 'setsid');
}

export function umask(): number {
  return addon.umask();
}

// --- readiness ---

export interface Readiness {
  readable: boolean;
  writable: boolean;
  /** The peer is gone (EPOLLHUP, EPOLLRDHUP, EPOLLERR). What it had sent may still be there to read. */
  hangup: boolean;
}

const EPOLLIN = 0x1;
const EPOLLOUT = 0x4;
const EPOLLERR = 0x8;
const EPOLLHUP = 0x10;
const EPOLLRDHUP = 0x2000;

const watchers = new Map<number, (ready: Readiness) => void>();
let ready: Int32Array | undefined;

function dispatch(count: number): void {
  for (let i = 0; i < count; i++) {
    const fd = ready?.[2 * i] ?? -1;
    const events = ready?.[2 * i + 1] ?? 0;
    // A watcher earlier in this batch may have closed fd, and its number may be in use again: then this readiness is false, which
    // every watcher bears, since all reads and writes can answer "would block".
    watchers.get(fd)?.({
      readable: (events & EPOLLIN) !== 0,
      writable: (events & EPOLLOUT) !== 0,
      hangup: (events & (EPOLLHUP | EPOLLRDHUP | EPOLLERR)) !== 0,
    });
  }
}

/** Watches a descriptor (level-triggered) without handing it to libuv. A second call changes what is waited for. */
export function watch(fd: number, on: { readable?: boolean; writable?: boolean }, callback: (ready: Readiness) => void): void {
  if (ready === undefined) {
    const pairs = new Int32Array(128);
    check(addon.startPoller(dispatch, pairs), 'epoll_create1');
    ready = pairs;
  }
  const events = (on.readable === true ? EPOLLIN | EPOLLRDHUP : 0) | (on.writable === true ? EPOLLOUT : 0);
  check(addon.watch(fd, events, watchers.has(fd) ? 2 : 1), 'epoll_ctl');
  watchers.set(fd, callback);
}

/** Must come before the descriptor is closed. Safe to call twice. */
export function unwatch(fd: number): void {
  if (watchers.delete(fd)) check(addon.watch(fd, 0, 3), 'epoll_ctl');
}

/** Test builds only: makes the `nth` next call of one syscall fail with `errno`. False: this build cannot. */
export function armFault(call: string, errno: number, nth: number): boolean {
  if (addon.fault === undefined) return false;
  addon.fault(Buffer.from(call), errno, nth);
  return true;
}
