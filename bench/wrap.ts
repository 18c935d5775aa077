// What does Holdfast add to a wrapper? Each rival is the bare wrapper, run by hand with the same words, in turns with the command behind it;
// what may be added is the client's own cost, which is that of the host session. And: is nsenter the quicker way into a container?

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeRootfs } from '../test/engines/busybox.js';
import { IMAGE, startDocker } from '../test/engines/docker.js';
import { CONTAINER, startOci } from '../test/engines/oci.js';
import { startPodman } from '../test/engines/podman.js';
import { Absent, type Engine, findProgram } from '../test/engines/site.js';
import { HOST, startSshd } from '../test/engines/sshd.js';
import { type Spread, spreadOf } from './numbers.js';
import type { Place } from './place.js';
import { type Bar, type Result, rowsOf } from './result.js';

const run = promisify(execFile);
/** Beside the client: what telling the wrapper's failures from the command's may cost. */
const LIMIT = 1.05;
/** For each round of the slow wrappers. */
const QUICK_ROUNDS = 10;
const DIRECT = 'direct /bin/true';
const HELD = 'runner-exec, no wrapper';
/** A host session as old as those with a wrapper: an agent gets quicker with each command, as its code is compiled. */
const HOST_SESSION = 'wrap-host';

interface Wrapper {
  readonly name: string;
  /** The bare wrapper's words, without the command. */
  readonly bare: readonly string[];
  /** Flags of `holdfast open`. */
  readonly flags: readonly string[];
  /** A daemon, another host or a runtime takes part. */
  readonly isSlow?: boolean;
}

export async function wrap(place: Place, rounds: number): Promise<Result> {
  const notes: string[] = [];
  const engines: Engine[] = [];
  const wrappers: Wrapper[] = [];
  const env: Record<string, string> = {};
  const work = join(place.scratch, 'wrap');
  mkdirSync(work);
  const add = async (name: string, make: () => Wrapper | Promise<Wrapper>): Promise<void> => {
    try {
      wrappers.push(await make());
    } catch (error) {
      if (!(error instanceof Absent)) throw error;
      notes.push(`not measured: ${name}: ${error.message}`);
    }
  };
  const start = async (starting: Promise<Engine>): Promise<Engine> => {
    const engine = await starting;
    engines.push(engine);
    Object.assign(env, engine.env);
    return engine;
  };
  const site = { scratch: work, env: place.env };
  try {
    await add('chroot', () => ({
      name: 'chroot',
      bare: [named(place, 'chroot'), makeRootfs(site)],
      flags: ['--preset', 'chroot', '--operand', makeRootfs(site)],
    }));
    await add('bubblewrap', () => ({
      name: 'bwrap',
      bare: [named(place, 'bwrap'), '--die-with-parent', '--dev-bind', '/', '/', '--'],
      flags: ['--preset', 'bubblewrap', '--option', 'dev_bind=/'],
    }));
    await add('unshare', () => ({
      name: 'unshare -m',
      bare: [named(place, 'unshare'), '--mount', '--'],
      flags: ['--preset', 'unshare', '--option', 'mount'],
    }));
    await add('docker', async () => await containerOf(await start(startDocker(site)), 'docker', { ...place.env, ...env }));
    const docker = wrappers.find(({ name }) => name === 'docker exec');
    if (docker !== undefined) {
      await add('nsenter', async () => {
        const [program = ''] = docker.bare;
        const { stdout } = await run(program, ['inspect', '--format', '{{.State.Pid}}', 'bench-docker'], { env: { ...place.env, ...env } });
        const bare = [named(place, 'nsenter'), '--all', '--target', stdout.trim(), '--'];
        return { name: 'nsenter into docker', bare, flags: ['--preset', 'nsenter', '--option', 'container=bench-docker'] };
      });
    }
    await add('podman', async () => await containerOf(await start(startPodman(site)), 'podman', { ...place.env, ...env }));
    await add('runc', async () => {
      const { client } = await start(startOci(site, 'runc'));
      const prefix = [...client, 'exec'];
      return {
        name: 'runc exec',
        bare: [...prefix, CONTAINER],
        flags: ['--preset', 'runc', '--operand', CONTAINER, ...prefix.flatMap((word) => ['--prefix', word])],
        isSlow: true,
      };
    });
    await add('ssh', async () => {
      const { client } = await start(startSshd(site));
      return {
        name: 'ssh, ControlMaster',
        bare: [...client, HOST, '--'],
        flags: ['--preset', 'ssh', '--option', `config=${client[2]}`, '--operand', HOST],
        isSlow: true,
      };
    });
    return await measured(place, rounds, wrappers, env, notes);
  } finally {
    for (const engine of engines) await engine.end();
  }
}

/** As the preset has it and anybody types it: looked up on PATH. @throws Absent. */
function named(place: Place, program: string): string {
  findProgram(place, program);
  return program;
}

async function containerOf(engine: Engine, program: 'docker' | 'podman', env: Record<string, string>): Promise<Wrapper> {
  const [client, ...words] = engine.client;
  const name = `bench-${program}`;
  await run(client, [...words, 'run', '-d', '--init', '--name', name, '--network', 'none', IMAGE, 'sleep', '1000000'], { env });
  return {
    name: `${program} exec`,
    bare: [...engine.client, 'exec', '-i', name],
    flags: ['--preset', program, '--operand', name],
    isSlow: true,
  };
}

/** The median of each row, and the bars, of one run in which all of them took turns. */
interface Timed {
  readonly spreads: (readonly [string, Spread])[];
  readonly bars: Bar[];
}

function sessionOf({ name }: Wrapper): string {
  return `wrap-${name.replaceAll(/\W+/g, '-')}`;
}

function medianIn({ spreads }: Timed, wanted: string): number {
  return spreads.find(([name]) => name === wanted)?.[1].median ?? Number.NaN;
}

/** @param beside what tells its two first rows from those of another run. */
async function timed(
  place: Place,
  rounds: number,
  wrappers: readonly Wrapper[],
  env: Record<string, string>,
  beside: string,
): Promise<Timed> {
  const programs: [string, readonly string[]][] = [
    [`${DIRECT}${beside}`, ['/bin/true']],
    [`${HELD}${beside}`, [place.runnerExec, '--session', HOST_SESSION, '--cwd', '/', '--', '/bin/true']],
    ...wrappers.flatMap((wrapper): [string, readonly string[]][] => [
      [wrapper.name, [...wrapper.bare, '/bin/true']],
      [`runner-exec: ${wrapper.name}`, [place.runnerExec, '--session', sessionOf(wrapper), '--cwd', '/', '--', '/bin/true']],
    ]),
  ];
  const timings = await place.timer(env).run(
    programs.map(([, argv]) => argv),
    rounds,
  );
  const spreads = programs.map(([name], index): readonly [string, Spread] => [name, spreadOf((timings[index] ?? []).map(({ ms }) => ms))]);
  const of = (name: string): number => medianIn({ spreads, bars: [] }, name);
  const client = of(`${HELD}${beside}`) - of(`${DIRECT}${beside}`);
  const bars = wrappers.map(
    ({ name }): Bar => ({
      what: `runner-exec: ${name}, less the client's own ${client.toFixed(2)} ms, against the bare wrapper, median`,
      limit: LIMIT,
      side: 'below',
      seen: (of(`runner-exec: ${name}`) - client) / of(name),
    }),
  );
  return { spreads, bars };
}

async function measured(
  place: Place,
  rounds: number,
  wrappers: readonly Wrapper[],
  more: Record<string, string>,
  notes: string[],
): Promise<Result> {
  const env = { ...place.env, ...more };
  await run(place.holdfast, ['open', HOST_SESSION, '--', 'bash', join(place.scratch, 'enter.sh')], { env, cwd: '/' });
  for (const wrapper of wrappers) await run(place.holdfast, ['open', sessionOf(wrapper), ...wrapper.flags], { env, cwd: '/' });
  try {
    // What takes a hundred times as long cannot be run as often; and beside it all else would be cold.
    const quick = await timed(
      place,
      rounds * QUICK_ROUNDS,
      wrappers.filter(({ isSlow }) => isSlow !== true),
      more,
      '',
    );
    const slow = await timed(
      place,
      rounds,
      wrappers.filter(({ isSlow }) => isSlow === true),
      more,
      ', beside engines',
    );
    const bars = [...quick.bars, ...slow.bars];
    const nsenter = medianIn(quick, 'runner-exec: nsenter into docker') / medianIn(slow, 'docker exec');
    if (!Number.isNaN(nsenter))
      bars.push({ what: 'runner-exec: nsenter into docker against docker exec itself, median', limit: 1, side: 'below', seen: nsenter });
    if (!existsSync('/bin/busybox')) notes.push('without busybox there is no container to enter');
    const rows = rowsOf([...quick.spreads, ...slow.spreads]);
    return { name: 'wrap', question: 'What does Holdfast add to each wrapper?', unit: 'ms', rows, bars, notes };
  } finally {
    for (const session of [HOST_SESSION, ...wrappers.map(sessionOf)])
      await run(place.holdfast, ['close', session], { env }).catch(() => undefined);
  }
}
