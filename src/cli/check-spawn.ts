// Starts a program the way the agent does, to see what the kernel really gives: a pidfd, and birth inside a cgroup.

import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

import { type Check, reasonOf } from './check.js';
import { findOwnCgroup } from './check-cgroup.js';

type Native = Awaited<ReturnType<typeof loadNative>>;
type Ending = 'with a pidfd' | 'without a pidfd';

const DEADLINE_MS = 5000;

/** The last of all checks: from here on children are reaped by the addon, so child_process would wait for ever. */
export async function checkSpawn(): Promise<Check[]> {
  let native: Native;
  try {
    native = await loadNative();
  } catch {
    return []; // Said by the check of the addon.
  }
  const ended = new EndedChildren(native);
  return [await checkPidfd(native, ended), ...(await checkBirthInCgroup(native, ended))];
}

/** Only now: without its addon no part of it loads. */
async function loadNative() {
  const { PLAIN, spawn } = await import('../native/spawn.js');
  const { watchChildren } = await import('../native/children.js');
  const { closeFd } = await import('../native/descriptors.js');
  const { openDirectory } = await import('../native/files.js');
  return { PLAIN, spawn, watchChildren, closeFd, openDirectory };
}

async function checkPidfd(native: Native, ended: EndedChildren): Promise<Check> {
  const name = 'pidfd';
  try {
    const result = await runShell(native, ended, -1);
    if (result === 'with a pidfd') return { name, state: 'ok', detail: 'works' };
    const cure = 'allow pidfd_open(2) and clone(2) with CLONE_PIDFD in the seccomp filter that this runs under';
    return { name, state: 'warn', detail: 'a command can be started, but has no pidfd', cure };
  } catch (error) {
    return {
      name,
      state: 'fail',
      detail: `no command can be started: ${reasonOf(error)}`,
      cure: "run 'holdfast doctor' outside a sandbox",
    };
  }
}

/** Says nothing where no cgroup can be made: checkCgroup has said it. */
async function checkBirthInCgroup(native: Native, ended: EndedChildren): Promise<Check[]> {
  const name = 'CLONE_INTO_CGROUP';
  const parent = findOwnCgroup(readFileSync('/proc/self/mountinfo', 'utf8'), readFileSync('/proc/self/cgroup', 'utf8'));
  if (parent === undefined) return [];
  const directory = join(parent, `holdfast-doctor-${process.pid}`);
  try {
    mkdirSync(directory);
  } catch {
    return [];
  }
  try {
    const fd = native.openDirectory(directory);
    try {
      await runShell(native, ended, fd);
      return [{ name, state: 'ok', detail: 'works' }];
    } finally {
      native.closeFd(fd);
    }
  } catch (error) {
    const cure = 'commands are kept together by a small process each instead; to use cgroups, allow clone3(2)';
    return [{ name, state: 'warn', detail: reasonOf(error), cure }];
  } finally {
    rmdirSync(directory);
  }
}

async function runShell(native: Native, ended: EndedChildren, cgroupFd: number): Promise<Ending> {
  const argv = ['sh', '-c', ':'];
  const result = native.spawn({
    ...native.PLAIN,
    program: Buffer.from('/bin/sh\0'),
    argv: { count: argv.length, block: Buffer.from(argv.map((word) => `${word}\0`).join('')) },
    env: { count: 0, block: Buffer.alloc(0) },
    cgroupFd,
  });
  if (!result.started) throw new Error(`step ${result.step}, errno ${result.errno}`);
  if (result.pidfd >= 0) native.closeFd(result.pidfd);
  await ended.wait(result.pid);
  return result.pidfd >= 0 ? 'with a pidfd' : 'without a pidfd';
}

/** Remembers the children that have ended, since one can end before anybody waits for it. */
class EndedChildren {
  readonly #ended = new Set<number>();
  readonly #waiting = new Map<number, () => void>();

  constructor(native: Native) {
    native.watchChildren(({ pid, waitStatus }) => {
      const stillThere = (waitStatus & 0xff) === 0x7f || waitStatus === 0xffff;
      if (stillThere) return;
      this.#ended.add(pid);
      this.#waiting.get(pid)?.();
    });
  }

  wait(pid: number): Promise<void> {
    if (this.#ended.has(pid)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`process ${pid} did not end in ${DEADLINE_MS} ms`)), DEADLINE_MS);
      this.#waiting.set(pid, () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
