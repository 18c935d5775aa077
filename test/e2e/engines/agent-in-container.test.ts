// A session whose launcher is a container: the agent lives inside, and the caller's descriptors reach into it. docs/scale-out.md says how.

import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { IMAGE, startDocker } from '../../engines/docker.js';
import { startPodman } from '../../engines/podman.js';
import type { Engine } from '../../engines/site.js';
import { useEngines } from '../../engines/use-engines.js';
import { eventually } from '../../harness/eventually.js';
import { programs, useHoldfast } from '../../harness/holdfast.js';
import { findProcess, isAlive } from '../../harness/processes.js';
import type { Session } from '../../harness/session.js';
import { Terminal } from '../../harness/terminal.js';

const holdfast = useHoldfast();
const engines = useEngines(holdfast);

const KINDS = [
  { name: 'docker', start: startDocker },
  { name: 'podman', start: startPodman },
] as const;

/** What the agent needs inside: itself, node and the libraries of this machine, the runtime directory, and the work. */
function mounts(): string[] {
  const own = dirname(dirname(programs.holdfast));
  const readOnly = [own, process.execPath, '/usr/lib', '/lib', '/lib64', '/usr/lib64'].filter((path) => existsSync(path));
  return [...readOnly.map((path) => `${path}:${path}:ro`), `${holdfast.directory}:${holdfast.directory}`].flatMap((each) => ['-v', each]);
}

async function open(
  { name, start }: (typeof KINDS)[number],
  test: TestContext,
): Promise<{ session: Session; engine: Engine; container: string }> {
  const engine = await engines.need(test, name, ['root', name, 'busybox'], start);
  const container = `agent-${name}`;
  const run = ['run', '--rm', '-i', '--init', '--name', container, '--network', 'none', '-w', holdfast.directory, ...mounts(), IMAGE];
  const names = Object.keys(engine.env).flatMap((each) => ['--launch-pass-env', each]);
  const session = await holdfast.open(name, { launcher: [...engine.client, ...run], flags: names, env: { ...engine.env } });
  return { session, engine, container };
}

async function expectGone(engine: Engine, container: string): Promise<void> {
  await eventually(
    async () => expect((await engines.output(engine, 'ps', '-a', '--format', '{{.Names}}')).split('\n')).not.toContain(container),
    30_000,
  );
}

describe.each(KINDS)('an agent in a container of $name', (kind) => {
  it('runs commands inside, on the caller’s descriptors, in its directory, and ends as they end', async (t) => {
    const { session, engine, container } = await open(kind, t);
    expect(await session.output(['readlink', '/bin/sh'])).toBe('busybox\n');
    expect(await session.output(['printf', '[%s]', 'a b', '', '$x', "'"])).toBe("[a b][][$x][']");
    expect(await session.output(['pwd'], { cwd: holdfast.directory })).toBe(`${holdfast.directory}\n`);
    expect(await session.output(['sh', '-c', 'cat; echo $A'], { stdin: 'in', flags: ['--env', 'A=1'] })).toBe('in1\n');
    expect(await session.exec(['sh', '-c', 'exit 42'])).toMatchObject({ code: 42 });
    expect(await session.exec(['sh', '-c', 'kill -9 $$'])).toMatchObject({ signal: 'SIGKILL' });
    expect(await session.exec(['no-such-program'])).toMatchObject({ code: 127 });
    // What is told of the agent is its number here.
    expect(findProcess(session.pid)?.command).toContain('__runner-agent');
    await session.close();
    await expectGone(engine, container);
  });

  it('has signals, cancellation and pseudo-terminals as elsewhere', async (t) => {
    const { session, engine, container } = await open(kind, t);
    const caught = session.start(['sh', '-c', 'trap "echo caught; exit 3" TERM; echo ready; while :; do sleep 0.1; done']);
    await caught.outputLine('ready', 20_000);
    caught.kill('SIGTERM');
    expect(await caught.ended).toMatchObject({ code: 3, stdout: Buffer.from('ready\ncaught\n') });

    const dropped = session.start([
      'sh',
      '-c',
      `sleep 1000 & setsid sleep 1001 & echo ready; cat /proc/self/task/1/children 2>/dev/null; wait`,
    ]);
    await dropped.outputLine('ready', 20_000);
    const running = async (): Promise<string> => await engines.output(engine, 'exec', container, 'ps', '-o', 'args');
    expect(await running()).toContain('sleep 1001');
    dropped.kill('SIGKILL');
    await eventually(async () => expect(await running()).not.toMatch(/sleep 100[01]/), 20_000);

    const terminal = new Terminal([programs.runnerExec, '--session', kind.name, '-t', '--', 'sh', '-c', 'stty size; read x; echo got-$x'], {
      env: holdfast.env,
      rows: 31,
      columns: 97,
    });
    await terminal.sees('31 97', 20_000);
    terminal.type('word\r');
    expect(await terminal.ended()).toMatchObject({ code: 0, text: expect.stringContaining('got-word') });
    await session.close();
    await expectGone(engine, container);
  });

  it('takes the container with it when it is killed', async (t) => {
    const { session, engine, container } = await open(kind, t);
    const { pid } = session;
    process.kill(pid, 'SIGKILL');
    await eventually(() => expect(isAlive(pid)).toBe(false), 20_000);
    await expectGone(engine, container);
  });
});
