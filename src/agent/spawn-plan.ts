// From a request and its session to what the native part executes.

import type { SpawnRequest } from '../native/spawn.js';
import { TerminalKind } from '../protocol/numbers.js';
import type { RunRequest } from '../protocol/run.js';
import type { BaseEnvironment, TargetEnvironment } from './base-environment.js';
import type { FunctionPlace } from './captured.js';
import type { Containment } from './containment.js';
import { directoryOf } from './directory.js';

/** What all targets of a session share. */
export interface SpawnPlan {
  base: BaseEnvironment;
  /** What Node changed about itself, as it was before: (resource, soft, hard) triples. */
  limits: Float64Array;
  /** Shell functions of the environment, latin1, and why none is a command: for the error message of a name that is not found. */
  functions: ReadonlyMap<string, FunctionPlace>;
  /** The PATH of the target that was planned last, for its error message; with a final NUL. */
  lastPath: Buffer | undefined;
}

const INFINITY = 0xffffffffffffffffn;

const toNumber = (value: bigint): number => (value === INFINITY ? Number.POSITIVE_INFINITY : Number(value));

/** A program name as execve(2) wants it. */
function terminated(bytes: Buffer): Buffer {
  const result = Buffer.allocUnsafe(bytes.length + 1);
  result[bytes.copy(result)] = 0;
  return result;
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
  environment: TargetEnvironment = plan.base.forTarget(run.env, run.exact, directoryOf(run.cwd).text),
): SpawnRequest {
  const passed = run.cwdByDescriptor ? fds.slice(0, -1) : fds;
  plan.lastPath = environment.path;
  return {
    program: run.program.length > 0 ? terminated(run.program) : undefined,
    searchPath: environment.path,
    before: undefined,
    argv: run.argv,
    env: environment,
    cwd: run.cwdByDescriptor ? undefined : directoryOf(run.cwd).path,
    cwdFd: run.cwdByDescriptor ? (fds.at(-1) ?? -1) : -1,
    cwdOrRoot: false,
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
