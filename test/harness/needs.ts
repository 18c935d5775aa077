// What a test needs of the machine. Where it is missing, the test is skipped on a laptop, and fails in CI: there everything is
// installed on purpose, and a skipped test would be one that nobody runs.

import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';

/** Things that are not programs on the PATH, and how to see them. */
const FACTS: Record<string, () => boolean> = {
  root: () => process.geteuid?.() === 0,
  // Where the hierarchy is hybrid, v2 is mounted below; so the mount table is asked.
  'cgroup2 (writable)': () =>
    readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .some(([, place, type]) => type === 'cgroup2' && place !== undefined && isWritable(place)),
  'user namespaces': () => spawnSync('unshare', ['--user', '--map-root-user', 'true']).status === 0,
};

/** The first of `things` that this machine lacks. */
export function findLack(...things: string[]): string | undefined {
  return things.find((thing) => !(FACTS[thing] ?? (() => isOnPath(thing)))());
}

/** To be called first in a test. `things`: programs, or names in FACTS. */
export function needs(test: { skip(reason?: string): never }, ...things: string[]): void {
  const lack = findLack(...things);
  if (lack === undefined) return;
  if (process.env.CI) throw new Error(`CI lacks '${lack}'`);
  test.skip(`this machine lacks '${lack}'`);
}

function isOnPath(program: string): boolean {
  const directories = `${process.env.PATH}:/usr/sbin:/sbin`.split(':');
  return directories.some((directory) => existsSync(`${directory}/${program}`));
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
