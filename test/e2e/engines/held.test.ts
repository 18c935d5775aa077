// Containers that a session holds: made when it is opened, gone when it is over, however that comes about.

import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { preset } from '../../engines/contract.js';
import { IMAGE, startDocker } from '../../engines/docker.js';
import { startPodman } from '../../engines/podman.js';
import type { Engine } from '../../engines/site.js';
import { useEngines } from '../../engines/use-engines.js';
import { eventually } from '../../harness/eventually.js';
import { programs, useHoldfast } from '../../harness/holdfast.js';
import { allProcesses } from '../../harness/processes.js';
import type { Session } from '../../harness/session.js';
import { Terminal } from '../../harness/terminal.js';

const holdfast = useHoldfast();
const engines = useEngines(holdfast);
const PATIENCE_MS = 40_000;

const KINDS = [
  { name: 'docker', start: startDocker, preset: 'docker', more: {} },
  { name: 'podman', start: startPodman, preset: 'podman', more: {} },
  { name: 'nsenter', start: startDocker, preset: 'nsenter', more: { engine: 'docker' } },
] as const;
type Kind = (typeof KINDS)[number];

async function engineOf({ name, start }: Kind, t: TestContext): Promise<Engine> {
  const program = name === 'podman' ? 'podman' : 'docker';
  return await engines.need(t, program, ['root', program, 'busybox'], start);
}

function flags({ preset: name, more }: Kind): string[] {
  return preset(name, { image: IMAGE, network: 'none', ...more });
}

async function open(kind: Kind, as: string, work: string, ...extra: string[]): Promise<Session> {
  const { code, stdout, stderr } = await holdfast.holdfast(['open', as, ...flags(kind), ...extra], { cwd: work });
  expect({ code, stdout: `${stdout}`, stderr: `${stderr}` }).toEqual({ code: 0, stdout: '', stderr: '' });
  return await holdfast.adopt(as, false, work);
}

/** Names of all containers, running or not. */
async function containers(engine: Engine): Promise<string[]> {
  return (await engines.output(engine, 'ps', '-a', '--format', '{{.Names}}')).split('\n').filter((name) => name.startsWith('holdfast-'));
}

async function expectNone(engine: Engine): Promise<void> {
  await eventually(async () => expect(await containers(engine)).toEqual([]), PATIENCE_MS);
}

describe.each(KINDS)('a container held by $name', (kind) => {
  it('has the work at its place, is told of, and goes when the session is closed', async (t) => {
    const engine = await engineOf(kind, t);
    const work = holdfast.folder('work');
    writeFileSync(join(work, 'in'), 'from outside\n');
    const session = await open(kind, `held-${kind.name}`, work);
    expect(await containers(engine)).toHaveLength(1);
    expect(await session.output(['sh', '-c', 'cat in; echo from inside >out; pwd; readlink -f /bin/sh'], { cwd: work })).toBe(
      `from outside\n${work}\n/bin/busybox\n`,
    );
    expect(readFileSync(join(work, 'out'), 'utf8')).toBe('from inside\n');
    expect(statSync(join(work, 'out')).uid).toBe(process.getuid?.());
    expect(await session.status()).toMatchObject({
      held: { name: expect.stringMatching(/^holdfast-held-/), identity: expect.stringMatching(/^(sha256:)?[0-9a-f]{64}$/) },
    });
    // Process 1 reaps what nobody waits for.
    await session.output(['sh', '-c', '(setsid sleep 0.05 &) ; sleep 0.2'], { cwd: work });
    expect(await session.output(['ps', '-o', 'args'], { cwd: work })).not.toContain('[sleep]');
    await session.close();
    await expectNone(engine);
  });

  it('goes when the session idles out, and when its agent is killed', async (t) => {
    const engine = await engineOf(kind, t);
    const work = holdfast.folder('work');
    // Not taken in: it may be over before it could be asked about.
    const { code } = await holdfast.holdfast(['open', `idle-${kind.name}`, ...flags(kind), '--idle-timeout', '300ms'], { cwd: work });
    expect(code).toBe(0);
    await expectNone(engine);

    const killed = await open(kind, `killed-${kind.name}`, work);
    const command = killed.start(['sh', '-c', 'echo ready; sleep 1000'], { cwd: work });
    await command.outputLine('ready', PATIENCE_MS);
    process.kill(killed.pid, 'SIGKILL');
    await expectNone(engine);
    await command.ended;
  });

  it('is not there when the opening is interrupted', async (t) => {
    const engine = await engineOf(kind, t);
    const work = holdfast.folder('work');
    // At different moments of the start: before, while and after the container is made.
    for (const waitMs of [60, 200, 500]) {
      const terminal = new Terminal([process.execPath, programs.holdfast, 'open', `cut-${kind.name}-${waitMs}`, ...flags(kind)], {
        env: holdfast.env,
        cwd: work,
      });
      const deadline = performance.now() + waitMs;
      await eventually(() => expect(performance.now()).toBeGreaterThan(deadline), PATIENCE_MS);
      terminal.type('\x03');
      const { code } = await terminal.ended();
      if (code === 0) await holdfast.holdfast(['close', `cut-${kind.name}-${waitMs}`]);
      await expectNone(engine);
      expect(
        allProcesses().filter(({ command, state }) => state !== 'Z' && command.includes('__keeper') && command.includes(work)),
      ).toEqual([]);
    }
  });

  it('is told of, and not there, when the image is none', async (t) => {
    const engine = await engineOf(kind, t);
    const work = holdfast.folder('work');
    const [image = ''] = flags(kind).filter((flag) => flag.startsWith('image='));
    const wrong = flags(kind).map((flag) => (flag === image ? 'image=localhost:1/no/such:image' : flag));
    const { code, stderr } = await holdfast.holdfast(['open', 'wrong', ...wrong], { cwd: work });
    expect(code).toBe(1);
    expect(`${stderr}`).toContain("the start command of session 'wrong' ended with status 125");
    await expectNone(engine);
  });
});

describe('make -j8 in a held container', () => {
  const STEPS = 200;

  it('leaves no process and no container when Ctrl-C comes in the middle', { timeout: 180_000 }, async (t) => {
    const [docker] = KINDS;
    const engine = await engineOf(docker, t);
    const work = holdfast.folder('make');
    const mark = `4711${process.pid}`;
    const steps = Array.from({ length: STEPS }, (_, index) => `s${index}`).join(' ');
    const recipe = `@${programs.runnerExec} --session box -- sh -c 'echo begun >>log; test ${'$@'} = s0 -o ${'$@'} = s1 && exit 0; exec sleep ${mark}'`;
    writeFileSync(
      join(work, 'Makefile'),
      `all: ${steps}\ninclude box.mk\nbox.mk: ; @${process.execPath} ${programs.holdfast} open box ${flags(docker).join(' ')} && touch $@\n${steps}: ; ${recipe}\n`,
    );
    const terminal = new Terminal(['make', '-j8', 'all'], { env: holdfast.env, cwd: work });
    const sleepers = (): number => allProcesses().filter(({ state, command }) => state !== 'Z' && command === `sleep ${mark}`).length;
    await eventually(() => expect(sleepers()).toBe(8), PATIENCE_MS);
    expect(await containers(engine)).toHaveLength(1);
    terminal.type('\x03');
    // make dies of it itself.
    expect(await terminal.ended()).toMatchObject({ signal: 2 });
    await eventually(() => expect(sleepers()).toBe(0), PATIENCE_MS);
    const begun = readFileSync(join(work, 'log'), 'utf8').split('\n').length - 1;
    expect(begun).toBeGreaterThanOrEqual(10);
    expect(begun).toBeLessThan(STEPS);
    // The session was opened in make's own process group, and is nobody's but the user's: it is there until it is closed.
    const session = await holdfast.adopt('box', false, work);
    expect(await session.output(['ps', '-o', 'args'], { cwd: work })).not.toContain(mark);
    await session.close();
    await expectNone(engine);
    expect(existsSync(`${session.socket.slice(0, -5)}.keep`)).toBe(false);
  });
});
