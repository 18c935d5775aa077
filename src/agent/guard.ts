// The session's guard: a tiny process that outlives the agent by an instant, to end what an agent killed outright leaves in the
// session's cgroup (native/guard.c). Its only tie to the agent is a pipe whose end it waits for.

import { installed } from '../install.js';
import { closeFd, makePipe } from '../native/descriptors.js';
import { PLAIN, spawn } from '../native/spawn.js';
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
    ...PLAIN,
    program: Buffer.from(`${installed.runnerExec}\0`),
    argv: packStrings([installed.runnerExec, '__guard', cgroup]),
    env: packStrings([]),
    fds: [pipe.read],
    numbers: [0],
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
