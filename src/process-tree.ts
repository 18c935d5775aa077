// Who descends from whom, and how to end them all. Read from /proc; zombies are left out: they hold nothing and wait for their parent.

import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { killProcess } from './native/processes.js';

const SIGKILL = 9;
const SIGTERM = 15;
const SIGCONT = 18;

export interface ProcessFacts {
  readonly pid: number;
  readonly state: string;
  readonly ppid: number;
  readonly pgid: number;
  /** The session, in the sense of setsid(2). */
  readonly sid: number;
  /** With the pid it names one process for ever. */
  readonly startTicks: number;
}

/** Fields of /proc/PID/stat (proc(5)); `undefined`: it is gone. */
export function findProcess(pid: number): ProcessFacts | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // Field 2 may hold blanks and brackets; field 3 follows the last bracket.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return {
    pid,
    state: fields[0] ?? '',
    ppid: Number(fields[1]),
    pgid: Number(fields[2]),
    sid: Number(fields[3]),
    startTicks: Number(fields[19]),
  };
}

/** @param startTicks tells it from a later process with the same number. */
export function isAlive(pid: number, startTicks?: number): boolean {
  const facts = findProcess(pid);
  if (facts === undefined || !isLiving(facts)) return false;
  return startTicks === undefined || facts.startTicks === startTicks;
}

export function livingProcesses(): ProcessFacts[] {
  const found: ProcessFacts[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const facts = findProcess(Number(name));
    if (facts !== undefined && isLiving(facts)) found.push(facts);
  }
  return found;
}

/** The living descendants of `root`, parents before children; without `root`. */
export function descendantsOf(root: number): ProcessFacts[] {
  const children = new Map<number, ProcessFacts[]>();
  for (const process of livingProcesses()) {
    const siblings = children.get(process.ppid);
    if (siblings === undefined) children.set(process.ppid, [process]);
    else siblings.push(process);
  }
  const found: ProcessFacts[] = [];
  for (const todo = [root]; todo.length > 0; ) {
    const below = children.get(todo.shift() ?? 0) ?? [];
    found.push(...below);
    todo.push(...below.map(({ pid }) => pid));
  }
  return found;
}

/** What processes hold in memory together; pages that they share count for each. Those that have ended count nothing. */
export function residentBytesOf(processes: readonly Pick<ProcessFacts, 'pid'>[]): number {
  let pages = 0;
  for (const { pid } of processes) {
    try {
      pages += Number(readFileSync(`/proc/${pid}/statm`, 'latin1').split(' ')[1]);
    } catch {
      // It has ended.
    }
  }
  return pages * PAGE_BYTES;
}

/** /proc counts in these on every machine that we are built for. */
const PAGE_BYTES = 4096;

/** Whether `pid` is `ancestor`, or came of it, as far as it has not changed its parent. */
export function descendsFrom(pid: number, ancestor: number): boolean {
  for (let at = pid; at > 1; at = findProcess(at)?.ppid ?? 0) if (at === ancestor) return true;
  return false;
}

/** The living members of a process group. */
export function groupMembers(pgid: number): ProcessFacts[] {
  return livingProcesses().filter((process) => process.pgid === pgid);
}

/**
 * Ends all that `find` gives, and goes on until it gives none: TERM once to each, after `graceMs` KILL.
 *
 * @returns what is still there when the kernel does not let them die (state D) within a few seconds more.
 */
export async function endAll(find: () => readonly ProcessFacts[], graceMs: number): Promise<readonly ProcessFacts[]> {
  const startedAt = performance.now();
  const told = new Set<string>();
  for (let waitMs = 5; ; waitMs = Math.min(2 * waitMs, 50)) {
    let left = find();
    // Looked at twice: one look takes time, and misses whoever changes its parent meanwhile.
    if (left.length === 0) left = find();
    if (left.length === 0) return left;
    const elapsedMs = performance.now() - startedAt;
    if (elapsedMs > graceMs + LAST_WAIT_MS) return left;
    for (const { pid, startTicks } of left) {
      if (elapsedMs >= graceMs) killProcess(pid, SIGKILL);
      else if (!told.has(`${pid} ${startTicks}`)) {
        told.add(`${pid} ${startTicks}`);
        killProcess(pid, SIGTERM);
        // A stopped process hears nothing but CONT and KILL.
        killProcess(pid, SIGCONT);
      }
    }
    await sleep(waitMs);
  }
}

const LAST_WAIT_MS = 5_000;

function isLiving({ state }: ProcessFacts): boolean {
  return state !== 'Z' && state !== 'X';
}
