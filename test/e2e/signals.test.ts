// Signals to the client reach the target as if it had been started directly: once each, the ignored ones not, and the client ends
// as the target does. DESIGN section 4 "Signals". Job control of shells is in job-control.test.ts.

import { constants } from 'node:os';
import { beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { programs, useHoldfast } from '../harness/holdfast.js';
import { findProcess } from '../harness/processes.js';
import type { Running } from '../harness/running.js';
import type { Session } from '../harness/session.js';

const holdfast = useHoldfast();
let session: Session;
let tell: string;
let runnerExec: string;

/** Says 'ready PID', then the name of each signal as it comes; the second TERM ends it with 22. */
const TELL = `#!/usr/bin/perl
my $terms = 0;
for my $name (qw(HUP INT QUIT USR1 USR2 WINCH TSTP CONT TERM)) {
  $SIG{$name} = sub { syswrite STDOUT, "$name\\n"; exit 22 if $name eq 'TERM' && ++$terms == 2 };
}
$SIG{$_} = 'IGNORE' for @ARGV;
syswrite STDOUT, "ready $$\\n";
select undef, undef, undef, 60 while 1;
`;

beforeAll(async () => {
  session = await holdfast.open('s', { shared: true });
  tell = holdfast.program('tell', TELL);
  runnerExec = `'${programs.runnerExec}' --session s`;
});

function stateOf(pid: number): string | undefined {
  return findProcess(pid)?.state;
}

/** Waits until the process is stopped. */
async function stopped(pid: number): Promise<void> {
  await eventually(() => expect(stateOf(pid)).toBe('T'));
}

async function readyPid(run: Running): Promise<number> {
  return Number((await run.outputLine(/^ready \d+$/)).slice('ready '.length));
}

function lines(run: Running): string[] {
  return run.stdout.toString().split('\n').slice(0, -1);
}

describe('a signal to the client', () => {
  it('of each kind that is passed on arrives once', async () => {
    const run = session.start([tell]);
    await readyPid(run);
    const sent = ['HUP', 'INT', 'QUIT', 'USR1', 'USR2', 'WINCH', 'TSTP', 'CONT', 'TERM', 'TERM'] as const;
    for (const [index, name] of sent.entries()) {
      run.kill(`SIG${name}`);
      await eventually(() => expect(lines(run)).toHaveLength(index + 2));
    }
    expect(await run.ended).toMatchObject({ code: 22, signal: null, stderr: Buffer.alloc(0) });
    expect(lines(run).slice(1)).toEqual(sent);
  });

  it('reaches the whole group, and once each', async () => {
    const run = session.start(['sh', '-c', `'${tell}' & '${tell}' & wait; wait`, 'sh']);
    await eventually(() => expect(lines(run)).toHaveLength(2));
    run.kill('SIGUSR2'); // ends the shell; the others handle it
    expect(await run.exited).toEqual({ code: null, signal: 'SIGUSR2' });
    await eventually(() => expect(lines(run).slice(2)).toEqual(['USR2', 'USR2']));
    for (const line of lines(run).slice(0, 2)) process.kill(Number(line.slice('ready '.length)), 'SIGKILL');
    await run.ended;
  });

  it.for(['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2'] as const)(
    'that kills the target kills the client: %s',
    async (name) => {
      const run = session.start(['sh', '-c', 'echo ready; exec sleep 60']);
      await run.outputLine('ready');
      run.kill(name);
      expect(await run.ended).toMatchObject({ code: null, signal: name, stderr: Buffer.alloc(0) });
    },
  );

  it('is not passed on when the caller ignores it', async () => {
    const run = holdfast.start([
      'sh',
      '-c',
      `trap '' HUP INT USR1 TSTP; exec ${runnerExec} -- sh -c 'grep SigIgn /proc/self/status; exec "${tell}" HUP INT USR1 TSTP'`,
    ]);
    await readyPid(run);
    const bit = (name: keyof typeof constants.signals): bigint => 1n << BigInt(constants.signals[name] - 1);
    const ignored = bit('SIGHUP') | bit('SIGINT') | bit('SIGUSR1') | bit('SIGTSTP');
    expect(lines(run)[0]).toBe(`SigIgn:\t${ignored.toString(16).padStart(16, '0')}`);
    for (const name of ['SIGHUP', 'SIGINT', 'SIGUSR1', 'SIGTSTP', 'SIGUSR2'] as const) run.kill(name);
    await run.outputLine('USR2');
    for (const count of [1, 2]) {
      run.kill('SIGTERM');
      await eventually(() => expect(lines(run).filter((line) => line === 'TERM')).toHaveLength(count));
    }
    expect(await run.ended).toMatchObject({ code: 22 });
    expect(lines(run).slice(2)).toEqual(['USR2', 'TERM', 'TERM']);
  });

  it('that comes while its command ends is not lost', async () => {
    const run = session.start(['sh', '-c', 'echo ready; read go'], { stdin: 'open' });
    await run.outputLine('ready');
    run.kill('SIGSTOP'); // itself, and not the target
    await stopped(run.pid);
    run.write('go\n');
    await eventually(async () => expect(await session.status()).toMatchObject({ running: 0 }));
    run.kill('SIGINT');
    run.kill('SIGCONT');
    expect(await run.ended).toMatchObject({ code: null, signal: 'SIGINT' });
  });

  it('of two kinds at once reaches a target that has only just started', async () => {
    const target = `trap 'first=HUP' HUP; trap 'echo $first TERM; exit 22' TERM; kill -HUP $0; kill -TERM $0; while :; do read line; done`;
    const run = await holdfast.run(['sh', '-c', `exec ${runnerExec} -- sh -c "$0" $$`, target], { stdin: 'open' });
    expect({ code: run.code, stdout: `${run.stdout}` }).toEqual({ code: 22, stdout: 'HUP TERM\n' });
  });

  it('before the target has started ends the client, and nothing is started', async () => {
    const narrow = await holdfast.open('narrow', { flags: ['--max-concurrent', '1'] });
    const first = narrow.start(['cat'], { stdin: 'open' });
    await eventually(async () => expect(await narrow.status()).toMatchObject({ running: 1 }));
    const second = narrow.start(['sh', '-c', 'echo started']);
    await eventually(async () => expect(await narrow.status()).toMatchObject({ queued: 1 }));
    second.kill('SIGTERM');
    expect(await second.ended).toMatchObject({ signal: 'SIGTERM', stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) });
    await eventually(async () => expect(await narrow.status()).toMatchObject({ queued: 0 }));
    first.endInput();
    expect(await first.ended).toMatchObject({ code: 0 });
    expect(await narrow.status()).toMatchObject({ runs: 1 });
  });

  it('while the agent is frozen ends the client, and what it asked for never starts', async () => {
    const frozen = await holdfast.open('frozen');
    process.kill(frozen.pid, 'SIGSTOP');
    const mark = `${holdfast.folder()}/started`;
    const run = frozen.start(['touch', mark]);
    await eventually(() => expect(stateOf(run.pid)).toBe('S'));
    run.kill('SIGINT');
    // Its output is still held by the message that nobody has read.
    expect(await run.exited).toMatchObject({ signal: 'SIGINT' });
    process.kill(frozen.pid, 'SIGCONT');
    expect((await run.ended).stderr.toString()).toBe('');
    expect(await frozen.output(['sh', '-c', `test -e '${mark}' || echo nothing`])).toBe('nothing\n');
  });
});

describe('a target that stops itself', () => {
  it.for(['STOP', 'TSTP', 'TTIN', 'TTOU'] as const)('stops its client, and a CONT resumes both: %s', async (name) => {
    // In a group of its own, under a parent in the session: an orphaned group is not stopped by the keyboard's signals.
    // It stops only when bash waits: a job that has stopped before is to bash one that need not be waited for.
    const command = `${runnerExec} -- sh -c 'echo ready $$; read go; kill -${name} $$; echo on; exit 3'`;
    const run = holdfast.start(['bash', '-c', `set -m; ${command} & set +m; echo client $!; wait $!`], { stdin: 'open' });
    const target = await readyPid(run);
    const client = Number((await run.outputLine(/^client/)).slice('client '.length));
    run.endInput();
    await stopped(target);
    await stopped(client);
    expect(lines(run)).not.toContain('on');
    process.kill(client, 'SIGCONT');
    expect(await run.ended).toMatchObject({ code: 3, stderr: Buffer.alloc(0) });
    expect(lines(run)).toContain('on');
  });

  it('is reported to the caller with the signal that stopped it', async () => {
    const command = `${runnerExec} -- sh -c 'kill -TTOU $$; exit 4'`;
    // `wait -f` tells of the stop once more where bash had not heard of the going on, here as with the command itself.
    const end = 'while wait -f $!; status=$?; [ $status -gt 128 ]; do :; done';
    const run = await holdfast.run(['bash', '-c', `set -m; ${command} & wait $!; echo $?; kill -CONT $!; ${end}; echo $status`]);
    expect(run.stdout.toString()).toBe(`${128 + constants.signals.SIGTTOU}\n4\n`);
  });

  it('goes on where its caller could not be stopped either', async () => {
    // A group without a parent in its session. Directly, the kernel throws such a stop away (setpgid(2), orphaned groups).
    const ended = await session.exec(['sh', '-c', 'kill -TSTP $$; exit 5'], { detached: true });
    expect(ended).toMatchObject({ code: 5, stderr: Buffer.alloc(0) });
  });
});

describe('in front of the client', () => {
  it('timeout ends the target as it ends a command', async () => {
    const run = await holdfast.run(['timeout', '0.5', programs.runnerExec, '--session', 's', '--', 'sh', '-c', 'echo $$; exec sleep 60']);
    expect(run).toMatchObject({ code: 124, stderr: Buffer.alloc(0) });
    expect(stateOf(Number(run.stdout))).toBeUndefined();
  });

  it('timeout -k ends a target that ignores TERM, and what it started', async () => {
    const run = holdfast.start([
      'timeout',
      '-k',
      '0.1',
      '0.5',
      programs.runnerExec,
      '--session',
      's',
      '--kill-grace',
      '100ms',
      '--',
      'sh',
      '-c',
      'trap "" TERM; echo ready $$; sleep 60 & sleep 61',
    ]);
    const target = await readyPid(run);
    expect(await run.ended).toMatchObject({ signal: 'SIGKILL' });
    await eventually(() => expect(stateOf(target)).toBeUndefined());
  });

  it('nohup keeps a hang-up away from the target', async () => {
    const run = holdfast.start(
      ['nohup', programs.runnerExec, '--session', 's', '--', 'sh', '-c', 'echo ready $$; read line; echo got $line'],
      { stdin: 'open' },
    );
    await readyPid(run);
    run.kill('SIGHUP');
    run.write('this\n');
    expect(await run.ended).toMatchObject({ code: 0 });
    expect(lines(run)).toContain('got this');
  });

  it("a hang-up ends also what had stopped in the target's group", async () => {
    const run = holdfast.start([
      programs.runnerExec,
      '--session',
      's',
      '--',
      'sh',
      '-c',
      'sleep 60 & kill -STOP $!; echo stopped $!; echo ready $$; wait',
    ]);
    await readyPid(run);
    const stopped = Number(/stopped (\d+)/.exec(lines(run).join('\n'))?.[1]);
    await eventually(() => expect(stateOf(stopped)).toBe('T'));
    run.kill('SIGHUP');
    expect(await run.ended).toMatchObject({ signal: 'SIGHUP' });
    await eventually(() => expect(stateOf(stopped)).toBeUndefined());
  });

  it('setsid, nice, env and a subshell leave the ending as it is', async () => {
    const ending = async (before: string, command: string): Promise<number | null> =>
      (await holdfast.run(['bash', '-c', `${before} ${runnerExec} -- ${command}`])).code;
    for (const before of ['setsid -w', 'nice -n 3', 'env A=1', 'exec', '! false &&']) {
      expect([before, await ending(before, "sh -c 'exit 7'")]).toEqual([before, 7]);
      expect([before, (await holdfast.run(['bash', '-c', `(${before} ${runnerExec} -- sh -c 'kill -USR1 $$'); exit $?`])).code]).toEqual([
        before,
        138,
      ]);
    }
  });

  it('& of a script: the target ignores INT and QUIT, and its input is empty', async () => {
    const script = `${runnerExec} -- sh -c 'grep SigIgn /proc/self/status; readlink /proc/self/fd/0' & wait $!`;
    const direct = `sh -c 'grep SigIgn /proc/self/status; readlink /proc/self/fd/0' & wait $!`;
    const [through, by] = [await holdfast.run(['sh', '-c', script]), await holdfast.run(['sh', '-c', direct])];
    expect(through.stdout.toString()).toBe(by.stdout.toString());
    expect(through.stdout.toString()).toContain('/dev/null');
  });

  it('set -m makes a group that is signalled as one', async () => {
    const quick = `${runnerExec} --kill-grace 50ms`;
    const members = `${quick} -- '${tell}' | ${quick} -- sh -c '"${tell}" & cat; wait; wait'`;
    const run = holdfast.start(['bash', '-c', `set -m; ${members} & jobs -p; set +m; wait %1; exit`]);
    const group = -Number(await run.outputLine(/^\d+$/));
    await eventually(() => expect(lines(run)).toHaveLength(3));
    process.kill(group, 'SIGWINCH');
    await eventually(() => expect(lines(run).slice(3)).toEqual(['WINCH', 'WINCH']));
    process.kill(group, 'SIGKILL');
    await run.ended;
  });
});

describe('in a pipeline', () => {
  it('a writer without a reader dies of SIGPIPE, on either side', async () => {
    const status = async (script: string): Promise<string> => {
      const { stdout, stderr } = await holdfast.run(['bash', '-c', `${script}; echo "\${PIPESTATUS[*]}"`]);
      return `${stdout}${stderr}`;
    };
    expect(await status(`yes | ${runnerExec} -- head -n 1`)).toBe('y\n141 0\n');
    expect(await status(`${runnerExec} -- yes | head -n 1`)).toBe('y\n141 0\n');
    expect(await status(`${runnerExec} -- sh -c 'yes | head -n 1'`)).toBe('y\n0\n');
  });

  it('a signal to the whole group, as Ctrl-C is one, reaches the target once', async () => {
    const run = holdfast.start(
      ['bash', '-c', `trap : INT; '${tell}' </dev/null | ${runnerExec} --kill-grace 50ms -- sh -c "'${tell}' & cat; wait; wait"`],
      {
        detached: true,
      },
    );
    await eventually(() => expect(lines(run)).toHaveLength(2));
    for (const count of [4, 6]) {
      process.kill(-run.pid, 'SIGWINCH');
      await eventually(() => expect(lines(run)).toHaveLength(count));
    }
    expect(lines(run).slice(2)).toEqual(['WINCH', 'WINCH', 'WINCH', 'WINCH']);
    process.kill(-run.pid, 'SIGKILL');
    await run.ended;
  });
});
