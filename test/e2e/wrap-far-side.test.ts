// A wrapper that is only a remote control (test/fixtures/wrap/remote.py): what it starts belongs to a server, and is signalled and
// ended all the same. DESIGN section 4 "Ending", "Wrap"; docs/config.md "The far side".

import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { useHoldfast } from '../harness/holdfast.js';
import { allProcesses, isAlive } from '../harness/processes.js';
import type { Running } from '../harness/running.js';
import type { Session } from '../harness/session.js';

const holdfast = useHoldfast();
const remote = fileURLToPath(new URL('../fixtures/wrap/remote.py', import.meta.url));
const WITHIN_MS = 30_000;

/** Outside of what a test must leave behind: it is not of this side. */
class Server {
  readonly directory = mkdtempSync(join(tmpdir(), 'far-'));
  readonly socket = join(this.directory, 's');
  readonly #child = spawn('python3', [remote, 'serve', this.socket], {
    cwd: '/',
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  readonly #ended = new Promise((resolve) => this.#child.once('exit', resolve));

  async start(): Promise<this> {
    await new Promise((resolve) => this.#child.stdout.once('data', resolve));
    return this;
  }

  async end(): Promise<void> {
    this.#child.kill('SIGTERM');
    await this.#ended;
    rmSync(this.directory, { recursive: true, force: true });
  }
}

let server: Server;

beforeAll(async () => {
  server = await new Server().start();
});

afterAll(async () => await server.end());

let serial = 0;

async function open(lines: readonly string[] = [], path = server.socket): Promise<Session> {
  const name = `far-${++serial}`;
  const file = join(holdfast.folder(), 'holdfast.toml');
  const prefix = JSON.stringify([remote, 'run', path]);
  const own = lines.some((line) => line.startsWith('env_style')) ? [] : ['env_style = "option"'];
  const cwd = lines.includes('# no cwd_option') ? [] : ['cwd_option = "-w"'];
  writeFileSync(file, ['[session]', `prefix = ${prefix}`, 'end_of_options = "--"', ...own, ...cwd, ...lines].join('\n'));
  const { code, stderr } = await holdfast.holdfast(['open', name, '--config', file]);
  expect([code, stderr.toString()]).toEqual([0, '']);
  return await holdfast.adopt(name);
}

/** A command of several processes, of which one has left the session and one was forked twice: kind → pid. */
const FAMILY = `
quiet() { exec </dev/null >/dev/null 2>&1; exec sleep 300; }
(quiet) & echo "child $!"
setsid sh -c 'echo "away $$"; exec </dev/null >/dev/null 2>&1; exec sleep 300' &
( setsid sh -c 'sh -c "echo twice \\$\\$; exec </dev/null >/dev/null 2>&1; exec sleep 300" & exit' ) &
(trap '' TERM; exec </dev/null >/dev/null 2>&1; while :; do sleep 1; done) & echo "deaf $!"
echo "main $$"
wait
`;

async function familyOf(run: Running): Promise<Map<string, number>> {
  return await eventually(() => {
    const lines = run.stdout.toString().split('\n').slice(0, -1);
    const found = new Map(lines.map((line) => line.split(' ')).map(([kind = '', pid]): [string, number] => [kind, Number(pid)]));
    expect([...found.keys()].sort()).toEqual(['away', 'child', 'deaf', 'main', 'twice']);
    return found;
  }, WITHIN_MS);
}

async function expectGone(family: Map<string, number>): Promise<void> {
  await eventually(() => expect([...family].filter(([, pid]) => isAlive(pid)).map(([kind]) => kind)).toEqual([]), WITHIN_MS);
}

const start = (session: Session, ...flags: string[]): Running =>
  session.start(['sh', '-c', FAMILY], { flags: ['--kill-grace', '300ms', ...flags] });

describe('what runs on the far side', () => {
  it('is no descendant of the agent, and lives on when only the wrapper is ended', async () => {
    const session = await open(['far_side = "none"']);
    const run = start(session);
    const family = await familyOf(run);
    run.kill('SIGKILL');
    await run.exited;
    await eventually(() => expect(allProcesses().some(({ command }) => command.includes(`run ${server.socket}`))).toBe(false), WITHIN_MS);
    expect([...family].filter(([, pid]) => isAlive(pid)).length).toBe(5);
    for (const pid of family.values()) process.kill(pid, 'SIGKILL');
    await expectGone(family);
  });

  it.each([['env_style = "option"'], ['env_style = "option-by-name"'], ['env_style = "env-command"']])(
    'ends with its client, %s',
    async (style) => {
      const session = await open([style]);
      const run = start(session);
      const family = await familyOf(run);
      run.kill('SIGKILL');
      await expectGone(family);
    },
  );

  it('ends at its deadline, and the client says so', async () => {
    const session = await open();
    const run = start(session, '--timeout', '3s');
    const family = await familyOf(run);
    const { code, stderr } = await run.ended;
    expect([code, stderr.toString()]).toEqual([124, expect.stringContaining("'sh' did not end within 3s and was ended")]);
    await expectGone(family);
  });

  it('ends with the session, also what a command has left running', async () => {
    const session = await open();
    const left = await session.exec(['sh', '-c', 'setsid sleep 300 </dev/null >/dev/null 2>&1 & echo $!']);
    const leftPid = Number(left.stdout.toString());
    expect(isAlive(leftPid)).toBe(true);
    const run = start(session);
    const family = await familyOf(run);
    await session.close();
    expect((await run.ended).code).toBe(125);
    await expectGone(family);
    await eventually(() => expect(isAlive(leftPid)).toBe(false), WITHIN_MS);
  });

  it('ends when the agent is killed outright', async () => {
    const session = await open();
    const left = await session.exec(['sh', '-c', 'setsid sleep 300 </dev/null >/dev/null 2>&1 & echo $!']);
    const run = start(session);
    const family = await familyOf(run);
    process.kill(session.pid, 'SIGKILL');
    await run.ended;
    await expectGone(family);
    await eventually(() => expect(isAlive(Number(left.stdout.toString()))).toBe(false), WITHIN_MS);
  });

  it('ends with its job, and after it what the job has left', async () => {
    const session = await open();
    const id = (await session.output(['sh', '-c', `${FAMILY}`], { flags: ['--detach', '--kill-grace', '300ms'] })).trim();
    const logs = await eventually(async () => {
      const { stdout } = await holdfast.holdfast(['job', 'logs', session.name, id]);
      expect(stdout.toString().split('\n').length).toBe(6);
      return stdout.toString();
    }, WITHIN_MS);
    const family = new Map(
      logs
        .trim()
        .split('\n')
        .map((line) => line.split(' '))
        .map(([kind = '', pid]): [string, number] => [kind, Number(pid)]),
    );
    expect((await holdfast.holdfast(['job', 'kill', session.name, id])).code).toBe(0);
    await expectGone(family);

    const ended = (
      await session.output(['sh', '-c', 'setsid sleep 300 </dev/null >/dev/null 2>&1 & echo $!'], { flags: ['--detach'] })
    ).trim();
    await holdfast.holdfast(['job', 'wait', session.name, ended]);
    const leftPid = Number((await holdfast.holdfast(['job', 'logs', session.name, ended])).stdout.toString());
    expect(isAlive(leftPid)).toBe(true);
    expect((await holdfast.holdfast(['job', 'kill', session.name, ended])).code).toBe(0);
    await eventually(() => expect(isAlive(leftPid)).toBe(false), WITHIN_MS);
  });

  it('ends by a script on this host, where the way in is broken by then', async () => {
    const broken = await new Server().start();
    const session = await open([], broken.socket);
    const run = start(session);
    const family = await familyOf(run);
    rmSync(broken.socket);
    run.kill('SIGKILL');
    await expectGone(family);
    await broken.end();
  });

  it('ends by a command of the user’s own', async () => {
    const log = join(holdfast.folder(), 'log');
    const kill = holdfast.program(
      'kill',
      `#!/bin/bash\necho "$@" >>${log}\npkill() { :; }\nfor e in $(grep -lzF "HOLDFAST_RUN=$1" /proc/[0-9]*/environ 2>/dev/null); do kill -s "$2" "$(basename "$(dirname "$e")")"; done\nexit 0\n`,
    );
    const session = await open([`kill = [${JSON.stringify(kill)}, "{marker}", "{signal}", "{grace}"]`]);
    const run = start(session);
    const family = await familyOf(run);
    run.kill('SIGKILL');
    await expectGone(family);
    await eventually(
      () => expect(readFileSync(log, 'utf8')).toMatch(/^[0-9a-f]{24}\.\d+\. TERM 0\.3\n[0-9a-f]{24}\.\d+\. KILL 0\n/),
      WITHIN_MS,
    );
  });
});

describe('a signal of the user', () => {
  it.each(['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGUSR1', 'SIGUSR2'] as const)('gets to the far side once: %s', async (signal) => {
    const session = await open();
    const run = session.start([
      'sh',
      '-c',
      `n=0; trap 'n=$((n+1)); echo "got $n"' ${signal.slice(3)}; echo up; while :; do sleep 0.05; done`,
    ]);
    await run.outputLine('up', WITHIN_MS);
    run.kill(signal);
    await run.outputLine('got 1', WITHIN_MS);
    run.kill(signal);
    await run.outputLine('got 2', WITHIN_MS);
    expect(run.stdout.toString()).toBe('up\ngot 1\ngot 2\n');
    run.kill('SIGKILL');
    await run.exited;
  });

  it('ends the command, and the status is the command’s', async () => {
    const session = await open();
    const run = session.start(['sh', '-c', 'trap "exit 7" TERM; echo up; while :; do sleep 0.05; done']);
    await run.outputLine('up', WITHIN_MS);
    run.kill('SIGTERM');
    expect((await run.ended).code).toBe(7);
  });

  it('stops the far side and the client with it, and both go on', async () => {
    const session = await open();
    const run = session.start(['sh', '-c', 'echo up $$; i=0; while [ $i -lt 1000 ]; do i=$((i+1)); echo $i; sleep 0.05; done']);
    const far = Number((await run.outputLine(/^up \d+$/, WITHIN_MS)).slice('up '.length));
    const stateOf = (id: number): string | undefined => allProcesses().find(({ pid }) => pid === id)?.state;
    run.kill('SIGTSTP');
    await eventually(() => expect([stateOf(run.pid), stateOf(far)]).toEqual(['T', 'T']), WITHIN_MS);
    const before = run.stdout.length;
    run.kill('SIGCONT');
    await eventually(() => expect(run.stdout.length).toBeGreaterThan(before), WITHIN_MS);
    run.kill('SIGKILL');
    await run.exited;
  });

  it('is the wrapper’s where it has not reached its command yet', async () => {
    const never = holdfast.program('never', '#!/bin/bash\ntrap "exit 9" INT\necho up\nwhile :; do sleep 0.05; done\n');
    const file = join(holdfast.folder(), 'holdfast.toml');
    writeFileSync(file, `[session]\nprefix = [${JSON.stringify(never)}]\nenv_style = "env-command"\n`);
    expect((await holdfast.holdfast(['open', 'never', '--config', file])).code).toBe(0);
    const session = await holdfast.adopt('never');
    const run = session.start(['true']);
    await run.outputLine('up', WITHIN_MS);
    run.kill('SIGINT');
    expect((await run.exited).code).toBe(9);
  });
});

describe('an exit code that may be the wrapper’s own', () => {
  it('is the command’s when the command was reached', async () => {
    const signs = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('.holdfast-'));
    const before = signs();
    const session = await open(['failure_codes = [125, 127]']);
    for (const code of [0, 7, 125, 127]) expect((await session.exec(['sh', '-c', `exit ${code}`])).code).toBe(code);
    expect((await session.exec(['no-such-program'])).code).toBe(127);
    await session.close();
    expect(signs().filter((name) => !before.includes(name))).toEqual([]);
  });

  it('is ours when the wrapper failed, with the wrapper’s own words', async () => {
    const gone = await new Server().start();
    const session = await open(['failure_codes = [125]'], gone.socket);
    expect((await session.exec(['true'])).code).toBe(0);
    await gone.end();
    const { code, stdout, stderr } = await session.exec(['true']);
    expect([code, stdout.toString()]).toEqual([125, '']);
    expect(stderr.toString()).toContain('remote: cannot reach the server: No such file or directory\n');
    expect(stderr.toString()).toMatch(
      /\nrunner-exec: the wrapper '.*remote\.py' failed with exit code 125; hint: its own words are above\n$/,
    );
  });

  it('is ours when the command could not be reached, and the wrapper works', async () => {
    const session = await open(['# no cwd_option', 'failure_codes = [125]']);
    const { code, stderr } = await session.exec(['true'], { flags: ['--cwd', '/no/such/directory'] });
    expect(code).toBe(125);
    expect(stderr.toString()).toMatch(/the wrapper '.*' failed with exit code 125 before the command was started/);
  });
});
