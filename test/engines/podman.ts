// podman with its storage in a folder of its own. It needs no daemon.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTar } from './busybox.js';
import { IMAGE } from './docker.js';
import { Absent, type Engine, findProgram, run, type Site, succeeds } from './site.js';

/** Limits that also a root without CAP_SYS_RESOURCE may set, and no network to set up. */
const containersConf = (folder: string): string => `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
netns = "none"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "${join(folder, 'tmp')}"
`;

/** Storage of our own that has IMAGE. @throws {Absent} */
export async function startPodman(site: Site): Promise<Engine> {
  const podman = findProgram(site, 'podman');
  findProgram(site, 'runc');
  const folder = join(site.scratch, 'podman');
  mkdirSync(folder);
  const configuration = join(folder, 'containers.conf');
  writeFileSync(configuration, containersConf(folder));
  const storage = join(folder, 'storage.conf');
  // In a file and not in options, so that `podman` alone reaches it: an image and a container are then found by their names.
  writeFileSync(storage, `[storage]\ndriver = "vfs"\ngraphroot = "${join(folder, 'root')}"\nrunroot = "${join(folder, 'run')}"\n`);
  const env = { CONTAINERS_CONF: configuration, CONTAINERS_STORAGE_CONF: storage, TMPDIR: folder };
  const all = { ...site.env, ...env };
  const end = async (): Promise<void> => {
    await succeeds(podman, ['rm', '-fa', '-t', '0'], all);
    await succeeds(podman, ['rmi', '-fa'], all);
  };
  try {
    await run(podman, ['import', await makeTar(site), IMAGE], { env: all });
  } catch (cause) {
    await end();
    throw new Absent('podman does not work here', { cause });
  }
  return { client: [podman], env, end };
}
