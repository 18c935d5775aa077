// Pins native/spawn_child.c: every attribute of a target is the asked one, none is inherited from the agent by chance.

import { closeSync, constants, mkdirSync, openSync, rmdirSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { needs } from '../../harness/needs.js';
import { isAlive } from '../../harness/processes.js';
import { expectNoDescriptorsLeft } from './descriptors.js';
import { outputOf, scratch, start, type TargetOptions } from './targets.js';

const SIGHUP = 1;
const SIGUSR1 = 10;
const SIGRTMAX = 64;
const RLIMIT_CPU = 0;
const RLIMIT_NOFILE = 7;

/** One line of the target's /proc/self/status. */
async function status(key: string, options: TargetOptions = {}): Promise<string> {
  const found = new RegExp(`^${key}:\\s*(.*)$`, 'm').exec(await outputOf(['cat', '/proc/self/status'], options));
  return found?.[1] ?? '';
}

const NO_SIGNALS = '0'.repeat(16);

describe('a target', () => {
  expectNoDescriptorsLeft();

  it('leads a process group of its own in our session', async () => {
    const script = 'ps -o pid=,pgid=,sid= -p $$; ps -o sid= -p $PPID';
    const [own = '', ours = ''] = (await outputOf(['sh', '-c', script])).split('\n');
    const [pid, pgid, sid] = own.trim().split(/\s+/);
    expect(pgid).toBe(pid);
    expect(sid).toBe(ours.trim());
  });

  describe('while we ignore and catch signals', () => {
    const handler = (): void => {};
    beforeEach(() => {
      process.on('SIGUSR1', handler);
      process.on('SIGHUP', handler);
    });
    afterEach(() => {
      process.off('SIGUSR1', handler);
      process.off('SIGHUP', handler);
    });

    it('has no signal blocked, ignored or caught', async () => {
      expect(await status('SigBlk')).toBe(NO_SIGNALS);
      expect(await status('SigIgn')).toBe(NO_SIGNALS);
      expect(await status('SigCgt')).toBe(NO_SIGNALS);
    });

    it('ignores exactly the signals that are asked for, 32, 33 and real-time ones too', async () => {
      const ignored = [SIGHUP, SIGUSR1, 32, 33, 34, SIGRTMAX];
      const mask = ignored.reduce((sum, signal) => sum | (1n << BigInt(signal - 1)), 0n);
      expect(await status('SigIgn', { ignored })).toBe(mask.toString(16).padStart(16, '0'));
      const all = Array.from({ length: 64 }, (_, index) => index + 1);
      expect(await status('SigIgn', { ignored: all })).toBe((0xffffffffffffffffn & ~(1n << 8n) & ~(1n << 18n)).toString(16));
      expect(await status('SigIgn')).toBe(NO_SIGNALS);
    });
  });

  it('has the umask, limits and nice value that are asked for', async () => {
    expect(await outputOf(['sh', '-c', 'umask'], { umask: 0o027 })).toBe('0027\n');
    expect(
      await outputOf(['sh', '-c', 'ulimit -Sn; ulimit -Hn; ulimit -St'], { limits: [RLIMIT_NOFILE, 64, 128, RLIMIT_CPU, 100, Infinity] }),
    ).toBe('64\n128\n100\n');
    expect(await outputOf(['nice'], { nice: 7 })).toBe('7\n');
    expect(await outputOf(['nice'])).toBe(`${getPriority()}\n`);
  });

  it('may be given a nice value below ours', async (test) => {
    needs(test, 'root');
    expect(await outputOf(['nice'], { nice: -3 })).toBe('-3\n');
  });

  it('stands in its directory, given by path or by descriptor', async () => {
    const directory = scratch();
    expect(await outputOf(['pwd', '-P'], { cwd: directory })).toBe(`${directory}\n`);
    for (const flags of [constants.O_RDONLY, 0o10000000 /* O_PATH */]) {
      const fd = openSync(directory, flags | constants.O_DIRECTORY);
      expect(await outputOf(['pwd', '-P'], { cwd: fd })).toBe(`${directory}\n`);
      closeSync(fd);
    }
  });

  it('stands in a directory that is deleted', async () => {
    const directory = join(scratch(), 'deleted');
    mkdirSync(directory);
    const fd = openSync(directory, 'r');
    rmdirSync(directory);
    expect(await outputOf(['readlink', '/proc/self/cwd'], { cwd: fd })).toBe(`${directory} (deleted)\n`);
    closeSync(fd);
  });

  it('stands in / where its directory cannot be entered and that is no failure', async () => {
    const directory = scratch();
    writeFileSync(join(directory, 'file'), '');
    expect(await outputOf(['pwd', '-P'], { cwd: directory, cwdOrRoot: true })).toBe(`${directory}\n`);
    for (const name of ['none', 'file', 'x'.repeat(300)])
      expect(await outputOf(['pwd', '-P'], { cwd: join(directory, name), cwdOrRoot: true })).toBe('/\n');
  });

  it('cannot reach a descriptor of ours through its directory', () => {
    const directory = openSync('/', 'r');
    const { result } = start(['true'], { cwd: `/proc/self/fd/${directory}` });
    closeSync(directory);
    expect(result.started).toBe(false);
  });

  it('dies with us', async () => {
    // PR_SET_PDEATHSIG is not in /proc; the target asks for it.
    const script = 'import ctypes; v = ctypes.c_int(); ctypes.CDLL(None).prctl(2, ctypes.byref(v)); print(v.value)';
    expect(await outputOf(['python3', '-c', script], { path: process.env['PATH'] })).toBe('9\n');
  });

  it('is at its program when it counts as started', () => {
    const { result } = start(['sleep', '600']);
    if (!result.started) throw new Error('not started');
    expect(isAlive(result.pid)).toBe(true);
  });
});
