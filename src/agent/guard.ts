// The session's guard: a tiny process that outlives the agent by an instant, to end what an agent killed outright leaves in the
// session's cgroup (native/guard.c). Its only tie to the agent is a pipe whose end it waits for.

import { installed } from '../install.js';
import { closeFd, makePipe } from '../native/descriptors.js';
import { spawn } from '../native/spawn.js';
import { packStrings } from '../protocol/strings.js';

export interface Guard {
  readonly pid: number;
  /** Our end of the pipe, CLOEXEC; it is the guard's sign that this process lives. */
  readonly pipe: number;
}

/** `undefined` where it cannot be started: then only an orderly end cleans up. */
export function startGuard(cgroup: string): Guard | undefined {
  const pipe = makePipe();
  const result = spawn({
    program: Buffer.from(`${installed.runnerExec}\0`),
    searchPath: undefined,
    argv: packStrings([installed.runnerExec, '__guard', cgroup]),
    env: packStrings([]),
    cwd: Buffer.from('/\0'),
    cwdFd: -1,
    fds: [pipe.read],
    numbers: [0],
    umask: 0o077,
    ignored: 0n,
    nice: undefined,
    terminal: 0,
    terminalFd: 0,
    limits: new Float64Array(0),
    cgroupFd: -1,
    warden: undefined,
  });
  closeFd(pipe.read);
  if (result.started) {
    if (result.pidfd >= 0) closeFd(result.pidfd);
    return { pid: result.pid, pipe: pipe.write };
  }
  closeFd(pipe.write);
  process.stderr.write(`holdfast: no guard for the session's cgroup: errno ${result.errno}\n`);
  return undefined;
}
