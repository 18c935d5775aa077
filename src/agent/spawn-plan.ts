// From a request and its session to what the native part executes. Checks what only the agent can judge: the directory.

import type { SpawnRequest } from '../native/spawn.js';
import { TerminalKind } from '../protocol/numbers.js';
import type { RunRequest } from '../protocol/run.js';
import type { BaseEnvironment, TargetEnvironment } from './base-environment.js';
import type { FunctionPlace } from './captured.js';
import type { Containment } from './containment.js';

/** What all targets of a session share. */
export interface SpawnPlan {
  base: BaseEnvironment;
  /** What Node changed about itself, as it was before: (resource, soft, hard) triples. */
  limits: Float64Array;
  /** Shell functions of the environment, latin1, and why none is a command: for the error message of a name that is not found. */
  functions: ReadonlyMap<string, FunctionPlace>;
  /** The PATH of the target that was planned last, for its error message. */
  lastPath: Buffer | undefined;
}

const INFINITY = 0xffffffffffffffffn;

const toNumber = (value: bigint): number => (value === INFINITY ? Number.POSITIVE_INFINITY : Number(value));

/** A program name or directory as execve(2) wants it. */
function terminated(bytes: Buffer): Buffer {
  const result = Buffer.allocUnsafe(bytes.length + 1);
  result[bytes.copy(result)] = 0;
  return result;
}

/**
 * A directory that would be looked up in the agent's own process: it could name a descriptor of the agent, or of another
 * request. (The native part changes directory only after it has closed them, so a symbolic link there leads nowhere.)
 */
export function isInsideProcess(cwd: string): boolean {
  if (!cwd.includes('/proc/') && !cwd.includes('/dev/')) return false; // most by far, and each command asks
  const normal = cwd.replace(/\/+(\.\/+)*/g, '/');
  return /^\/proc\/(self|thread-self|\d+)(\/|$)/.test(normal) || /^\/dev\/fd(\/|$)/.test(normal);
}

function limitsOf(plan: SpawnPlan, run: RunRequest): Float64Array {
  if (run.limits.length === 0) return plan.limits;
  const limits = [...plan.limits];
  for (const { resource, soft, hard } of run.limits) limits.push(resource, toNumber(soft), toNumber(hard));
  return new Float64Array(limits);
}

/**
 * All buffers and descriptors are borrowed for the time of the spawn.
 *
 * @param environment a wrapper may have another one, and be looked up elsewhere.
 */
export function toSpawnRequest(
  plan: SpawnPlan,
  run: RunRequest,
  fds: readonly number[],
  containment: Containment,
  environment: TargetEnvironment = plan.base.forTarget(run.env, run.exact, run.cwd.toString('latin1')),
): SpawnRequest {
  const passed = run.cwdByDescriptor ? fds.slice(0, -1) : fds;
  plan.lastPath = environment.path?.subarray(0, -1);
  return {
    program: run.program.length > 0 ? terminated(run.program) : run.argv.block.subarray(0, run.argv.block.indexOf(0) + 1),
    searchPath: environment.path,
    argv: run.argv,
    env: environment,
    cwd: run.cwdByDescriptor ? undefined : terminated(run.cwd),
    cwdFd: run.cwdByDescriptor ? (fds.at(-1) ?? -1) : -1,
    fds: passed,
    numbers: run.fds,
    umask: run.umask,
    ignored: run.ignored,
    nice: run.nice,
    terminal: TerminalKind[run.terminal.kind === 'plain' ? 'PLAIN' : run.terminal.kind === 'pty' ? 'PTY' : 'HANDOVER'],
    terminalFd: run.terminal.kind === 'plain' ? 0 : run.terminal.fd,
    limits: limitsOf(plan, run),
    cgroupFd: containment.cgroupFd,
    warden: containment.warden,
  };
}
