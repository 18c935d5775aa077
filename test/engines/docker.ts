// dockerd in a folder of its own: it touches neither networks nor its usual places.

import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { makeTar } from './busybox.js';
import { Absent, type Engine, findProgram, readyWhen, run, type Site, startServer, succeeds } from './site.js';

export const IMAGE = 'holdfast-busybox';

/** A daemon of our own that has IMAGE. @throws {Absent} */
export async function startDocker(site: Site): Promise<Engine> {
  const docker = findProgram(site, 'docker');
  const dockerd = findProgram(site, 'dockerd');
  if (process.geteuid?.() !== 0) throw new Absent('dockerd needs root');
  const folder = join(site.scratch, 'docker');
  mkdirSync(folder);
  const env = { DOCKER_HOST: `unix://${join(folder, 'docker.sock')}` };
  const all = { ...site.env, ...env };
  const places = [`--data-root=${join(folder, 'data')}`, `--exec-root=${join(folder, 'exec')}`, `--pidfile=${join(folder, 'pid')}`];
  const network = ['--iptables=false', '--ip6tables=false', '--bridge=none', '--ip-forward=false'];
  const log = openSync(join(folder, 'log'), 'w');
  const daemon = startServer([dockerd, `--host=${env.DOCKER_HOST}`, ...places, ...network], site.env, log);
  closeSync(log);
  const end = async (): Promise<void> => {
    const { stdout } = await run(docker, ['ps', '-aq'], { env: all }).catch(() => ({ stdout: '' }));
    const left = stdout.split('\n').filter((id) => id !== '');
    if (left.length > 0) await succeeds(docker, ['rm', '-f', ...left], all);
    await daemon.end();
  };
  try {
    await readyWhen('dockerd', async () => await succeeds(docker, ['info'], all));
    await run(docker, ['import', await makeTar(site), IMAGE], { env: all });
  } catch (cause) {
    await end();
    throw cause instanceof Absent ? cause : new Absent('docker does not work here', { cause });
  }
  return { client: [docker], env, end };
}
