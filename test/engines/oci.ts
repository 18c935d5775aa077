// runc and crun: an OCI bundle of the busybox root, and a container of it that sleeps.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeRootfs } from './busybox.js';
import { Absent, type Engine, findProgram, run, type Site, succeeds } from './site.js';

export const CONTAINER = 'held';

/** A container called CONTAINER. `mounts`: folders that it has at the same place. @throws {Absent} */
export async function startOci(site: Site, runtime: 'runc' | 'crun', mounts: readonly string[] = []): Promise<Engine> {
  if (process.geteuid?.() !== 0) throw new Absent(`'${runtime}' needs root here`);
  const folder = join(site.scratch, runtime);
  mkdirSync(folder);
  const client = clientOf(site, runtime, folder);
  const [program, ...words] = client;
  await run(findProgram(site, 'runc'), ['spec'], { cwd: folder, env: site.env });
  const path = join(folder, 'config.json');
  const config = JSON.parse(readFileSync(path, 'utf8'));
  config.process.terminal = false;
  config.process.args = ['sleep', '1000000'];
  // None may be above our own hard limit.
  delete config.process.rlimits;
  config.root = { path: makeRootfs(site), readonly: false };
  for (const source of mounts) config.mounts.push({ destination: source, source, type: 'bind', options: ['rbind', 'rw'] });
  writeFileSync(path, JSON.stringify(config));
  const call = (...args: string[]): Promise<boolean> => succeeds(program, [...words, ...args], site.env);
  // What it is given stays open for as long as the container lives, and a pipe of ours would never end.
  const started = await succeeds(
    'sh',
    ['-c', '"$@" </dev/null >/dev/null 2>&1', 'sh', ...client, 'run', '-d', '--bundle', folder, CONTAINER],
    site.env,
  );
  if (!started) throw new Absent(`'${runtime}' does not run a container here`);
  return { client, env: {}, end: async () => void (await call('delete', '-f', CONTAINER)) };
}

/** crun refuses a machine that has both kinds of cgroups: there the newer ones are hidden from it, in a mount namespace of its own. */
function clientOf(site: Site, runtime: 'runc' | 'crun', folder: string): [string, ...string[]] {
  const program = findProgram(site, runtime);
  const state = ['--root', join(folder, 'state')];
  if (runtime === 'runc') return [program, ...state];
  const hide = 'c=/sys/fs/cgroup/unified/cgroup.controllers; [ ! -e $c ] || mount --bind /dev/null $c; exec "$@"';
  return ['unshare', '-m', 'sh', '-c', hide, 'sh', program, ...state];
}
