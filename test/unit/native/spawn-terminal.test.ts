// Pins native/spawn_child.c: a terminal that is handed over becomes the target's controlling one, with a session of its own.

import { closeSync, constants, openSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Step } from '../../../src/protocol/numbers.js';
import { Terminal } from '../../harness/terminal.js';
import { failureOf, outputOf, scratch, start } from './targets.js';

const EPERM = 1;
const HANDOVER = 1;
const PTY = 2;

/** A terminal that nobody has for its controlling one: its program has let go of it. */
async function freeTerminal(): Promise<{ slave: number; terminal: Terminal }> {
  const script =
    'import fcntl, signal, termios, time; signal.signal(1, 1); fcntl.ioctl(0, termios.TIOCNOTTY); print("free"); time.sleep(600)';
  const terminal = new Terminal(['python3', '-uc', script], {
    env: { PATH: process.env['PATH'] ?? '', TERM: 'dumb' },
    cwd: scratch(),
    columns: 90,
    rows: 30,
  });
  onTestFinished(async () => {
    process.kill(terminal.pid, 'SIGKILL');
    await terminal.exited;
    terminal.close();
  });
  await terminal.sees('free');
  const slave = openSync(terminal.device, constants.O_RDWR | constants.O_NOCTTY);
  onTestFinished(() => closeSync(slave));
  return { slave, terminal };
}

describe('a target with a terminal', () => {
  it('leads a session whose terminal it is, and owns its foreground', async () => {
    const { slave, terminal } = await freeTerminal();
    const script = 'ps -o pid=,pgid=,sid=,tpgid=,tty= -p $$; echo written >/dev/tty; stty size <&0';
    const output = await outputOf(['sh', '-c', script], { terminal: { kind: HANDOVER, fd: 0 }, fds: { 0: slave } });
    const [facts = '', size] = output.split('\n');
    const [pid, pgid, sid, tpgid, tty] = facts.trim().split(/\s+/);
    expect([pgid, sid, tpgid]).toEqual([pid, pid, pid]);
    expect(`/dev/${tty}`).toBe(terminal.device);
    expect(size).toBe('30 90');
    await terminal.sees('written');
  });

  it('may have it under any number', async () => {
    const { slave, terminal } = await freeTerminal();
    await outputOf(['sh', '-c', 'echo by seven >/dev/tty'], { terminal: { kind: PTY, fd: 7 }, fds: { 7: slave } });
    await terminal.sees('by seven');
  });

  it('gets what Ctrl-C means', async () => {
    const { slave, terminal } = await freeTerminal();
    const target = start(['sh', '-c', 'trap "echo caught; exit 3" INT; echo ready >/dev/tty; while :; do sleep 0.02; done'], {
      terminal: { kind: HANDOVER, fd: 0 },
      fds: { 0: slave },
    });
    await terminal.sees('ready');
    terminal.type('\x03');
    expect(await target.ended()).toMatchObject({ status: 3 << 8, output: 'caught\n' });
  });

  it('is not started on one that is another session’s', async () => {
    const terminal = new Terminal(['sh', '-c', 'trap "" HUP; echo held; read line'], {
      env: { PATH: process.env['PATH'] ?? '', TERM: 'dumb' },
    });
    await terminal.sees('held');
    const slave = openSync(terminal.device, constants.O_RDWR | constants.O_NOCTTY);
    const failure = failureOf(['true'], { terminal: { kind: HANDOVER, fd: 0 }, fds: { 0: slave } });
    expect(failure).toEqual({ step: Step.TERMINAL, errno: EPERM, subject: '0' });
    closeSync(slave);
    terminal.type('\n');
    await terminal.ended();
  });
});
