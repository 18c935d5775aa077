// The harness is what says that nothing is left; so it must see each kind of leftover.

import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../harness/eventually.js';
import { Leftovers } from '../../harness/leftovers.js';
import { descendantsOf, findProcess, isAlive, markedProcesses } from '../../harness/processes.js';
import { Running } from '../../harness/running.js';

const WITHIN_MS = 200;
let folder: string;
let leftovers: Leftovers;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'hf-leftovers-'));
  mkdirSync(join(folder, 'run'));
  leftovers = new Leftovers(folder, join(folder, 'run'), WITHIN_MS);
  leftovers.startTest();
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function sleeper(options: { env?: Record<string, string>; cwd?: string }): Running {
  const running = new Running(['sleep', '600'], {}, { cwd: '/', stdout: 'ignore', stderr: 'ignore', ...options });
  return running;
}

describe('a process that is left', () => {
  it.each([
    ['its environment', () => sleeper({ env: { MARK: folder } })],
    ['its directory', () => sleeper({ cwd: folder })],
    ['its arguments', () => new Running(['tail', '-f', '/dev/null', `--pid=${process.pid}`, '--', join(folder, 'run')], {}, { cwd: '/' })],
  ])('is found by %s, told, and ended', async (_, start) => {
    const left = start();
    await eventually(() => expect(markedProcesses(folder).map(({ pid }) => pid)).toContain(left.pid));
    await expect(leftovers.check([])).rejects.toThrow(`processes are left: ${left.pid} `);
    await left.exited;
    expect(isAlive(left.pid)).toBe(false);
  });

  it('is found without a mark when it was expected to be gone', async () => {
    const left = sleeper({});
    const seen = findProcess(left.pid);
    if (seen === undefined) throw new Error('it did not start');
    leftovers.expectGone([seen]);
    await expect(leftovers.check([])).rejects.toThrow(`processes are left: ${left.pid} `);
    await left.exited;
  });

  it('is a descendant of the one that started it', async () => {
    const shell = spawn('sh', ['-c', 'sleep 600 & wait'], { stdio: 'ignore' });
    const children = await eventually(() => {
      const found = descendantsOf(process.pid).filter(({ command }) => command === 'sleep 600');
      expect(found).toHaveLength(1);
      return found;
    });
    for (const { pid } of children) process.kill(pid, 'SIGKILL');
    await new Promise((resolve) => shell.once('exit', resolve));
  });
});

describe('what is left beside processes', () => {
  it('a socket in the runtime directory is told', async () => {
    writeFileSync(join(folder, 'run/web.sock'), '');
    await expect(leftovers.check([])).rejects.toThrow('files are left in the runtime directory: web.sock');
  });

  it('a log may stay', async () => {
    writeFileSync(join(folder, 'run/web.log'), '');
    await leftovers.check([]);
  });

  it('a descriptor of the test itself is told', async () => {
    const fd = openSync('/dev/null', 'r');
    await expect(leftovers.check([])).rejects.toThrow(`descriptors are left in the test itself: ${fd} /dev/null`);
    closeSync(fd);
    await leftovers.check([]);
  });

  it('a terminal of the test itself is told', async () => {
    const fd = openSync('/dev/ptmx', 'r');
    await expect(leftovers.check([])).rejects.toThrow(`descriptors are left in the test itself: ${fd} /dev/`);
    closeSync(fd);
  });
});
