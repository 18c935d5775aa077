// GNU make's job server, as the make that calls us announces it in MAKEFLAGS (make manual, "Sharing Job Slots").
// The rules and words of native/client_jobserver.c.

import type { Variables } from '../client/environment.js';
import { HoldfastError } from '../errors.js';
import type { RunnerOptions } from './runner-exec-options.js';
import { findNumber } from './runner-exec-values.js';

export interface Jobserver {
  /** MAKEFLAGS, MFLAGS and MAKELEVEL are to be passed. */
  readonly there: boolean;
  /** Of a pipe, read and write end; none for the fifo style. */
  readonly fds: readonly number[];
}

const NONE: Jobserver = { there: false, fds: [] };

/** @throws {HoldfastError} `USAGE` when `--jobserver` asks for one and there is none. */
export function findJobserver(options: RunnerOptions, variables: Variables, isOpen: (fd: number) => boolean): Jobserver {
  const { jobserver } = options;
  // A job outlives the make that calls, and would keep its slots' pipe open, or a slot itself.
  const unwanted = options.exact || options.detach;
  if (jobserver === 'off' || (unwanted && jobserver !== 'required')) return NONE;
  const found = readAnnouncement(variables.find('MAKEFLAGS')?.toString('latin1'), isOpen);
  if (typeof found !== 'string') return found;
  if (jobserver !== 'required') return NONE;
  throw new HoldfastError('USAGE', `there is no job server: ${found}`, {
    hint: "put a '+' in front of the recipe line, or leave '--jobserver' out",
  });
}

/** The job server, or why there is none. Make itself goes by the last announcement; "--jobserver-fds" is make before 4.2. */
function readAnnouncement(flags: string | undefined, isOpen: (fd: number) => boolean): Jobserver | string {
  const text = flags === undefined ? undefined : [...flags.matchAll(/--jobserver-(?:auth|fds)=([^ ]*)/g)].at(-1)?.[1];
  if (text === undefined) return 'MAKEFLAGS announces none';
  if (text.startsWith('fifo:')) return { there: true, fds: [] };
  // Make writes negative numbers when it has taken the server away; they are no numbers here.
  const fds = text.split(',').map((number) => findNumber(number, 0x7fffffff));
  const [read, write] = fds;
  if (fds.length !== 2 || read === undefined || write === undefined) return 'the make above has none to share';
  // Make closes them for a recipe line that it does not take for a make.
  return isOpen(read) && isOpen(write) ? { there: true, fds: [read, write] } : 'make did not pass its descriptors to this recipe line';
}
