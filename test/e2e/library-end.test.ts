// Pins DESIGN section 4, "Library-owned agents": a session never outlives the program that holds it, however that ends, and an ordinary
// end is not over before the session is. A container or a shell that survives Ctrl-C is a failed test.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { eventually } from '../harness/eventually.js';
import { programs, useHoldfast } from '../harness/holdfast.js';
import { isAlive } from '../harness/processes.js';
import type { Running, RunOptions } from '../harness/running.js';
import { Terminal } from '../harness/terminal.js';

const holdfast = useHoldfast();
const PROGRAM = join(import.meta.dirname, '../fixtures/library-program.mjs');
const PATIENCE_MS = 30_000;

/** A launcher whose exit trap says so in a file, and which has a process of its own beside it. */
function launcher(name: string): { options: string; ended: string } {
  const ended = join(holdfast.folder(), `${name}-ended`);
  const script = holdfast.program(`${name}.sh`, `trap 'echo yes >${ended}' EXIT\nexport HELD=${name}\nsleep 600 &\n"$@"\nkill $!\n`);
  return { options: JSON.stringify({ launcher: ['bash', script], killGraceMs: 200 }), ended };
}

function argvOf(options: readonly string[], end: readonly string[]): [string, ...string[]] {
  return [process.execPath, PROGRAM, programs.library, ...options, '--', ...end];
}

function start(options: readonly string[], end: readonly string[], run: RunOptions = {}): Running {
  return holdfast.start(argvOf(options, end), run);
}

/** The pids of the agents, once the program holds its sessions. */
async function agentsOf(program: Running): Promise<number[]> {
  const line = await program.outputLine(/^ready /, PATIENCE_MS);
  return line.split(' ').slice(1).map(Number);
}

function expectGone(pids: readonly number[]): void {
  expect(pids.filter((pid) => isAlive(pid))).toEqual([]);
}

describe('a program that ends with a session in its hands', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('by %s dies of it, and nothing is left by then', async (signal) => {
    const { options, ended } = launcher('web');
    const program = start([options], ['wait']);
    const agents = await agentsOf(program);
    program.kill(signal);
    expect(await program.exited).toEqual({ code: null, signal });
    expectGone(agents);
    expect(await holdfast.run(['cat', ended])).toMatchObject({ code: 0 });
  });

  it.each([
    ['process.exit', ['exit', '7'], 7],
    ['its natural end', ['exit-code', '6'], 6],
    ['an uncaught exception', ['throw'], 1],
    ['an unhandled rejection', ['reject'], 1],
  ] as const)('by %s keeps its exit code, and nothing is left by then', async (_, end, code) => {
    const { options } = launcher('web');
    const program = start([options], end);
    const agents = await agentsOf(program);
    expect(await program.exited).toEqual({ code, signal: null });
    expectGone(agents);
    if (code === 1) expect((await program.ended).stderr.toString()).toContain('a bug of the program');
  });

  it('by SIGKILL leaves nothing for long', async () => {
    const { options } = launcher('web');
    const program = start([options], ['wait']);
    const agents = await agentsOf(program);
    program.kill('SIGKILL');
    await program.exited;
    await eventually(() => expectGone(agents), PATIENCE_MS);
  });

  it.each([
    ['SIGKILL', ['wait']],
    ['process.exit', ['exit', '0']],
  ] as const)('by %s leaves nothing of what its launcher leaves, either', async (how, end) => {
    const said = join(holdfast.folder(), 'company');
    const script = holdfast.program('company.sh', `sleep 600 & echo $! >${said}\n"$@"\n`);
    const program = start([JSON.stringify({ launcher: ['bash', script] })], end);
    await agentsOf(program);
    const { stdout } = await holdfast.run(['cat', said]);
    if (how === 'SIGKILL') program.kill(how);
    await program.exited;
    await eventually(() => expectGone([Number(stdout.toString())]), PATIENCE_MS);
  });

  it('takes what runs in the session with it, even what does not want to go', async () => {
    const { options } = launcher('web');
    const program = start([options], ['run']);
    const agents = await agentsOf(program);
    const [, pid = ''] = (await program.outputLine(/^running /, PATIENCE_MS)).split(' ');
    program.kill('SIGTERM');
    expect(await program.exited).toEqual({ code: null, signal: 'SIGTERM' });
    expectGone([...agents, Number(pid)]);
  });

  it('beside a package that waits for its own turn to end the process does end', async () => {
    const { options } = launcher('web');
    const program = start([options], ['spawn']);
    const agents = await agentsOf(program);
    await program.outputLine(/^running /, PATIENCE_MS);
    program.kill('SIGINT');
    expect(await program.exited).toEqual({ code: null, signal: 'SIGINT' });
    await eventually(() => expectGone(agents), PATIENCE_MS);
  });

  it('ends a session that lies on top of another with the one beneath', async () => {
    const { options } = launcher('base');
    const { options: top } = launcher('top');
    const program = start([options, JSON.stringify({ ...JSON.parse(top), on: true })], ['wait']);
    const agents = await agentsOf(program);
    expect(agents).toHaveLength(2);
    program.kill('SIGINT');
    await program.exited;
    expectGone(agents);
  });

  it('ends the one session of a pool', async () => {
    const { options } = launcher('web');
    const program = start([options], ['pool']);
    const agents = await agentsOf(program);
    expect(agents).toHaveLength(1);
    program.kill('SIGTERM');
    await program.exited;
    expectGone(agents);
  });
});

it('a worker thread takes its session with it, and the program goes on', async () => {
  const worker = holdfast.program(
    'worker.mjs',
    `import { Worker, isMainThread } from 'node:worker_threads';
     import { fileURLToPath } from 'node:url';
     if (isMainThread) new Worker(fileURLToPath(import.meta.url)).on('exit', (code) => console.log('worker', code));
     else {
       const { openSession } = await import(${JSON.stringify(programs.library)});
       const session = await openSession({ launcher: ['env', 'HELD=yes'] });
       for await (const line of session.run({ program: 'printenv', args: ['HELD'] })) console.log(line);
     }`,
  );
  const { code, stdout, stderr } = await holdfast.run([process.execPath, worker]);
  expect([code, `${stdout}`, `${stderr}`]).toEqual([0, 'yes\nworker 0\n', '']);
});

describe('a program with a handler of its own', () => {
  it('decides by itself, and the session ends when it does', async () => {
    const { options } = launcher('web');
    const program = start([options], ['handler']);
    const agents = await agentsOf(program);
    program.kill('SIGINT');
    await program.outputLine('handled', PATIENCE_MS);
    expect(await program.exited).toEqual({ code: 9, signal: null });
    expectGone(agents);
  });

  it('that goes on keeps its session', async () => {
    const { options } = launcher('web');
    const program = start([options], ['bear']);
    const agents = await agentsOf(program);
    program.kill('SIGINT');
    await program.outputLine('borne 0', PATIENCE_MS);
    expect(agents.every((pid) => isAlive(pid))).toBe(true);
    program.kill('SIGKILL');
    await program.exited;
    await eventually(() => expectGone(agents), PATIENCE_MS);
  });
});

describe('a session that is being entered', () => {
  const slow = (): string => JSON.stringify({ launcher: ['bash', holdfast.program('slow.sh', 'echo entering; sleep 600; "$@"\n')] });

  it('ends with the signal that ends its program', async () => {
    const program = start([slow()], ['opening']);
    await program.outputLine('progress entering', PATIENCE_MS);
    program.kill('SIGINT');
    expect(await program.exited).toEqual({ code: null, signal: 'SIGINT' });
  });

  it('ends with process.exit', async () => {
    const program = start([slow()], ['exit-opening', '500']);
    expect(await program.exited).toEqual({ code: 3, signal: null });
    // Its files are cleared away by whoever opens or closes next.
    await holdfast.holdfast(['close', '--all']);
  });
});

it('a session that was being entered when its program crashed is in no list, and leaves nothing but its log', async () => {
  const silent = JSON.stringify({ launcher: ['bash', holdfast.program('silent.sh', 'sleep 600; "$@"\n')] });
  const program = start([silent], ['throw-opening', '300']);
  expect(await program.exited).toEqual({ code: 1, signal: null });
  expect(`${(await holdfast.holdfast(['list', '--json'])).stdout}`).toBe('[]\n');
  expect(readdirSync(holdfast.runtimeDirectory).filter((file) => !file.endsWith('.log'))).toEqual([]);
});

it('Ctrl-C on a terminal leaves no process and no socket', async () => {
  const { options, ended } = launcher('web');
  const terminal = new Terminal(argvOf([options], ['run']), { env: holdfast.env, cwd: holdfast.directory });
  await terminal.sees(/running \d+/, PATIENCE_MS);
  const agents = /ready (\d+)/.exec(terminal.text)?.slice(1).map(Number) ?? [];
  terminal.type('\x03');
  expect(await terminal.ended()).toMatchObject({ signal: 2 });
  expectGone(agents);
  expect(await holdfast.run(['cat', ended])).toMatchObject({ code: 0 });
});

it('a teardown that is asked for twice is one', async () => {
  const { options } = launcher('web');
  const program = start([options], ['teardown']);
  const agents = await agentsOf(program);
  await program.outputLine('torn down', PATIENCE_MS);
  expectGone(agents);
  expect(await program.exited).toEqual({ code: 0, signal: null });
});
