// Containers that run already: docker, podman, runc and crun by their own `exec`, and docker's by nsenter.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { describeContract, preset } from '../../engines/contract.js';
import { IMAGE, startDocker } from '../../engines/docker.js';
import { CONTAINER, startOci } from '../../engines/oci.js';
import { startPodman } from '../../engines/podman.js';
import type { Engine, Site } from '../../engines/site.js';
import { useEngines } from '../../engines/use-engines.js';
import { useHoldfast } from '../../harness/holdfast.js';

const holdfast = useHoldfast();
const engines = useEngines(holdfast);

const running = new Set<string>();
/** A container of the engine that has the folder; made once. */
async function containerOf(t: TestContext, name: 'docker' | 'podman', folder: string): Promise<string> {
  const engine = await engines.need(t, name, ['root', name, 'busybox'], name === 'docker' ? startDocker : startPodman);
  const container = `contract-${name}`;
  if (!running.has(container)) {
    running.add(container);
    await engines.output(
      engine,
      'run',
      '-d',
      '--init',
      '--name',
      container,
      '--network',
      'none',
      '-v',
      `${folder}:${folder}`,
      IMAGE,
      'sleep',
      'infinity',
    );
  }
  return container;
}

async function oci(t: TestContext, runtime: 'runc' | 'crun', folder: string): Promise<Engine> {
  return await engines.need(t, runtime, ['root', 'runc', runtime, 'busybox'], (site: Site) => startOci(site, runtime, [folder]));
}

/** The client of a runtime may be several words. */
function prefix(engine: Engine): string[] {
  return [...engine.client, 'exec'].flatMap((word) => ['--prefix', word]);
}

describeContract(holdfast, engines, [
  {
    name: 'docker',
    killed: 137,
    isText: true,
    flags: async (t, folder) => preset('docker', {}, '--operand', await containerOf(t, 'docker', folder)),
    broken: () => preset('docker', {}, '--operand', 'no-such-container'),
  },
  {
    name: 'podman',
    killed: 137,
    isText: true,
    flags: async (t, folder) => preset('podman', {}, '--operand', await containerOf(t, 'podman', folder)),
    broken: () => preset('podman', {}, '--operand', 'no-such-container'),
  },
  {
    name: 'runc',
    killed: 137,
    isText: true,
    flags: async (t, folder) => preset('runc', {}, '--operand', CONTAINER, ...prefix(await oci(t, 'runc', folder))),
    broken: () => preset('runc', {}, '--operand', 'no-such-container'),
  },
  {
    name: 'crun',
    killed: 137,
    flags: async (t, folder) => preset('crun', {}, '--operand', CONTAINER, ...prefix(await oci(t, 'crun', folder))),
    broken: () => preset('crun', {}, '--operand', 'no-such-container'),
  },
  {
    name: 'nsenter-docker',
    killed: 'signal',
    staysInGroup: true,
    flags: async (t, folder) => preset('nsenter', { container: await containerOf(t, 'docker', folder) }),
  },
]);

describe('behind docker', () => {
  it('ending the first command does not end the tenth', async (t) => {
    const folder = join(engines.site.scratch, 'work');
    mkdirSync(folder, { recursive: true });
    const { code } = await holdfast.holdfast(['open', 'ten', ...preset('docker', {}, '--operand', await containerOf(t, 'docker', folder))]);
    expect(code).toBe(0);
    const session = await holdfast.adopt('ten', false, folder);
    const first = session.start(['sh', '-c', 'echo ready; sleep 1000'], {
      cwd: folder,
      flags: ['--timeout', '6s', '--kill-grace', '100ms'],
    });
    await first.outputLine('ready', 30_000);
    for (let each = 2; each < 10; each++) expect(await session.exec(['true'], { cwd: folder })).toMatchObject({ code: 0 });
    const tenth = session.start(['sh', '-c', 'echo ready; while read line; do echo "$line"; done'], { cwd: folder, stdin: 'open' });
    await tenth.outputLine('ready', 30_000);
    // At its deadline, when all that carries its marker has been ended.
    expect(await first.ended).toMatchObject({ code: 124 });
    tenth.write('still here\n');
    await tenth.outputLine('still here', 30_000);
    tenth.endInput();
    expect(await tenth.ended).toMatchObject({ code: 0 });
  });
});
