// Who descends from whom, read from /proc. Used where no cgroup can tell: to find what a session's targets left behind.
// Orphans come to the agent, which is their subreaper, so nothing escapes this search by forking twice or by setsid.

import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessFacts {
  pid: number;
  state: string;
  ppid: number;
  pgid: number;
}

/** Fields 3 to 5 of /proc/PID/stat (proc(5)); `undefined`: it is gone. */
export function processFacts(pid: number): ProcessFacts | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // Field 2 may hold blanks and brackets.
  const [state = '', ppid, pgid] = text.slice(text.lastIndexOf(')') + 2).split(' ', 3);
  return { pid, state, ppid: Number(ppid), pgid: Number(pgid) };
}

/** Every process that is there now. Zombies are left out: they hold nothing and wait for their parent. */
export function livingProcesses(): ProcessFacts[] {
  const found: ProcessFacts[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const facts = processFacts(Number(name));
    if (facts !== undefined && facts.state !== 'Z' && facts.state !== 'X') found.push(facts);
  }
  return found;
}

/** All living descendants of `root`, without it. */
export function descendantsOf(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const { pid, ppid } of livingProcesses()) {
    const siblings = children.get(ppid);
    if (siblings === undefined) children.set(ppid, [pid]);
    else siblings.push(pid);
  }
  const found: number[] = [];
  for (const todo = [root]; todo.length > 0; ) {
    const below = children.get(todo.pop() ?? 0) ?? [];
    found.push(...below);
    todo.push(...below);
  }
  return found;
}

/** The living members of a process group. */
export function groupMembers(pgid: number): number[] {
  return livingProcesses()
    .filter((process) => process.pgid === pgid)
    .map((process) => process.pid);
}
