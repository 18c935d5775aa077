// What the commands of a session cost, recorded by its agent and shown as text and as a Chrome trace.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useHoldfast } from '../harness/holdfast.js';

const holdfast = useHoldfast();

async function trace(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await holdfast.holdfast(['trace', ...args]);
  return { code, stdout: `${stdout}`, stderr: `${stderr}` };
}

const quiet = { code: 0, stdout: '', stderr: '' };

describe('holdfast trace', () => {
  it('records nothing until it is on, and then the cost of each command', async () => {
    const session = await holdfast.open('costs', { flags: ['--max-concurrent', '1'] });
    expect(await trace('costs')).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining("hint: 'holdfast trace --on'") });
    await session.exec(['echo', 'unseen']);
    expect(await session.status()).toMatchObject({ tracing: false });
    expect(await trace('costs', '--on')).toEqual(quiet);
    expect(await session.status()).toMatchObject({ tracing: true });
    expect(await trace('costs')).toEqual({ ...quiet, stdout: 'no command was run yet\n' });

    // As large as no agent is, and busy for a while.
    const work = "a = b'x' * (300 << 20)\nimport time\nwhile time.process_time() < 0.2: pass";
    const busy = session.exec(['python3', '-c', work]);
    await expect.poll(async () => (await session.status())['running'], { timeout: 20_000 }).toBe(1);
    const waiting = session.exec(['sh', '-c', 'exit 4']);
    await Promise.all([busy, waiting]);
    await session.exec(['no-such-program']);
    await session.exec(['sleep', '60'], { flags: ['--timeout', '100ms'] });

    const { stdout } = await trace('costs');
    expect(stdout.split('\n').map((line) => line.replace(/^.*?(exit|ENOENT|deadline)/, '$1'))).toEqual([
      expect.stringMatching(/^AT .* COMMAND$/),
      expect.stringMatching(/^exit 0 +python3 -c/),
      expect.stringMatching(/^exit 4 +sh -c 'exit 4'$/),
      expect.stringMatching(/^ENOENT +no-such-program$/),
      expect.stringMatching(/^deadline +sleep 60$/),
      '',
    ]);

    const file = join(holdfast.folder(), 'trace.json');
    expect((await trace('costs', '--output', file)).stdout).toBe(stdout);
    const { traceEvents } = JSON.parse(readFileSync(file, 'utf8'));
    const commands = traceEvents.filter((event: { cat?: string }) => event.cat === 'command');
    expect(commands.map((event: { name: string }) => event.name)).toEqual(['python3', 'sh', 'no-such-program', 'sleep']);
    const [python, shell] = commands;
    expect(python.args.cpuUserMs + python.args.cpuSystemMs).toBeGreaterThanOrEqual(190);
    expect(python.dur).toBeGreaterThanOrEqual(190_000);
    expect(python.args.peakBytes).toBeGreaterThan(300 * 1024 * 1024);
    expect(shell.args.argv).toEqual(['sh', '-c', 'exit 4']);
    const queue = traceEvents.find((event: { cat?: string; ts: number }) => event.cat === 'queue' && event.ts === shell.ts);
    expect(queue.ts + queue.dur).toBeGreaterThanOrEqual(python.ts + python.dur - 1000);
  });

  it('shows what runs and waits now, and keeps what it has when it is turned off', async () => {
    const session = await holdfast.open('now', { flags: ['--max-concurrent', '1'] });
    await trace('now', '--on');
    const running = session.start(['sleep', '60']);
    await expect.poll(async () => (await session.status())['running'], { timeout: 20_000 }).toBe(1);
    const waiting = session.start(['true']);
    await expect.poll(async () => (await session.status())['queued'], { timeout: 20_000 }).toBe(1);
    expect((await trace('now')).stdout).toMatch(/running +sleep 60\n.*waiting +true\n$/);
    running.kill('SIGTERM');
    await Promise.all([running.ended, waiting.ended]);

    expect(await trace('now', '--off')).toEqual(quiet);
    await session.exec(['echo', 'unseen']);
    const lines = (await trace('now')).stdout.split('\n');
    expect(lines.slice(1)).toEqual([expect.stringMatching(/SIGTERM +sleep 60$/), expect.stringMatching(/exit 0 +true$/), '']);
    expect((await trace('now', '--last', '1')).stdout).toMatch(/^\(1 earlier, of which 0 are not kept any more\)\nAT.*\n.*true\n$/);
  });

  it('goes to standard output alone when asked for, and refuses what makes no sense', async () => {
    const session = await holdfast.open('out');
    await trace('out', '--on');
    await session.exec(['true']);
    const { stdout, stderr } = await trace('out', '-o', '-');
    expect(stderr).toBe('');
    expect(JSON.parse(stdout).traceEvents.some((event: { name: string }) => event.name === 'true')).toBe(true);
    expect(await trace('out', '--on', '--off')).toMatchObject({ code: 2, stdout: '' });
    expect(await trace('out', '--last', '0')).toMatchObject({ code: 2, stdout: '' });
    const file = join(holdfast.folder(), 'none/trace.json');
    expect(await trace('out', '-o', file)).toMatchObject({ code: 2, stderr: expect.stringContaining(`cannot write '${file}'`) });
    expect(existsSync(file)).toBe(false);
    expect(await trace('absent')).toMatchObject({ code: 1, stderr: expect.stringContaining("session 'absent' is not open") });
  });
});
