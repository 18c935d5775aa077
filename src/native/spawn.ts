// Starting a target: native/spawn.c, and warden_spawn.c where one stands between.

import { addon, check, EINVAL, NativeError } from '../native.js';

/** The order is that of `enum scalar` in native/addon_process.c. */
const SCALARS = 14;
const scalars = new Int32Array(SCALARS);
const spawnFds = new Int32Array(253);
const spawnNumbers = new Int32Array(253);
const spawnOut = new Int32Array(6);
const subject = Buffer.alloc(4096);

/** All byte strings end with one NUL; all descriptors are borrowed for the time of the call. */
export interface SpawnRequest {
  /** With a slash: relative to the target's directory. Without: looked up in `searchPath`. `undefined`: the first word. */
  program: Buffer | undefined;
  /** PATH of the target; `undefined` when it has none. */
  searchPath: Buffer | undefined;
  /** Words in front of those of `argv`; `undefined`: none. */
  before: { count: number; block: Buffer } | undefined;
  argv: { count: number; block: Buffer };
  env: { count: number; block: Buffer };
  /** Absolute, or `undefined`: `cwdFd` is the directory. */
  cwd: Buffer | undefined;
  cwdFd: number;
  /** A `cwd` that cannot be entered is no failure: the target is in `/`. */
  cwdOrRoot: boolean;
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

/** A request with nothing special about it: in `/`, without descriptors, its environment and its limits ours to say. */
export const PLAIN: Omit<SpawnRequest, 'argv' | 'env'> = {
  program: undefined,
  searchPath: undefined,
  before: undefined,
  cwd: Buffer.from('/\0'),
  cwdFd: -1,
  cwdOrRoot: false,
  fds: [],
  numbers: [],
  umask: 0o077,
  ignored: 0n,
  nice: undefined,
  terminal: 0,
  terminalFd: 0,
  limits: new Float64Array(0),
  cgroupFd: -1,
  warden: undefined,
};

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
  scalars[12] = request.cwdOrRoot ? 1 : 0;
  scalars[13] = request.before?.count ?? 0;
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
      request.before?.block,
    ),
    'spawn',
  );
  const step = spawnOut[2] ?? 0;
  if (step !== 0) return { started: false, step, errno: spawnOut[3] ?? 0, subject: Buffer.from(subject.subarray(0, subject.indexOf(0))) };
  const control = spawnOut[5] ?? -1;
  const warden = control === -1 ? undefined : { pid: spawnOut[4] ?? -1, control };
  return { started: true, pid: spawnOut[0] ?? -1, pidfd: spawnOut[1] ?? -1, warden };
}
