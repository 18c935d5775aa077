// What is left to do for a target whose agent is gone: it ends too. Its pidfd holds its number, so that nobody else is hit.
// Where the kernel has already told its reaper how it ended, only the C client (PIDFD_GET_INFO) can still find out.

import { readFileSync } from 'node:fs';

import { killGroup } from '../native/processes.js';
import { decodeWaitStatus, type Ending, isEnding } from '../protocol/outcome.js';

const SIGKILL = 9;

/**
 * Kills the target's process group if the target is alive; says how it ended where it had ended before and nobody has reaped it.
 *
 * @param pidfd borrowed.
 */
export function settleLost(pidfd: number): Ending | undefined {
  try {
    // As we see it: the agent's word for the number may be of another pid namespace. Not above 1: unseen from here, or reaped.
    const pid = Number(/^Pid:\s*(-?\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${pidfd}`, 'latin1'))?.[1] ?? -1);
    if (pid <= 1) return undefined;
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name, in parentheses, may hold anything.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .trimEnd()
      .split(' ');
    if (fields[0] !== 'Z') {
      killGroup(pid, SIGKILL);
      return undefined;
    }
    const waitStatus = Number(fields.at(-1));
    return isEnding(waitStatus) ? decodeWaitStatus(waitStatus) : undefined;
  } catch {
    // Gone meanwhile.
    return undefined;
  }
}
