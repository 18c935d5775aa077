// The caller's descriptors that ride on the request. The rules and words of native/client_descriptors.c.

import { closeSync, fstatSync, openSync, readFileSync, readlinkSync } from 'node:fs';

import type { Variables } from '../client/environment.js';
import { HoldfastError } from '../errors.js';
import { fdFlags, isTty } from '../native/descriptors.js';
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

/** What rides on the request, and under which number, in the same order. All are borrowed from the caller, but for `ours`. */
export interface Passed {
  readonly fds: number[];
  readonly numbers: number[];
  readonly ours: number[];
}

/**
 * A closed 0, 1 or 2 is /dev/null by now: Node has seen to that.
 *
 * @throws {HoldfastError} `USAGE`.
 */
export function collectDescriptors(options: RunnerOptions, variables: Variables, jobserver: Jobserver): Passed {
  // A detached command outlives the caller, and must not hold its output.
  const numbers = new Set(options.detach ? [] : [0, 1, 2]);
  for (const fd of options.fds) {
    if (fd <= 2) continue; // passed anyway, open or closed as they are
    if (!isGiven(fd)) throw misuse(`cannot pass descriptor ${fd}: it is not open`, "open it in the shell that calls, as in '5>file'");
    numbers.add(fd);
  }
  for (const fd of listeningDescriptors(options, variables)) {
    if (!isGiven(fd)) {
      throw misuse(`cannot pass descriptor ${fd} of LISTEN_FDS: it is not open`, 'LISTEN_FDS must count the open descriptors from 3 on');
    }
    numbers.add(fd);
  }
  for (const fd of jobserver.fds) numbers.add(fd);
  if (numbers.size > MAX_FDS) {
    throw misuse(
      `cannot pass ${numbers.size} descriptors: a command takes at most ${MAX_FDS} of them`,
      'the kernel passes no more than that in one message',
    );
  }
  const passed: Passed = { fds: [...numbers], numbers: [...numbers], ours: [] };
  if (numbers.has(0) && isBackgroundTerminal(0)) {
    // The target is not subject to that terminal's job control, and would read the shell's keys. The C client makes a
    // pseudo-terminal here; we cannot.
    const nothing = openSync('/dev/null', 'r');
    passed.ours.push(nothing);
    passed.fds[0] = nothing;
  }
  return passed;
}

/**
 * Lets go of all that was passed: a target that closes its output is to be seen to do so, though we live on. Messages still need 2.
 * Nothing may use 0 and 1 after this.
 */
export function releaseDescriptors({ numbers, ours }: Passed): void {
  for (const fd of ours) closeSync(fd);
  for (const fd of numbers) {
    if (fd === 2) continue;
    closeSync(fd);
    // The lowest free number is this one, so no descriptor of our own can become 0 or 1.
    if (fd < 2) openSync('/dev/null', 'r+');
  }
}

/**
 * As Node ends, it sets the terminals it was started on back to their modes, and aborts when one has been hung up meanwhile (its
 * ResetStdio; not when it is closed). No word can be said after this.
 */
export function releaseHungUpTerminal(): void {
  try {
    if (fstatSync(2).isCharacterDevice() && !isTty(2)) closeSync(2);
  } catch {
    // It is closed.
  }
}

/** Whether `fd` is our controlling terminal, and another process group has its foreground. */
function isBackgroundTerminal(fd: number): boolean {
  if (!isTty(fd)) return false;
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const [, , group, , terminal, foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(terminal) === fstatSync(fd).rdev && foreground !== group;
  } catch {
    return false;
  }
}

/** LISTEN_FDS by name takes the sockets along. LISTEN_PID must name the target, whose pid nobody knows before the fork. */
function listeningDescriptors({ env }: RunnerOptions, variables: Variables): number[] {
  if (!env.some((option) => option.kind === 'pass' && option.name === 'LISTEN_FDS')) return [];
  const count = findNumber(variables.find('LISTEN_FDS')?.toString('latin1') ?? '', 0x3fffffff) ?? 0;
  return Array.from({ length: Math.min(count, MAX_FDS + 1) }, (_, index) => LISTEN_FDS_START + index);
}

function misuse(message: string, hint: string): HoldfastError {
  return new HoldfastError('USAGE', message, { hint });
}
