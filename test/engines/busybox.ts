// The smallest root file system that a container, a chroot or a bwrap can be given: one static busybox under all its names.

import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Absent, run, type Site } from './site.js';

const BUSYBOX = '/bin/busybox';

/** `scratch`/rootfs, made when it is first asked for; with devices where we may make them. @throws {Absent} */
export function makeRootfs({ scratch }: Pick<Site, 'scratch'>): string {
  const rootfs = join(scratch, 'rootfs');
  if (existsSync(rootfs)) return rootfs;
  if (!existsSync(BUSYBOX)) throw new Absent("'busybox' (static) is not installed");
  for (const each of ['bin', 'proc', 'sys', 'dev', 'tmp', 'etc', 'root']) mkdirSync(join(rootfs, each), { recursive: true });
  chmodSync(join(rootfs, 'tmp'), 0o1777);
  copyFileSync(BUSYBOX, join(rootfs, 'bin/busybox'));
  const names = execFileSync(BUSYBOX, ['--list'], { encoding: 'utf8' }).trim().split('\n');
  for (const name of names) if (name !== 'busybox') symlinkSync('busybox', join(rootfs, 'bin', name));
  writeFileSync(join(rootfs, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n');
  writeFileSync(join(rootfs, 'etc/group'), 'root:x:0:\nnogroup:x:65534:\n');
  if (process.geteuid?.() === 0) {
    for (const [name, minor] of [
      ['null', 3],
      ['zero', 5],
    ] as const)
      execFileSync('mknod', ['-m', '666', join(rootfs, 'dev', name), 'c', '1', String(minor)]);
    execFileSync('mknod', ['-m', '666', join(rootfs, 'dev/tty'), 'c', '5', '0']);
  }
  return rootfs;
}

/** The same as an archive, for an engine's `import`. @throws {Absent} */
export async function makeTar(site: Site): Promise<string> {
  const tar = join(site.scratch, 'rootfs.tar');
  if (!existsSync(tar)) await run('tar', ['-C', makeRootfs(site), '--exclude=./dev/*', '-cf', tar, '.']);
  return tar;
}
