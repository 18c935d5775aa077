// `docker exec` and `podman exec` into a container that is already running, made of nothing but busybox.

import { copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from '../place.js';
import { Absent, findProgram, type RivalKind, readyWhen, run, startServer, succeeds } from '../rival.js';

const IMAGE = 'holdfast-bench';
const CONTAINER = 'holdfast-bench-held';

export const dockerExec: RivalKind = {
  name: 'docker exec',
  async start(place) {
    const docker = findProgram(place, 'docker');
    const { env, end: endDaemon } = await dockerDaemon(place, docker);
    const all = { ...place.env, ...env };
    const remove = async (): Promise<void> => {
      await succeeds(docker, ['rm', '-f', CONTAINER], all);
      await succeeds(docker, ['rmi', '-f', IMAGE], all);
      await endDaemon();
    };
    try {
      await run(docker, ['import', await busyboxTar(place), IMAGE], { env: all });
      await run(docker, ['run', '-d', '--init', '--name', CONTAINER, '--network', 'none', IMAGE, 'sleep', '1000000'], { env: all });
    } catch (cause) {
      await remove();
      throw new Absent('docker does not run a container here', { cause });
    }
    return { name: this.name, argv: [docker, 'exec', '-i', CONTAINER, '/bin/true'], env, end: remove };
  },
};

export const podmanExec: RivalKind = {
  name: 'podman exec',
  async start(place) {
    const podman = findProgram(place, 'podman');
    const folder = join(place.scratch, 'podman');
    mkdirSync(folder);
    const configuration = join(folder, 'containers.conf');
    // Limits that also a root without CAP_SYS_RESOURCE may set, and no network to set up.
    writeFileSync(
      configuration,
      '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]\nnetns = "none"\n' +
        '[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n',
    );
    const env = { CONTAINERS_CONF: configuration };
    const all = { ...place.env, ...env };
    const base = [podman, '--root', join(folder, 'root'), '--runroot', join(folder, 'run'), '--tmpdir', join(folder, 'tmp')];
    const call = async (...args: string[]): Promise<boolean> => await succeeds(podman, [...base.slice(1), ...args], all);
    const remove = async (): Promise<void> => {
      await call('rm', '-f', '-t', '0', CONTAINER);
      await call('rmi', '-f', IMAGE);
    };
    const held =
      (await call('import', await busyboxTar(place), IMAGE)) && (await call('run', '-d', '--name', CONTAINER, IMAGE, 'sleep', '1000000'));
    if (!held) {
      await remove();
      throw new Absent('podman does not run a container here');
    }
    return { name: this.name, argv: [...base, 'exec', '-i', CONTAINER, '/bin/true'], env, end: remove };
  },
};

/** The daemon that is there, else one of our own that touches neither networks nor its usual folders. */
async function dockerDaemon(place: Place, docker: string): Promise<{ env: Record<string, string>; end: () => Promise<void> }> {
  if (await succeeds(docker, ['info'], place.env)) return { env: {}, end: async () => {} };
  const dockerd = findProgram(place, 'dockerd');
  if (process.geteuid?.() !== 0) throw new Absent('no docker daemon is running');
  const folder = join(place.scratch, 'docker');
  mkdirSync(folder);
  const env = { DOCKER_HOST: `unix://${join(folder, 'docker.sock')}` };
  const places = [`--data-root=${join(folder, 'data')}`, `--exec-root=${join(folder, 'exec')}`, `--pidfile=${join(folder, 'pid')}`];
  const network = ['--iptables=false', '--ip6tables=false', '--bridge=none', '--ip-forward=false'];
  const daemon = startServer([dockerd, `--host=${env.DOCKER_HOST}`, ...places, ...network], place.env);
  try {
    await readyWhen('dockerd', async () => await succeeds(docker, ['info'], { ...place.env, ...env }));
  } catch (error) {
    await daemon.end();
    throw error;
  }
  return { env, end: daemon.end };
}

async function busyboxTar(place: Place): Promise<string> {
  const busybox = '/bin/busybox';
  if (!existsSync(busybox)) throw new Absent("'busybox' (static) is not installed");
  const tar = join(place.scratch, 'busybox.tar');
  if (existsSync(tar)) return tar;
  const folder = join(place.scratch, 'busybox');
  for (const each of ['bin', 'proc', 'sys', 'dev', 'tmp', 'etc']) mkdirSync(join(folder, each), { recursive: true });
  copyFileSync(busybox, join(folder, 'bin/busybox'));
  for (const each of ['sh', 'sleep', 'true']) symlinkSync('busybox', join(folder, 'bin', each));
  writeFileSync(join(folder, 'etc/passwd'), 'root:x:0:0:root:/:/bin/sh\n');
  await run('tar', ['-C', folder, '-cf', tar, '.']);
  return tar;
}
