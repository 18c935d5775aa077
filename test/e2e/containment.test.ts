// What a request has started ends with it when it is cancelled, wherever that has moved to, and nothing else does. DESIGN section 4
// "Ending". The three containments differ in what they reach: a group does not reach what left it.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, type TestContext } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { useHoldfast } from '../harness/holdfast.js';
import { needs } from '../harness/needs.js';
import { allProcesses, findProcess, isAlive } from '../harness/processes.js';
import type { Running } from '../harness/running.js';
import type { Session } from '../harness/session.js';

const holdfast = useHoldfast();

type Mode = 'cgroup' | 'warden' | 'group';
const MODES: Mode[] = ['cgroup', 'warden', 'group'];

function needsMode(t: TestContext, mode: Mode): void {
  if (mode === 'cgroup') needs(t, 'cgroup2 (writable)');
}

async function openIn(mode: Mode, name = `s-${mode}`): Promise<Session> {
  const session = await holdfast.open(name, { flags: ['--containment', mode] });
  expect(await session.status()).toMatchObject({ containment: mode });
  return session;
}

/** Starts one process of each kind and says "KIND PID" for it; those whose kind begins with 'away' have left the group. */
const FAMILY = `
say() { echo "$1 $2"; }
quiet() { exec </dev/null >/dev/null 2>&1; exec sleep 60; }
(quiet) & say child $!
(trap '' TERM HUP INT; quiet) & say deaf $!
(quiet) & say stopped $!; kill -STOP $!
( (quiet) & say twice $! )
nohup sh -c 'exec sleep 60' </dev/null >/dev/null 2>&1 & say nohup $!
setsid sh -c 'echo "away $$"; exec </dev/null >/dev/null 2>&1; exec sleep 60' &
setsid sh -c 'trap "" TERM HUP; echo "away-deaf $$"; exec </dev/null >/dev/null 2>&1; exec sleep 60' &
( setsid sh -c 'sh -c "echo away-twice \\$\\$; exec </dev/null >/dev/null 2>&1; exec sleep 60" & exit' ) &
say target $$
`;
const KINDS = ['child', 'deaf', 'stopped', 'twice', 'nohup', 'away', 'away-deaf', 'away-twice', 'target'];

/** A family that has got going: kind → process id. */
async function familyOf(run: Running): Promise<Map<string, number>> {
  return await eventually(() => {
    const found = new Map(
      run.stdout
        .toString()
        .split('\n')
        .slice(0, -1)
        .map((line): [string, number] => {
          const [kind = '', pid] = line.split(' ');
          return [kind, Number(pid)];
        }),
    );
    expect([...found.keys()].sort()).toEqual([...KINDS].sort());
    return found;
  });
}

function alive(family: Map<string, number>): string[] {
  return [...family].filter(([, pid]) => isAlive(pid)).map(([kind]) => kind);
}

/** What a mode cannot reach is ended here. */
function endAway(family: Map<string, number>): void {
  for (const [kind, pid] of family) if (kind.startsWith('away') && isAlive(pid)) process.kill(pid, 'SIGKILL');
}

const start = (session: Session, code: string, ...flags: string[]): Running =>
  session.start(['sh', '-c', code], { flags: ['--kill-grace', '300ms', ...flags] });

describe.for(MODES)('contained by a %s', (mode) => {
  const reached = (kind: string): boolean => mode !== 'group' || !kind.startsWith('away');

  it('all of a cancelled request dies, and nothing else', async (t) => {
    needsMode(t, mode);
    const session = await openIn(mode);
    const sibling = session.start(['sh', '-c', 'sleep 60 & echo up; read line; kill $!; exit 7'], { stdin: 'open' });
    await sibling.outputLine('up');
    const run = start(session, `${FAMILY} wait; wait; sleep 60`);
    const family = await familyOf(run);
    run.kill('SIGKILL');
    await eventually(() => expect(alive(family).filter(reached)).toEqual([]));
    expect(alive(family)).toEqual(mode === 'group' ? [...family.keys()].filter((kind) => !reached(kind)) : []);
    expect(await session.output(['echo', 'served'])).toBe('served\n');
    sibling.write('\n');
    expect(await sibling.ended).toMatchObject({ code: 7 });
    // The rest ends with the session at the latest: the harness looks.
  });

  it('a deadline takes the same way', async (t) => {
    needsMode(t, mode);
    const session = await openIn(mode);
    const run = start(session, `${FAMILY} trap '' TERM; sleep 60`, '--timeout', '1s');
    const family = await familyOf(run);
    expect(await run.exited).toEqual({ code: 124, signal: null });
    await eventually(() => expect(alive(family).filter(reached)).toEqual([]));
  });

  it('what a command leaves is listed, lives on, and ends with the session', async (t) => {
    needsMode(t, mode);
    const session = await openIn(mode);
    const report = `${holdfast.folder()}/report`;
    const run = start(session, `${FAMILY} sleep 0.2`, '--report', report);
    const family = await familyOf(run);
    expect(await run.exited).toEqual({ code: 0, signal: null });
    const { leftovers } = JSON.parse(readFileSync(report, 'utf8'));
    const expected = [...family].filter(([kind]) => kind !== 'target' && reached(kind)).map(([, pid]) => pid);
    expect([...leftovers].sort()).toEqual(expected.sort());
    expect(alive(family)).toEqual([...family.keys()].filter((kind) => kind !== 'target'));
    await session.output(['true']);
    expect(alive(family)).toHaveLength(KINDS.length - 1);
    await session.close();
    expect(alive(family)).toEqual([]);
  });

  it('a client that is killed takes everything with it, also when its terminal goes first', async (t) => {
    needsMode(t, mode);
    const session = await openIn(mode);
    for (let i = 0; i < 10; i++) {
      const run = start(session, `${FAMILY} sleep 60`, '-t', '--kill-grace', '1ms');
      const family = await familyOf(run);
      run.kill('SIGKILL');
      await run.exited;
      await eventually(() => expect(alive(family).filter(reached)).toEqual([]));
      endAway(family);
    }
  });

  it('an agent that is killed takes everything with it', async (t) => {
    needsMode(t, mode);
    const session = await openIn(mode);
    const helpers = session.processes().filter(({ pid }) => pid !== session.pid);
    const run = start(session, `${FAMILY} sleep 60`);
    const family = await familyOf(run);
    const cgroup = cgroupOf(family.get('target') ?? 0);
    process.kill(session.pid, 'SIGKILL');
    expect(await run.exited).toEqual({ code: 125, signal: null });
    await eventually(() => expect(alive(family).filter(reached)).toEqual([]));
    endAway(family);
    await eventually(() => expect(helpers.filter(({ pid, startTicks }) => isAlive(pid, startTicks))).toEqual([]));
    if (mode === 'cgroup') await eventually(() => expect(existsSync(cgroup)).toBe(false));
    await run.ended;
    expect(run.stderr.toString()).toMatch(/^runner-exec: session 's-\w+' was lost while 'sh' ran \(pid \d+/);
  });

  it('what commands left dies with a killed agent too', async (t) => {
    needsMode(t, mode);
    if (mode === 'group') return; // nobody is there to do it: docs/differences.md
    const session = await openIn(mode);
    const run = start(session, FAMILY);
    const family = await familyOf(run);
    await run.exited;
    process.kill(session.pid, 'SIGKILL');
    await eventually(() => expect(alive(family)).toEqual([]));
  });

  it('a storm of short-lived processes is ended whole', async (t) => {
    needsMode(t, mode);
    needs(t, 'perl');
    // 24 lines of succession, half of them in sessions of their own: each process lives for some ms, and is deaf.
    const storm = holdfast.program(
      'storm',
      `#!/usr/bin/perl
use POSIX 'setsid';
$SIG{$_} = 'IGNORE' for qw(TERM HUP INT); $SIG{CHLD} = 'IGNORE';
my $away = shift;
for my $line (1 .. 24) { next if fork; setsid if $away && $line % 2; my $until = time + 20; while (time < $until) { exit if fork; select undef, undef, undef, 0.003 } exit }
print "up\\n"; close STDOUT; sleep 60;
`,
    );
    const session = await openIn(mode);
    const run = start(session, `exec ${storm} ${mode === 'group' ? '' : 'away'}`);
    await run.outputLine('up');
    run.kill('SIGKILL');
    await eventually(() => expect(allProcesses().filter(({ state, command }) => state !== 'Z' && command.includes(storm))).toEqual([]));
    expect(await session.output(['echo', 'served'])).toBe('served\n');
  });
});

function cgroupOf(pid: number): string {
  const path = /^0::(.*)$/m.exec(readFileSync(`/proc/${pid}/cgroup`, 'utf8'))?.[1] ?? '';
  const mount =
    readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .find(([, , type]) => type === 'cgroup2')?.[1] ?? '';
  return `${mount}${path}`;
}

describe('a cgroup', () => {
  it('tells the processor time of the whole tree, and is gone after the close', async (t) => {
    needs(t, 'cgroup2 (writable)');
    const session = await openIn('cgroup');
    const report = `${holdfast.folder()}/report`;
    const burn = `head -c 100000000 /dev/zero | cksum >/dev/null`;
    const run = await session.exec(
      ['bash', '-c', `cat /proc/self/cgroup; setsid -w sh -c '${burn}' & (trap '' TERM; exec setsid -w sh -c '${burn}') & wait; times`],
      { flags: ['--report', report] },
    );
    const { usage, tree } = JSON.parse(readFileSync(report, 'utf8'));
    expect(tree.cpuUs).toBeGreaterThan(20_000);
    expect(tree.cpuUs).toBeGreaterThanOrEqual(0.9 * (usage.userUs + usage.systemUs));
    const own = /^0::(.*)$/m.exec(run.stdout.toString())?.[1] ?? '';
    expect(own).toMatch(new RegExp(`/holdfast-${session.pid}/r\\d+$`));
    const cgroup = `${cgroupOf(session.pid).replace(/\/$/, '')}/holdfast-${session.pid}`;
    expect(readdirSync(cgroup)).toContain('cgroup.kill');
    await session.close();
    await eventually(() => expect(existsSync(cgroup)).toBe(false));
  });

  it('is removed after the agent was killed, though its guard had been too', async (t) => {
    needs(t, 'cgroup2 (writable)');
    const session = await openIn('cgroup');
    const guardOf = (): number => session.processes().find(({ command }) => command.includes(' __guard '))?.pid ?? 0;
    const first = guardOf();
    process.kill(first, 'SIGKILL');
    await eventually(() => expect([0, first]).not.toContain(guardOf()));
    const cgroup = `${cgroupOf(session.pid).replace(/\/$/, '')}/holdfast-${session.pid}`;
    expect(existsSync(cgroup)).toBe(true);
    const run = start(session, FAMILY);
    const family = await familyOf(run);
    await run.exited;
    process.kill(session.pid, 'SIGKILL');
    await eventually(() => expect(existsSync(cgroup)).toBe(false));
    expect(alive(family)).toEqual([]);
  });

  it('that a request has killed is not given to the next one', async (t) => {
    needs(t, 'cgroup2 (writable)');
    const session = await openIn('cgroup');
    for (let i = 0; i < 20; i++) {
      const run = start(session, 'trap "" TERM; echo up; sleep 60', '--kill-grace', '1ms');
      await run.outputLine('up');
      run.kill('SIGKILL');
      expect(await session.output(['echo', 'served'])).toBe('served\n');
    }
  });
});

describe('a warden', () => {
  async function wardenOf(target: number): Promise<number> {
    return await eventually(() => {
      const warden = findProcess(findProcess(target)?.ppid ?? 0);
      expect(warden?.command).toContain('__warden');
      return warden?.pid ?? 0;
    });
  }

  it('that is killed takes its request with it, and the agent serves on', async () => {
    const session = await openIn('warden');
    const sibling = session.start(['sh', '-c', 'echo up; read line; exit 7'], { stdin: 'open' });
    await sibling.outputLine('up');
    const run = start(session, `${FAMILY} sleep 60`);
    const family = await familyOf(run);
    process.kill(await wardenOf(family.get('target') ?? 0), 'SIGKILL');
    expect(await run.exited).toEqual({ code: null, signal: 'SIGKILL' });
    await eventually(() => expect(alive(family)).toEqual([]));
    expect(await session.output(['echo', 'served'])).toBe('served\n');
    sibling.write('\n');
    expect(await sibling.ended).toMatchObject({ code: 7 });
  });

  it('that is killed after its target has ended takes what that left', async () => {
    const session = await openIn('warden');
    const run = start(session, `sleep 0.2; ${FAMILY}`);
    const target = eventually(() => {
      const client = findProcess(run.pid);
      const found = allProcesses().find(({ command, ppid }) => command.startsWith('sh -c sleep 0.2') && ppid !== client?.ppid);
      expect(found).toBeDefined();
      return found?.pid ?? 0;
    });
    const warden = await wardenOf(await target);
    const family = await familyOf(run);
    await run.exited;
    process.kill(warden, 'SIGKILL');
    await eventually(() => expect(alive(family)).toEqual([]));
    expect(await session.output(['echo', 'served'])).toBe('served\n');
  });

  it('that ends before it has read all its orders has its last word heard', async () => {
    const session = await openIn('warden');
    const run = session.start(['sh', '-c', 'echo "target $$"; exec sleep 60']);
    const target = Number((await run.outputLine(/^target \d+$/)).split(' ')[1]);
    const warden = await wardenOf(target);
    // The target may be faster than the warden's word of its start, for which the agent stands still.
    await eventually(async () => expect(await session.status()).toMatchObject({ running: 1 }));
    process.kill(warden, 'SIGSTOP');
    process.kill(target, 'SIGKILL');
    const closed = session.close();
    // Its orders are TERM and CONT; on the first it finds that it holds nothing any more.
    await eventually(() => expect(existsSync(session.socket)).toBe(false));
    process.kill(warden, 'SIGCONT');
    await closed;
    expect(await run.exited).toEqual({ code: 125, signal: null });
    await run.ended;
    expect(run.stderr.toString()).toMatch(/^runner-exec: session 's-warden' was closed while 'sh' ran; hint: .*\n$/);
  });

  it('is there only as long as something of its request is', async () => {
    const session = await openIn('warden');
    const wardens = (): unknown[] => session.processes().filter(({ command }) => command.includes('__warden'));
    await session.exec(['sh', '-c', 'sleep 0.3 >/dev/null 2>&1 &']);
    expect(wardens()).toHaveLength(1);
    await eventually(() => expect(wardens()).toEqual([]));
  });
});

it('is a warden where no cgroup can be had', async (t) => {
  // A cgroup2 that is mounted read-only, as in a container.
  needs(t, 'root', 'cgroup2 (writable)', 'unshare');
  const mount =
    readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .find(([, , type]) => type === 'cgroup2')?.[1] ?? '';
  const launcher = holdfast.program(
    'launcher',
    `#!/bin/sh\nexec unshare -m sh -c 'mount --bind "${mount}" "${mount}" && mount -o remount,bind,ro "${mount}" && exec "$@"' sh "$@"\n`,
  );
  const session = await holdfast.open('read-only', { launcher: [launcher] });
  expect(await session.status()).toMatchObject({ containment: 'warden' });
  expect(await session.output(['echo', 'served'])).toBe('served\n');
  const refused = await holdfast.holdfast(['open', 'exact', '--containment', 'cgroup', '--', launcher]);
  expect(refused.code).toBe(1);
  expect(refused.stderr.toString()).toContain('no cgroup v2 can be made here');
});
