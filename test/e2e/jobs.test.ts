// Pins detached jobs (DESIGN section 6 `--detach`, docs/architecture.md "Jobs"): what the caller gets, what is kept of them, and
// that nothing of one outlives its session.

import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Job } from '../../src/cli/job-control.js';
import { eventually } from '../harness/eventually.js';
import { useHoldfast } from '../harness/holdfast.js';
import { descendantsOf, descriptorsOf, isAlive } from '../harness/processes.js';
import type { Ended } from '../harness/running.js';
import type { Session } from '../harness/session.js';

const holdfast = useHoldfast();

async function detach(session: Session, script: string, flags: readonly string[] = []): Promise<string> {
  const id = await session.output(['sh', '-c', script], { flags: ['--detach', ...flags] });
  expect(id).toMatch(/^[0-9a-z]+-\d+\n$/);
  return id.trim();
}

async function jobs(session: Session): Promise<Job[]> {
  const { code, stdout } = await holdfast.holdfast(['jobs', session.name, '--all', '--json']);
  expect(code).toBe(0);
  return JSON.parse(stdout.toString());
}

async function find(session: Session, id: string): Promise<Job> {
  const job = (await jobs(session)).find((each) => each.id === id);
  if (job === undefined) throw new Error(`there is no job '${id}'`);
  return job;
}

const job = async (action: string, session: Session, id: string, ...flags: string[]): Promise<Ended> =>
  await holdfast.holdfast(['job', action, session.name, id, ...flags]);

const log = async (session: Session, id: string): Promise<string> => (await job('logs', session, id)).stdout.toString();

const gone = async (pid: number): Promise<void> => await eventually(() => expect(isAlive(pid)).toBe(false));

describe('a detached command', () => {
  it('gives its id, and holds nothing of its caller', async () => {
    const session = await holdfast.open('a');
    const caller = session.start(['sh', '-c', 'echo out; echo err >&2; cat; exec sleep 600'], { flags: ['--detach'], stdin: 'open' });
    // `ended` is the end of all who hold the output: the job is not one of them.
    const { code, stdout, stderr } = await caller.ended;
    expect([code, `${stderr}`]).toEqual([0, '']);
    const { pid } = await find(session, `${stdout}`.trim());
    const own = descriptorsOf(pid);
    expect([own.get(0), own.get(1), [...own.keys()]]).toEqual(['/dev/null', own.get(2), [0, 1, 2]]);
    expect(own.get(1)).toMatch(/^pipe:/);
    await eventually(async () => expect(await log(session, `${stdout}`.trim())).toBe('out\nerr\n'));
    expect(await find(session, `${stdout}`.trim())).toMatchObject({ state: 'running', pid, cwd: holdfast.directory });
  });

  it('has its variables, directory, descriptors and limits like any other', async () => {
    const session = await holdfast.open('b');
    const folder = holdfast.folder();
    const id = await detach(session, 'echo $A; pwd; ulimit -n; exit 3', ['--env', 'A=1', '--cwd', folder, '--limit', 'nofile=50']);
    expect(await job('wait', session, id)).toMatchObject({ code: 3 });
    expect(await log(session, id)).toBe(`1\n${folder}\n50\n`);
  });

  it('that cannot start says so to its caller, and is no job', async () => {
    const session = await holdfast.open('c');
    expect(await session.exec(['no-such-program'], { flags: ['--detach'] })).toMatchObject({ code: 127 });
    const terminal = await session.exec(['true'], { flags: ['-t', '--detach'] });
    expect([terminal.code, `${terminal.stderr}`]).toEqual([125, expect.stringContaining("'--detach' and '--pty' exclude each other")]);
    expect(await jobs(session)).toEqual([]);
  });
});

describe('the outcome of a job', () => {
  it('is that of the command: its code, its signal', async () => {
    const session = await holdfast.open('d');
    const code = await detach(session, 'exit 42');
    const signal = await detach(session, 'kill -USR1 $$');
    expect(await job('wait', session, code)).toMatchObject({ code: 42, signal: null });
    expect(await job('wait', session, signal)).toMatchObject({ code: null, signal: 'SIGUSR1' });
    expect(await find(session, code)).toMatchObject({ state: 'ended', waitStatus: 42 << 8, outcome: { kind: 'exited', code: 42 } });
    expect(await find(session, signal)).toMatchObject({ outcome: { kind: 'signaled', signal: 10, core: false } });
    const { stdout } = await holdfast.holdfast(['jobs', session.name, '-a']);
    expect(`${stdout}`).toMatch(/ exit 42 .*\n.* SIGUSR1 /);
    expect(`${(await holdfast.holdfast(['jobs', session.name])).stdout}`).toBe('');
  });

  it('is 124 for its deadline, and 125 for a job that is not known', async () => {
    const session = await holdfast.open('e');
    const id = await detach(session, 'exec sleep 600', ['--timeout', '50ms']);
    const late = await job('wait', session, id);
    expect([late.code, `${late.stderr}`]).toEqual([124, `holdfast: job '${id}' did not end within its deadline and was ended\n`]);
    expect(await find(session, id)).toMatchObject({
      outcome: { kind: 'cancelled', by: 'deadline', ending: { kind: 'signaled', signal: 15 } },
    });
    const unknown = await job('wait', session, 'no-1');
    expect([unknown.code, `${unknown.stderr}`]).toEqual([125, expect.stringMatching(/^holdfast: there is no job 'no-1'\nhint: .*\n$/)]);
  });

  it('comes when the command ends, though something that it left holds its output', async () => {
    const session = await holdfast.open('f');
    const pipe = join(holdfast.folder(), 'pipe');
    expect((await holdfast.run(['mkfifo', pipe])).code).toBe(0);
    const id = await detach(session, `(read x <${pipe}; echo late) & echo early`);
    expect(await job('wait', session, id)).toMatchObject({ code: 0 });
    expect(await log(session, id)).toBe('early\n');
    await holdfast.run(['sh', '-c', `echo >${pipe}`]);
    await eventually(async () => expect(await log(session, id)).toBe('early\nlate\n'));
  });
});

describe('job kill', () => {
  it('ends the job with all that it started, and returns when it has', async () => {
    const session = await holdfast.open('g');
    const id = await detach(session, 'setsid sleep 600 & sleep 600 & wait');
    const { pid } = await find(session, id);
    const processes = await eventually(() => {
      const found = descendantsOf(pid);
      expect(found).toHaveLength(2);
      return found;
    });
    expect(await job('kill', session, id)).toMatchObject({ code: 0 });
    for (const each of [{ pid }, ...processes]) expect(isAlive(each.pid)).toBe(false);
    expect(await find(session, id)).toMatchObject({ outcome: { kind: 'cancelled', by: 'kill', ending: { kind: 'signaled', signal: 15 } } });
    expect(await job('wait', session, id)).toMatchObject({ signal: 'SIGTERM' });
  });

  it('gives the grace, then no more', async () => {
    const session = await holdfast.open('h');
    const id = await detach(session, 'trap "" TERM; echo ready; while :; do sleep 600; done', ['--kill-grace', '100ms']);
    await eventually(async () => expect(await log(session, id)).toBe('ready\n'));
    expect(await job('kill', session, id)).toMatchObject({ code: 0 });
    expect(await find(session, id)).toMatchObject({ outcome: { by: 'kill', ending: { kind: 'signaled', signal: 9 } } });
  });

  it('reaches what a job left running when it ended', async () => {
    const session = await holdfast.open('i');
    const id = await detach(session, 'setsid sleep 600 & exit 5');
    expect(await job('wait', session, id)).toMatchObject({ code: 5 });
    const { leftovers = [] } = await find(session, id);
    expect(leftovers).toHaveLength(1);
    expect(`${(await holdfast.holdfast(['jobs', session.name])).stdout}`).toContain('exit 5, 1 left');
    expect(await job('kill', session, id)).toMatchObject({ code: 0 });
    for (const pid of leftovers) expect(isAlive(pid)).toBe(false);
    expect(await find(session, id)).toMatchObject({ outcome: { kind: 'exited', code: 5 } });
  });
});

describe('the output of a job', () => {
  it('is kept whole to the last byte, in a file of the owner alone', async () => {
    const session = await holdfast.open('j');
    const id = await detach(session, 'head -c 3000000 /dev/zero | tr "\\0" x; printf end');
    await job('wait', session, id);
    const { output } = await find(session, id);
    expect(output).toMatchObject({ bytes: 3_000_003, fileBytes: 3_000_003, tailBytes: 0 });
    expect(statSync(output.path).mode & 0o7777).toBe(0o600);
    expect((await job('logs', session, id)).stdout.equals(Buffer.concat([Buffer.alloc(3_000_000, 'x'), Buffer.from('end')]))).toBe(true);
  });

  it('over its limit keeps the beginning and the end, and says what is left out', async () => {
    const session = await holdfast.open('k', { flags: ['--job-output-limit', '1M'] });
    const id = await detach(session, 'printf begin; head -c 5000000 /dev/zero | tr "\\0" x; printf end');
    await job('wait', session, id);
    const { output } = await find(session, id);
    expect(output).toMatchObject({ bytes: 5_000_008, fileBytes: 15 * 65536, tailBytes: 65536 });
    expect(statSync(output.path).size).toBe(15 * 65536);
    const words = `\n[holdfast: ${5_000_008 - 16 * 65536} bytes of the job are left out here: the limit of its output was reached]\n`;
    expect(await log(session, id)).toBe(`begin${'x'.repeat(15 * 65536 - 5)}${words}${'x'.repeat(65533)}end`);
  });

  it('that its file cannot take keeps its end, and the session lives', async () => {
    const launcher = ['bash', '-c', 'ulimit -f 100; exec "$@"', 'launch'];
    const session = await holdfast.open('full', { launcher });
    const id = await detach(session, 'head -c 1000000 /dev/zero | tr "\\0" x; printf end');
    expect(await job('wait', session, id)).toMatchObject({ code: 0 });
    expect((await find(session, id)).output).toMatchObject({ bytes: 1_000_003, fileBytes: 102_400, tailBytes: 65_536, cut: 'EFBIG' });
    expect(await log(session, id)).toMatch(
      /^x{102400}\n\[holdfast: 832067 bytes of the job are left out here: its file could take no more \(EFBIG\)\]\nx{65533}end$/,
    );
  });

  it('is followed as it comes, to the end of the job', async () => {
    const session = await holdfast.open('l');
    const pipe = join(holdfast.folder(), 'pipe');
    expect((await holdfast.run(['mkfifo', pipe])).code).toBe(0);
    const id = await detach(session, `echo one; read x <${pipe}; echo two`);
    const follower = holdfast.startHoldfast(['job', 'logs', session.name, id, '-f']);
    await follower.outputLine('one');
    await holdfast.run(['sh', '-c', `echo >${pipe}`]);
    const { code, stdout } = await follower.ended;
    expect([code, `${stdout}`]).toEqual([0, 'one\ntwo\n']);
  });

  it('comes in while the job writes faster than can be read, and disturbs nobody', async () => {
    const session = await holdfast.open('m', { flags: ['--job-output-limit', '256K'] });
    const id = await detach(session, 'exec cat /dev/zero');
    await eventually(async () => expect((await find(session, id)).output.bytes).toBeGreaterThan(50_000_000));
    expect(await session.output(['echo', 'still here'])).toBe('still here\n');
    expect(await job('kill', session, id)).toMatchObject({ code: 0 });
    expect(statSync((await find(session, id)).output.path).size).toBe(192 * 1024);
  });
});

describe('with its session', () => {
  it('a job ends, and its files go', async () => {
    const session = await holdfast.open('n');
    const id = await detach(session, 'exec sleep 600');
    const { pid, output } = await find(session, id);
    const waiting = holdfast.startHoldfast(['job', 'wait', session.name, id]);
    const following = holdfast.startHoldfast(['job', 'logs', '-f', session.name, id]);
    await eventually(async () => expect((await session.status())['running']).toBe(1));
    await session.close();
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(output.path)).toBe(false);
    // Both may have been too late to reach the agent; neither hangs, and neither takes it for the job's own end.
    expect((await waiting.ended).code).toBe(125);
    expect([0, 1]).toContain((await following.ended).code);
  });

  it('its id is never given again, and the files of a killed agent go with the next', async () => {
    const first = await holdfast.open('o');
    const id = await detach(first, 'echo kept; exec sleep 600');
    const { pid, output } = await find(first, id);
    process.kill(first.pid, 'SIGKILL');
    await gone(pid);
    expect(readFileSync(output.path, 'utf8')).toBe('kept\n');
    await first.close();
    const second = await holdfast.open('o');
    expect(existsSync(output.path)).toBe(false);
    expect(await detach(second, 'exit 0')).not.toBe(id);
    expect((await job('logs', second, id)).code).toBe(1);
  });
});
