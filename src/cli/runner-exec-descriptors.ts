// The caller's descriptors that ride on the request. The rules and words of native/client_descriptors.c.

import { readlinkSync } from 'node:fs';

import type { Variables } from '../client/environment.js';
import { HoldfastError } from '../errors.js';
import { fdFlags } from '../native.js';
import { MAX_FDS } from '../protocol/limits.js';
import type { Jobserver } from './runner-exec-jobserver.js';
import type { RunnerOptions } from './runner-exec-options.js';
import { findNumber } from './runner-exec-values.js';

/** sd_listen_fds(3). */
const LISTEN_FDS_START = 3;

/**
 * Whether the caller has given us this number. Node opens descriptors of its own before any of our code runs, in whatever numbers
 * are free; those that no caller can have meant are told by what they are.
 */
export function isGiven(fd: number): boolean {
  if (fdFlags(fd) === undefined) return false;
  try {
    return !/^anon_inode:\[(eventpoll|eventfd|io_uring)\]$/.test(readlinkSync(`/proc/self/fd/${fd}`));
  } catch {
    // Without /proc nothing is known to be Node's.
    return true;
  }
}

/**
 * The numbers to pass, the same here and in the target. A closed 0, 1 or 2 is /dev/null by now: Node has seen to that.
 *
 * @throws {HoldfastError} `USAGE`.
 */
export function collectDescriptors(options: RunnerOptions, variables: Variables, jobserver: Jobserver): number[] {
  // A detached command outlives the caller, and must not hold its output.
  const fds = new Set(options.detach ? [] : [0, 1, 2]);
  for (const fd of options.fds) {
    if (fd <= 2) continue; // passed anyway, open or closed as they are
    if (!isGiven(fd)) throw notOpen(`cannot pass descriptor ${fd}: it is not open`, "open it in the shell that calls, as in '5>file'");
    fds.add(fd);
  }
  for (const fd of listeningDescriptors(options, variables)) {
    if (!isGiven(fd)) {
      throw notOpen(`cannot pass descriptor ${fd} of LISTEN_FDS: it is not open`, 'LISTEN_FDS must count the open descriptors from 3 on');
    }
    fds.add(fd);
  }
  for (const fd of jobserver.fds) fds.add(fd);
  if (fds.size > MAX_FDS) {
    throw notOpen(`cannot pass ${fds.size} descriptors: a command takes at most ${MAX_FDS} of them`, 'the kernel passes no more than that in one message');
  }
  return [...fds];
}

/** LISTEN_FDS by name takes the sockets along. LISTEN_PID must name the target, whose pid nobody knows before the fork. */
function listeningDescriptors({ env }: RunnerOptions, variables: Variables): number[] {
  if (!env.some((option) => option.kind === 'pass' && option.name === 'LISTEN_FDS')) return [];
  const count = findNumber(variables.find('LISTEN_FDS')?.toString('latin1') ?? '', 0x3fffffff) ?? 0;
  return Array.from({ length: Math.min(count, MAX_FDS + 1) }, (_, index) => LISTEN_FDS_START + index);
}

function notOpen(message: string, hint: string): HoldfastError {
  return new HoldfastError('USAGE', message, { hint });
}
