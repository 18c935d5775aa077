// Whether a control group can be made for each command: found through mountinfo (also in hybrid set-ups, where cgroup v2 is not
// at /sys/fs/cgroup), and tried by making one.

import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

import { type Check, reasonOf } from './check.js';

const CURE = "commands are kept together by a small process each instead (containment 'warden'); to use cgroups, run under a delegated one";

export function checkCgroup(): Check {
  const place = findOwnCgroup(readFileSync('/proc/self/mountinfo', 'utf8'), readFileSync('/proc/self/cgroup', 'utf8'));
  if (place === undefined) return { name: 'cgroup', state: 'warn', detail: 'no cgroup v2 file system is mounted', cure: CURE };
  const probe = join(place, `holdfast-doctor-${process.pid}`);
  try {
    mkdirSync(probe);
    rmdirSync(probe);
  } catch (error) {
    return { name: 'cgroup', state: 'warn', detail: `v2 at '${place}' is not writable: ${reasonOf(error)}`, cure: CURE };
  }
  return { name: 'cgroup', state: 'ok', detail: `v2 at '${place}', writable` };
}

/** The directory of this process's own cgroup v2, from the texts of /proc/self/mountinfo and /proc/self/cgroup. */
export function findOwnCgroup(mountinfo: string, cgroup: string): string | undefined {
  const own = /^0::(.*)$/m.exec(cgroup)?.[1];
  if (own === undefined) return undefined;
  for (const line of mountinfo.split('\n')) {
    const [before, after] = line.split(' - ');
    if (before === undefined || after?.split(' ')[0] !== 'cgroup2') continue;
    const [, , , root = '/', mountPoint = ''] = before.split(' ');
    // A mount may show only a part of the hierarchy: its root is cut off from our own path, when our path is below it.
    const shown = unescapeOctal(root);
    const inside = shown === '/' ? own : own === shown || own.startsWith(`${shown}/`) ? own.slice(shown.length) : undefined;
    if (inside !== undefined && !inside.startsWith('/..')) return join(unescapeOctal(mountPoint), inside).replace(/(.)\/$/, '$1');
  }
  return undefined;
}

/** mountinfo writes blanks and backslashes as three octal digits. */
function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
