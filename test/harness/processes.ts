// What /proc says: which processes belong to a test, what descriptors they have.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface ProcessSeen {
  pid: number;
  ppid: number;
  /** Clock ticks since boot; with the pid it names a process for good. */
  startTicks: number;
  state: string;
  command: string;
}

/** `undefined`: there is no such process (any more). */
export function findProcess(pid: number): ProcessSeen | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name is in parentheses and may hold anything, so fields are counted from the last one.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim() || stat.slice(0, stat.lastIndexOf(')') + 1);
    return { pid, ppid: Number(fields[1]), startTicks: Number(fields[19]), state: fields[0] ?? '?', command };
  } catch {
    return undefined;
  }
}

/** Zombies count as gone: in a container, pid 1 may take two seconds to reap an orphan. */
export function isAlive(pid: number, startTicks?: number): boolean {
  const seen = findProcess(pid);
  if (seen === undefined || seen.state === 'Z' || seen.state === 'X') return false;
  return startTicks === undefined || seen.startTicks === startTicks;
}

export function allProcesses(): ProcessSeen[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    return findProcess(Number(name)) ?? [];
  });
}

/** All that descend from `pid` by parenthood, dead ones not counted. An orphan has left the tree: see `markedProcesses`. */
export function descendantsOf(pid: number): ProcessSeen[] {
  const all = allProcesses().filter(({ state }) => state !== 'Z');
  const tree = new Set([pid]);
  for (let grew = true; grew; ) {
    const found = all.filter((each) => tree.has(each.ppid) && !tree.has(each.pid));
    for (const each of found) tree.add(each.pid);
    grew = found.length > 0;
  }
  tree.delete(pid);
  return all.filter((each) => tree.has(each.pid));
}

/** Dead children that `pid` has not reaped. */
export function zombiesOf(pid: number): ProcessSeen[] {
  return allProcesses().filter((each) => each.ppid === pid && each.state === 'Z');
}

/** All live processes but this one that carry `mark` (a path) in their arguments, environment, directory or open files. */
export function markedProcesses(mark: string): ProcessSeen[] {
  return allProcesses().filter(({ pid, state }) => pid !== process.pid && state !== 'Z' && isMarked(pid, mark));
}

function isMarked(pid: number, mark: string): boolean {
  try {
    if (readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(mark)) return true;
    if (readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark)) return true;
    if (readlinkSync(`/proc/${pid}/cwd`).startsWith(mark)) return true;
    return [...descriptorsOf(pid).values()].some((target) => target.startsWith(mark));
  } catch {
    // Gone meanwhile, or another user's.
    return false;
  }
}

/** Descriptor number → what it is. */
export function descriptorsOf(pid: number | 'self'): Map<number, string> {
  const found = new Map<number, string>();
  for (const name of readdirSync(`/proc/${pid}/fd`)) {
    try {
      found.set(Number(name), readlinkSync(`/proc/${pid}/fd/${name}`));
    } catch {
      // The one that read the directory, or closed meanwhile.
    }
  }
  return found;
}
