// Every way in which a request can end, as its caller sees it: status, words, report. DESIGN section 4 "Outcome" and "Ending".

import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { programs, useHoldfast } from '../harness/holdfast.js';
import { allProcesses, findProcess, isAlive, zombiesOf } from '../harness/processes.js';
import type { Ended, Running } from '../harness/running.js';
import type { Session } from '../harness/session.js';

const holdfast = useHoldfast();
let session: Session;
beforeAll(async () => {
  session = await holdfast.open('s', { shared: true });
});

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const ending = v.variant('kind', [
  v.strictObject({ kind: v.literal('exited'), code: v.pipe(count, v.maxValue(255)) }),
  v.strictObject({ kind: v.literal('signaled'), signal: v.pipe(v.string(), v.startsWith('SIG')), number: count, core: v.boolean() }),
]);
const outcome = v.variant('kind', [
  ...ending.options,
  v.strictObject({ kind: v.literal('cancelled'), by: v.picklist(['client', 'deadline', 'shutdown']), ending: v.optional(ending) }),
  v.strictObject({ kind: v.literal('notStarted'), step: v.string(), errno: count, subject: v.string(), searched: v.string() }),
  v.strictObject({ kind: v.literal('refused'), code: count, message: v.string() }),
  v.strictObject({ kind: v.literal('lost'), when: v.picklist(['before-spawn', 'after-spawn', 'unknown']), ending: v.optional(ending) }),
  v.strictObject({ kind: v.literal('detached'), job: v.string() }),
]);
const usage = [
  'userUs',
  'systemUs',
  'maxRssKib',
  'minorFaults',
  'majorFaults',
  'blocksIn',
  'blocksOut',
  'voluntarySwitches',
  'involuntarySwitches',
] as const;
const counts = <K extends string>(...keys: readonly K[]) => v.strictObject(v.entriesFromList(keys, count));
const names = v.array(v.string());
const Report = v.strictObject({
  version: v.literal(1),
  session: v.optional(v.string()),
  outcome,
  pid: v.optional(count),
  startNs: v.optional(count),
  waitStatus: v.optional(count),
  usage: v.optional(counts(...usage)),
  timings: v.optional(counts('queuedUs', 'spawnUs', 'runUs')),
  tree: v.optional(v.strictObject({ cpuUs: v.nullable(count), peakBytes: v.nullable(count) })),
  leftovers: v.optional(v.array(count)),
  environment: v.strictObject({ exact: v.boolean(), passed: names, set: names, unset: names, pathPrepend: names }),
  client: v.strictObject({ exitCode: v.pipe(count, v.maxValue(255)) }),
});

class Reported {
  readonly file = `${holdfast.folder()}/report`;
  get flags(): string[] {
    return ['--report', this.file];
  }
  read(): v.InferOutput<typeof Report> {
    return v.parse(Report, JSON.parse(readFileSync(this.file, 'utf8')));
  }
}

/** Runs it to its end with a report. */
async function reported(
  of: Session,
  command: readonly string[],
  flags: readonly string[] = [],
): Promise<Ended & { report: v.InferOutput<typeof Report> }> {
  const report = new Reported();
  const ended = await of.exec(command, { flags: [...report.flags, ...flags] });
  return { ...ended, report: report.read() };
}

async function pidOf(run: Running): Promise<number> {
  return Number((await run.outputLine(/^pid \d+$/)).slice('pid '.length));
}

const SLEEP = ['sh', '-c', 'echo pid $$; exec sleep 60'];
const DEAF = ['sh', '-c', 'trap "" TERM; echo pid $$; while :; do sleep 0.05; done'];

describe('the report and the status', () => {
  it('of a command that exits, with what it used', async () => {
    const { code, report } = await reported(session, ['sh', '-c', 'exit 41'], ['-e', 'A=1', '--unset', 'LANG']);
    expect(code).toBe(41);
    expect(report).toMatchObject({
      session: 's',
      outcome: { kind: 'exited', code: 41 },
      waitStatus: 41 << 8,
      leftovers: [],
      client: { exitCode: 41 },
    });
    expect(report.environment).toMatchObject({ set: ['A'], unset: ['LANG'] });
    expect(report.timings?.runUs).toBeGreaterThan(0);
  });

  it('of a command that a signal kills', async () => {
    for (const [name, number] of [
      ['KILL', 9],
      ['SEGV', 11],
      ['TERM', 15],
    ] as const) {
      const { signal, report } = await reported(session, ['sh', '-c', `ulimit -c 0; kill -${name} $$`]);
      expect(signal).toBe(`SIG${name}`);
      expect(report).toMatchObject({
        outcome: { kind: 'signaled', signal: `SIG${name}`, number, core: false },
        client: { exitCode: 128 + number },
      });
    }
    const { report } = await reported(session, ['perl', '-e', 'kill 40, $$; sleep 9']);
    expect(report).toMatchObject({ outcome: { kind: 'signaled', signal: 'SIGRTMIN+6', number: 40 }, client: { exitCode: 168 } });
  });

  it('of a command that is not there, or cannot be run', async () => {
    const absent = await reported(session, ['no-such']);
    expect(absent).toMatchObject({
      code: 127,
      report: { outcome: { kind: 'notStarted', step: 'PROGRAM', errno: 2, subject: 'no-such' }, client: { exitCode: 127 } },
    });
    const directory = await reported(session, ['true'], ['--cwd', '/no/such']);
    expect(directory).toMatchObject({
      code: 125,
      report: { outcome: { kind: 'notStarted', step: 'DIRECTORY' }, client: { exitCode: 125 } },
    });
    const plain = await reported(session, ['/etc/passwd']);
    expect(plain).toMatchObject({
      code: 126,
      report: { outcome: { kind: 'notStarted', step: 'EXEC', errno: 13 }, client: { exitCode: 126 } },
    });
  });

  it('of a session that is not open', async () => {
    const report = new Reported();
    const ended = await holdfast.runnerExec(['--session', 'absent', ...report.flags, '--', 'true']);
    expect(ended.code).toBe(125);
    expect(report.read()).toMatchObject({ outcome: { kind: 'lost', when: 'before-spawn' }, client: { exitCode: 125 } });
  });

  it('of a session that is full', async () => {
    const full = await holdfast.open('full', { flags: ['--max-concurrent', '1', '--max-queue', '0'] });
    const first = full.start(['cat'], { stdin: 'open' });
    await eventually(async () => expect(await full.status()).toMatchObject({ running: 1 }));
    const { code, stderr, report } = await reported(full, ['true']);
    expect(code).toBe(125);
    expect(stderr.toString()).toMatch(/^runner-exec: .*queue.*full.*\n$/);
    expect(report.outcome).toMatchObject({ kind: 'refused', code: 3 });
    first.endInput();
    await first.ended;
  });

  it('of a detached job', async () => {
    const { code, stdout, report } = await reported(session, ['true'], ['--detach']);
    expect(code).toBe(0);
    expect(report.outcome).toEqual({ kind: 'detached', job: stdout.toString().trim() });
    await eventually(async () => expect((await holdfast.holdfast(['job', 'wait', 's', stdout.toString().trim()])).code).toBe(0));
  });
});

describe('--timeout', () => {
  it('ends the command politely: 124, one line, and how it really ended', async () => {
    const { code, stderr, report } = await reported(session, SLEEP, ['--timeout', '200ms']);
    expect(code).toBe(124);
    expect(stderr.toString()).toBe("runner-exec: 'sh' did not end within 200ms and was ended\n");
    expect(report).toMatchObject({
      outcome: { kind: 'cancelled', by: 'deadline', ending: { kind: 'signaled', signal: 'SIGTERM' } },
      client: { exitCode: 124 },
    });
  });

  it('kills a deaf one after --kill-grace, not before', async () => {
    const before = performance.now();
    const { code, report } = await reported(session, DEAF, ['--timeout', '100ms', '--kill-grace', '300ms']);
    expect(code).toBe(124);
    expect(performance.now() - before).toBeGreaterThan(390);
    expect(report.outcome).toMatchObject({ by: 'deadline', ending: { kind: 'signaled', signal: 'SIGKILL' } });
  });

  it('lets a command end its own way within the grace', async () => {
    const { code, report } = await reported(
      session,
      ['sh', '-c', 'trap "exit 9" TERM; while :; do sleep 0.05; done'],
      ['--timeout', '100ms'],
    );
    expect(code).toBe(124);
    expect(report.outcome).toMatchObject({ kind: 'cancelled', by: 'deadline', ending: { kind: 'exited', code: 9 } });
  });

  it('ends a stopped command too, and lets its client go on', async () => {
    expect(await reported(session, ['sh', '-c', 'kill -STOP $$; sleep 60'], ['--timeout', '300ms'])).toMatchObject({
      code: 124,
      report: { outcome: { kind: 'cancelled', by: 'deadline' } },
    });
  });

  it('counts the time in the queue', async () => {
    const narrow = await holdfast.open('narrow', { flags: ['--max-concurrent', '1'] });
    const first = narrow.start(['cat'], { stdin: 'open' });
    await eventually(async () => expect(await narrow.status()).toMatchObject({ running: 1 }));
    const { code, report } = await reported(narrow, ['true'], ['--timeout', '200ms']);
    expect(code).toBe(124);
    expect(report.outcome).toMatchObject({ kind: 'refused', code: 11 });
    first.endInput();
    await first.ended;
  });

  it('is not felt by a command that ends in time', async () => {
    expect(await reported(session, ['sh', '-c', 'exit 3'], ['--timeout', '10s'])).toMatchObject({
      code: 3,
      report: { outcome: { kind: 'exited' } },
    });
  });
});

describe('a session that is closed while commands run', () => {
  it('ends them, and says so: 125', async () => {
    const closing = await holdfast.open('closing');
    const report = new Reported();
    const run = closing.start(SLEEP, { flags: report.flags });
    const pid = await pidOf(run);
    await closing.close();
    const { code, stderr } = await run.ended;
    expect(code).toBe(125);
    expect(stderr.toString()).toMatch(/^runner-exec: session 'closing' was closed while 'sh' ran; hint: .*\n$/);
    expect(report.read()).toMatchObject({
      outcome: { kind: 'cancelled', by: 'shutdown', ending: { signal: 'SIGTERM' } },
      client: { exitCode: 125 },
    });
    expect(findProcess(pid)).toBeUndefined();
  });

  it('ends a deaf one by force, and a second cancel changes nothing', async () => {
    const closing = await holdfast.open('closing', { flags: ['--kill-grace', '300ms'] });
    const report = new Reported();
    const run = closing.start(DEAF, { flags: [...report.flags, '--timeout', '100ms', '--kill-grace', '300ms'] });
    const pid = await pidOf(run);
    await closing.close();
    const { code } = await run.ended;
    expect([124, 125]).toContain(code);
    expect(report.read().outcome).toMatchObject({ kind: 'cancelled', ending: { signal: 'SIGKILL' } });
    expect(isAlive(pid)).toBe(false);
  });
});

describe('a stopped command', () => {
  it('that is killed ends its client, which was stopped too', async () => {
    const report = new Reported();
    const run = session.start(['sh', '-c', 'echo pid $$; kill -STOP $$'], { flags: report.flags });
    const pid = await pidOf(run);
    await eventually(() => expect(findProcess(run.pid)?.state).toBe('T'));
    process.kill(pid, 'SIGKILL');
    expect(await run.ended).toMatchObject({ signal: 'SIGKILL' });
    expect(report.read().outcome).toMatchObject({ kind: 'signaled', signal: 'SIGKILL' });
  });

  it('ends with its session, and its client says so', async () => {
    const closing = await holdfast.open('closing');
    const run = closing.start(['sh', '-c', 'kill -STOP $$']);
    await eventually(() => expect(findProcess(run.pid)?.state).toBe('T'));
    await closing.close();
    expect(await run.ended).toMatchObject({ code: 125 });
  });

  it('ends when its stopped client is killed', async () => {
    const run = session.start(['sh', '-c', 'echo pid $$; kill -STOP $$; sleep 60']);
    const pid = await pidOf(run);
    await eventually(() => expect(findProcess(run.pid)?.state).toBe('T'));
    run.kill('SIGKILL');
    await eventually(() => expect(isAlive(pid)).toBe(false));
    await run.ended;
  });
});

describe('an agent that is killed', () => {
  it('while a command runs: 125, lost after the spawn, and the command dies', async () => {
    const lost = await holdfast.open('lost');
    const report = new Reported();
    const run = lost.start(SLEEP, { flags: report.flags });
    const pid = await pidOf(run);
    await lost.status(); // it has said by now that the command runs
    process.kill(lost.pid, 'SIGKILL');
    const { code, stderr } = await run.ended;
    expect(code).toBe(125);
    expect(stderr.toString()).toMatch(/^runner-exec: session 'lost' was lost while 'sh' ran \(pid \d+.*\); hint: .*\n$/);
    expect(report.read()).toMatchObject({ outcome: { kind: 'lost', when: 'after-spawn' }, pid, client: { exitCode: 125 } });
    expect(isAlive(pid)).toBe(false);
  });

  it('while it was frozen, after the command had ended: the status is told where the kernel can', async (t) => {
    const [major = 0, minor = 0] = readFileSync('/proc/sys/kernel/osrelease', 'utf8').split('.').map(Number);
    if (major < 6 || (major === 6 && minor < 15)) t.skip('PIDFD_GET_INFO tells of an exit since Linux 6.15');
    const lost = await holdfast.open('lost', { flags: ['--containment', 'group'] });
    const report = new Reported();
    const run = lost.start(['sh', '-c', 'echo pid $$; read line; exit 37'], { stdin: 'open', flags: report.flags });
    const pid = await pidOf(run);
    await lost.status();
    process.kill(lost.pid, 'SIGSTOP');
    run.write('\n');
    await eventually(() => expect(findProcess(pid)?.state).toBe('Z'));
    process.kill(lost.pid, 'SIGKILL');
    expect((await run.ended).stderr.toString()).toContain('which then ended with status 37');
    expect(report.read().outcome).toEqual({ kind: 'lost', when: 'after-spawn', ending: { kind: 'exited', code: 37 } });
  });

  it('before it has read the request: lost before the spawn', async () => {
    const lost = await holdfast.open('lost');
    process.kill(lost.pid, 'SIGSTOP');
    const report = new Reported();
    const run = lost.start(SLEEP, { flags: report.flags });
    await eventually(() => expect(findProcess(run.pid)?.state).toBe('S'));
    process.kill(lost.pid, 'SIGKILL');
    const { code, stderr } = await run.ended;
    expect(code).toBe(125);
    expect(stderr.toString()).toMatch(/session 'lost' (was lost before 'sh' was started|is not served any more)/);
    expect(report.read().outcome).toEqual({ kind: 'lost', when: 'before-spawn' });
  });

  it('at any instant around the spawn: 125 or the true status, the text that fits, and nothing lives on', async () => {
    const mark = `mark-${process.pid}`;
    for (let round = 0; round < 12; round++) {
      const lost = await holdfast.open('lost');
      const reports = Array.from({ length: 4 }, () => new Reported());
      const runs = reports.map((report) => lost.start(['sh', '-c', `: ${mark}; exec sleep 60`], { flags: report.flags }));
      // From before the clients connect until after all have been spawned.
      for (let spins = round * 40_000; spins > 0; spins--) performance.now();
      process.kill(lost.pid, 'SIGKILL');
      for (const [index, run] of runs.entries()) {
        const { code, stderr } = await run.ended;
        const said = stderr.toString();
        const found = reports[index]?.read().outcome;
        expect([code, said]).toEqual([125, expect.stringMatching(/^runner-exec: [^\n]*\n$/)]);
        if (found?.kind !== 'lost') throw new Error(`not lost: ${JSON.stringify(found)}`);
        const expected = {
          'before-spawn': /before 'sh' was started|is not (open|served)/,
          'after-spawn': /while 'sh' ran/,
          unknown: /is not known/,
        };
        expect(said).toMatch(expected[found.when]);
      }
      await eventually(() => expect(allProcesses().filter(({ command, state }) => command.includes(mark) && state !== 'Z')).toEqual([]));
      await lost.close();
    }
  });
});

it('a thousand endings leave no zombie', async () => {
  const run = await holdfast.run([
    'bash',
    '-c',
    'for i in $(seq 250); do "$0" --session s -- true & "$0" --session s -- false & "$0" --session s -- sh -c "kill -9 \\$\\$" 2>/dev/null & "$0" --session s -- no-such 2>/dev/null & wait; done',
    programs.runnerExec,
  ]);
  expect(run.code).toBe(0);
  await eventually(() => expect(zombiesOf(session.pid)).toEqual([]));
});
