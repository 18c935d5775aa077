// Pins DESIGN section 4 "Admission": a session that has enough to do says so, in order and to each; one that is out of something
// refuses, with 125 and the cause, and serves again as soon as it can.

import { describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { programs, useHoldfast } from '../harness/holdfast.js';
import { needs } from '../harness/needs.js';
import { OtherUser } from '../harness/other-user.js';
import type { Running } from '../harness/running.js';
import type { Session } from '../harness/session.js';
import { Terminal } from '../harness/terminal.js';

const holdfast = useHoldfast();

/** Runs until it is killed, and has said that it runs. */
async function occupant(session: Session): Promise<Running> {
  const run = session.start(['sh', '-c', 'echo runs; exec sleep 600']);
  await run.outputLine('runs');
  return run;
}

async function hasQueued(session: Session, queued: number): Promise<void> {
  await eventually(async () => expect(await session.status()).toMatchObject({ queued }));
}

describe('max_concurrent', () => {
  it('lets the others wait, and takes them in the order in which they came', async () => {
    const session = await holdfast.open('order', { flags: ['--max-concurrent', '1'] });
    const first = await occupant(session);
    const log = `${holdfast.folder()}/log`;
    const waiting: Running[] = [];
    for (const name of ['a', 'b', 'c', 'd']) {
      waiting.push(session.start(['sh', '-c', `echo ${name} >>'${log}'; cat '${log}'`]));
      await hasQueued(session, waiting.length);
    }
    expect(first.isAlive).toBe(true);
    first.kill('SIGTERM');
    const outputs = await Promise.all(waiting.map(async (run) => `${(await run.ended).stdout}`));
    expect(outputs).toEqual(['a\n', 'a\nb\n', 'a\nb\nc\n', 'a\nb\nc\nd\n']);
    await first.ended;
  });

  it('keeps no place for a client that went away', async () => {
    const session = await holdfast.open('gone', { flags: ['--max-concurrent', '1'] });
    const first = await occupant(session);
    const second = session.start(['sh', '-c', 'echo second']);
    await hasQueued(session, 1);
    const third = session.start(['sh', '-c', 'echo third']);
    await hasQueued(session, 2);
    second.kill('SIGKILL');
    await hasQueued(session, 1);
    first.kill('SIGTERM');
    expect(`${(await third.ended).stdout}`).toBe('third\n');
    expect(await session.status()).toMatchObject({ runs: 2, queued: 0 });
    await Promise.all([first.ended, second.ended]);
  });

  it('and max_queue: one more is refused at once', async () => {
    const session = await holdfast.open('busy', { flags: ['--max-concurrent', '1', '--max-queue', '1'] });
    const first = await occupant(session);
    const second = session.start(['true']);
    await hasQueued(session, 1);
    for (const flags of [[], ['--detach']]) {
      const third = await session.exec(['true'], { flags });
      expect([third.code, `${third.stdout}`, `${third.stderr}`]).toEqual([
        125,
        '',
        "runner-exec: session 'busy' refused: the session's queue of 1 is full; hint: try again later, or raise max_queue\n",
      ]);
    }
    first.kill('SIGTERM');
    expect((await second.ended).code).toBe(0);
    await first.ended;
  });

  it('counts the wait into the deadline: 124, though the command never ran', async () => {
    const session = await holdfast.open('late', { flags: ['--max-concurrent', '1'] });
    const first = await occupant(session);
    for (const flags of [[], ['--detach']]) {
      const late = await session.exec(['echo', 'ran'], { flags: ['--timeout', '50ms', ...flags] });
      expect([late.code, `${late.stdout}`, `${late.stderr}`]).toEqual([
        124,
        '',
        "runner-exec: 'echo' did not end within 50ms and was ended\n",
      ]);
    }
    await hasQueued(session, 0);
    first.kill('SIGTERM');
    await first.ended;
  });

  it('is told at a terminal, and nowhere else', async () => {
    const session = await holdfast.open('told', { flags: ['--max-concurrent', '1'] });
    const first = await occupant(session);
    const silent = session.start(['true']);
    await hasQueued(session, 1);
    const runner = new Terminal([programs.runnerExec, '--session', session.name, '--', 'echo', 'its turn'], { env: holdfast.env });
    await hasQueued(session, 2);
    const words = [process.execPath, programs.holdfast, '__runner-exec', '--session', session.name, '--', 'echo', 'its turn'] as const;
    const fallback = new Terminal([...words], { env: holdfast.env });
    await runner.sees("runner-exec: 'echo' waits for its turn, at position 2");
    await fallback.sees("runner-exec: 'echo' waits for its turn, at position 3");
    first.kill('SIGTERM');
    for (const seen of [runner, fallback])
      expect(await seen.ended()).toMatchObject({ code: 0, text: expect.stringContaining('its turn\r\n') });
    expect(`${(await silent.ended).stderr}`).toBe('');
    await first.ended;
  });

  it('counts a job until its end, and job kill takes one out of the queue', async () => {
    const session = await holdfast.open('jobs', { flags: ['--max-concurrent', '1'] });
    const id = (await session.output(['sleep', '600'], { flags: ['--detach'] })).trim();
    const second = session.start(['true'], { flags: ['--detach'] });
    await hasQueued(session, 1);
    const list = await holdfast.holdfast(['jobs', session.name, '--json']);
    const [, queued] = JSON.parse(`${list.stdout}`);
    expect(queued).toMatchObject({ state: 'queued', pid: 0 });
    expect((await holdfast.holdfast(['job', 'kill', session.name, queued.id])).code).toBe(0);
    const refused = await second.ended;
    expect([refused.code, `${refused.stderr}`]).toEqual([125, expect.stringContaining('the job was ended before it could start')]);
    expect((await holdfast.holdfast(['job', 'kill', session.name, id])).code).toBe(0);
    expect(await session.output(['echo', 'free'])).toBe('free\n');
  });

  it('starts a long queue of commands that cannot be started', async () => {
    const session = await holdfast.open('none', { flags: ['--max-concurrent', '1'] });
    const first = await occupant(session);
    const many = holdfast.run([
      'sh',
      '-c',
      `for i in $(seq 60); do '${programs.runnerExec}' --session none -- no-such-program & done 2>&1; wait`,
    ]);
    await hasQueued(session, 60);
    first.kill('SIGTERM');
    const said = `${(await many).stdout}`.trim().split('\n');
    expect(said).toHaveLength(60);
    expect(await session.output(['echo', 'free'])).toBe('free\n');
    await first.ended;
  });
});

/** Starts `count` commands that wait for `gate` to be removed; resolves to their exit codes and what they said. */
function crowd(session: Session, count: number, gate: string): Running[] {
  return Array.from({ length: count }, () => session.start(['sh', '-c', `echo in; while [ -e '${gate}' ]; do sleep 0.05; done`]));
}

describe('a session at its limit of open files', () => {
  const flags = ['--open-timeout', '1m'];
  const launcher = ['sh', '-c', 'ulimit -n 64; exec "$@"', 'launch'];

  it('refuses what it cannot hold, keeps what it has, and recovers', async () => {
    const session = await holdfast.open('few', { launcher, flags });
    const before = session.descriptors().size;
    const gate = holdfast.folder();
    const runs = crowd(session, 40, gate);
    // Each has either started or been refused by now or soon; the refused have ended.
    await eventually(() => expect(runs.every((run) => !run.isAlive || `${run.stdout}`.startsWith('in'))).toBe(true));
    await holdfast.run(['rmdir', gate]);
    const ends = await Promise.all(runs.map(async (run) => await run.ended));
    const refused = ends.filter(({ code }) => code !== 0);
    expect(refused.length).toBeGreaterThan(0);
    expect(ends.length - refused.length).toBeGreaterThan(5);
    for (const { code, stderr } of refused)
      expect([code, `${stderr}`]).toEqual([125, expect.stringContaining('the session has no descriptors left')]);
    expect(await session.output(['sh', '-c', 'ulimit -n'])).toBe('64\n');
    await eventually(() => expect(session.descriptors().size).toBeLessThanOrEqual(before));
  });

  it('refuses jobs in the same way, and a request with more descriptors than fit', async () => {
    const session = await holdfast.open('few', { launcher, flags });
    const before = session.descriptors().size;
    const starts = await Promise.all(Array.from({ length: 40 }, async () => await session.exec(['sleep', '600'], { flags: ['--detach'] })));
    const refused = starts.filter(({ code }) => code !== 0);
    expect(refused.length).toBeGreaterThan(0);
    for (const { code } of refused) expect(code).toBe(125);
    for (const { code, stdout } of starts) {
      if (code === 0) expect((await holdfast.holdfast(['job', 'kill', session.name, `${stdout}`.trim()])).code).toBe(0);
    }
    await eventually(() => expect(session.descriptors().size).toBeLessThanOrEqual(before));

    const numbers = Array.from({ length: 60 }, (_, index) => index + 10);
    const opened = numbers.map((number) => `exec ${number}</dev/null`).join('\n');
    const many = await holdfast.run([
      'bash',
      '-c',
      `${opened}\nexec '${programs.runnerExec}' --session few ${numbers.map((number) => `--fd ${number}`).join(' ')} -- true`,
    ]);
    expect([many.code, `${many.stderr}`]).toEqual([125, expect.stringContaining('the session has no descriptors left')]);
    expect(await session.output(['echo', 'on'])).toBe('on\n');
  });

  it('answers although no more descriptors may be on their way', async (test) => {
    needs(test, 'root', 'setpriv');
    const user = new OtherUser(holdfast);
    // 40 clients with three descriptors each, while the agent looks away: more than the 80 that its user may have in flight.
    const { code, stdout, stderr } = await user.script(`
      hold open u -- bash -c 'ulimit -n 80; exec "$@"' launch || exit
      agent=$(hold status u --json | grep -m1 '"pid"' | tr -dc 0-9)
      kill -STOP $agent
      for i in $(seq 40); do { runner --session u -- true 2>err$i; echo $? >code$i; } & clients="$clients $!"; done
      # The listener, and one for each that waits to be accepted: all have the name that it was bound under.
      until [ $(grep -c "/\\.$agent\\." /proc/net/unix) -gt 40 ] || [ $((n++)) -gt 100 ]; do sleep 0.05; done
      kill -CONT $agent
      wait $clients
      cat code*; cat err* | grep -v 'no descriptors left' >&2
      runner --session u -- echo recovered
      hold close u`);
    expect([code, `${stderr}`]).toEqual([0, '']);
    const codes = `${stdout}`.trim().split('\n');
    expect(codes.pop()).toBe('recovered');
    expect(codes).toHaveLength(40);
    expect(codes.filter((each) => each === '0').length).toBeGreaterThan(5);
    expect(codes.filter((each) => each !== '0' && each !== '125')).toEqual([]);
  });
});

describe('a session at its limit of processes', () => {
  it.for(['warden', 'group'])('refuses with the cause, and recovers: %s', async (containment, test) => {
    needs(test, 'root', 'setpriv'); // which counts no processes of root's own
    const user = new OtherUser(holdfast);
    const { code, stdout, stderr } = await user.script(`
      hold open p --containment ${containment} -- bash -c 'ulimit -u 24; exec "$@"' launch || exit
      for i in $(seq 30); do { runner --session p -- sh -c 'read x <gate' 2>err$i; echo $? >code$i; } & clients="$clients $!"; done
      until [ $(cat code* 2>/dev/null | wc -l) -ge 10 ] || [ $((n++)) -gt 100 ]; do sleep 0.05; done
      touch gate
      wait $clients
      cat code*; cat err* | grep -v 'gate' | sort -u >&2
      runner --session p -- echo recovered
      hold close p`);
    expect([code, `${stderr}`]).toEqual([
      0,
      "runner-exec: session 'p' refused: the session has no room for another process; hint: run fewer commands at once, or raise its limits before it is opened\n",
    ]);
    const codes = `${stdout}`.trim().split('\n');
    expect(codes.pop()).toBe('recovered');
    expect(codes.filter((each) => each === '125').length).toBeGreaterThan(0);
  });
});
