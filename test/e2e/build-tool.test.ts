// The example build tool at work: the same outputs in every mode, and nothing left when it is interrupted.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it, type TestContext } from 'vitest';

import { makeRootfs } from '../engines/busybox.js';
import { IMAGE, startDocker } from '../engines/docker.js';
import type { Engine } from '../engines/site.js';
import { makeNixProject, type NixProject } from '../fixtures/nix-project.js';
import { useHoldfast } from '../harness/holdfast.js';
import { needs } from '../harness/needs.js';
import { Terminal } from '../harness/terminal.js';

const holdfast = useHoldfast();
const BUILD = join(import.meta.dirname, '../../examples/build-tool/build.mjs');
const STEPS = 300;
const PATIENCE_MS = 60_000;

let nixProject: NixProject | undefined;
let docker: Promise<Engine> | undefined;
let engineFolder: string | undefined;

afterAll(async () => {
  nixProject?.remove();
  await (await docker)?.end();
  if (engineFolder !== undefined) rmSync(engineFolder, { recursive: true, force: true });
}, PATIENCE_MS);

interface Mode {
  readonly words: readonly string[];
  readonly env?: Record<string, string>;
}

type MakeMode = (test: TestContext, out: string) => Mode | Promise<Mode>;

/** Each a way to enter something; the container sees the output's folder at its own place. */
const MODES: Record<string, MakeMode> = {
  host: () => ({ words: ['--mode', 'host'] }),
  session: () => ({ words: ['--mode', 'session'] }),
  'session, spawned': () => ({ words: ['--mode', 'session', '--via', 'spawn'] }),
  snapshot: () => ({ words: ['--mode', 'snapshot'] }),
  wrap: () => ({ words: ['--mode', 'wrap'] }),
  'wrap, in a sandbox of another root': (test, out) => {
    needs(test, 'bwrap', 'busybox', 'user namespaces');
    const rootfs = makeRootfs({ scratch: holdfast.folder('bwrap') });
    const options = [`bind=${rootfs}:/`, `bind=${out}`, 'dev=/dev'].flatMap((option) => ['--option', option]);
    return { words: ['--mode', 'wrap', '--preset', 'bubblewrap', ...options] };
  },
  'nix develop': (test) => {
    needs(test, 'nix');
    nixProject ??= makeNixProject(holdfast.folder('nix'));
    return { words: ['--', 'nix', 'develop', `path:${nixProject.directory}`, '--command'], env: nixProject.env };
  },
  'docker, a container held for the build': async (test) => {
    needs(test, 'docker', 'dockerd', 'busybox', 'root');
    // Elsewhere, or the daemon would be among what a test must not leave.
    engineFolder ??= mkdtempSync(join(tmpdir(), 'hfe-'));
    docker ??= startDocker({ scratch: engineFolder, env: { PATH: holdfast.env['PATH'] ?? '', HOME: engineFolder, TMPDIR: engineFolder } });
    const { env } = await docker;
    const words = [
      '--mode',
      'wrap',
      '--preset',
      'docker',
      '--option',
      `image=${IMAGE}`,
      '--option',
      'network=none',
      '--option',
      'init=false',
    ];
    return { words, env };
  },
};

function argvOf(mode: Mode, out: string, jobs: number): [string, ...string[]] {
  return [process.execPath, BUILD, '--steps', String(STEPS), '--jobs', String(jobs), '--out', out, ...mode.words];
}

/** Ids of all containers, dead ones too. */
async function containers(): Promise<string> {
  const { env = {} } = (await docker) ?? {};
  return spawnSync('docker', ['ps', '-aq'], { env: { ...holdfast.env, ...env }, encoding: 'utf8' }).stdout;
}

describe.each(Object.entries(MODES))('in mode %s', (name, make) => {
  it('300 steps make what they make on the host', { timeout: 4 * PATIENCE_MS }, async (test) => {
    const out = holdfast.folder('out');
    const mode = await make(test, out);
    const { code, stdout, stderr } = await holdfast.run(argvOf(mode, out, 4), mode.env === undefined ? {} : { env: mode.env });
    expect([`${stderr}`, code]).toEqual(['', 0]);
    const [what = '', hash = ''] = stdout.toString().split('\n');
    expect(what).toMatch(/^300 steps, mode \w+, 4 jobs, by \w+: \d+\.\d\d s$/);
    // Made once by hand, on a host without Holdfast.
    expect(hash).toBe('sha256 2f1087bf381cf748b0622b4bc6b311d3a24b68c51d6dc046e3dedb42f3d4c3d0');
    if (name.startsWith('docker')) expect(await containers()).toBe('');
  });

  it('Ctrl-C leaves no process, no container and no socket', { timeout: 4 * PATIENCE_MS }, async (test) => {
    const out = holdfast.folder('out');
    const mode = await make(test, out);
    const terminal = new Terminal(argvOf(mode, out, 2), { env: { ...holdfast.env, ...mode.env }, cwd: holdfast.directory });
    await terminal.sees(/\d+\/300/, PATIENCE_MS);
    terminal.type('\x03');
    expect(await terminal.ended()).toMatchObject({ signal: 2 });
    if (name.startsWith('docker')) expect(await containers()).toBe('');
    // What else could be left the harness looks for, here as after each test.
    await holdfast.leftovers.check([]);
  });
});

it('a step that fails ends the build, and says why', async () => {
  const out = holdfast.folder('out');
  const { code, stderr } = await holdfast.run([
    process.execPath,
    BUILD,
    '--out',
    out,
    '--steps',
    '30',
    '--mode',
    'wrap',
    '--',
    'env',
    'PATH=/nowhere',
  ]);
  expect([code, stderr.toString()]).toEqual([1, expect.stringMatching(/^build: .+/)]);
});
