// Wrappers that exec the command, or are its parent: another root, other namespaces, a sandbox, other rights.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeRootfs } from '../../engines/busybox.js';
import { describeContract, preset } from '../../engines/contract.js';
import { useEngines } from '../../engines/use-engines.js';
import { useHoldfast } from '../../harness/holdfast.js';
import { needs } from '../../harness/needs.js';

const holdfast = useHoldfast();
const engines = useEngines(holdfast);

/** Nobody may not search all of root's: and a directory that may not be searched makes 126 of 127. */
const PLAIN_PATH = ['--env', 'PATH=/usr/bin:/bin'];

describeContract(holdfast, engines, [
  {
    name: 'unshare',
    isCheap: true,
    killed: 'signal',
    flags: (t) => {
      needs(t, 'root', 'unshare');
      return preset('unshare', { mount: 'true', ipc: 'true', uts: 'true' });
    },
    broken: () => preset('unshare', { root: '/no/such/root' }),
  },
  {
    name: 'unshare-pid',
    // Its process 1, the shell that leaves the sign, is not killed by its own signal; the command it execs is the same process.
    killed: 0,
    isOwnWorld: true,
    flags: (t) => {
      needs(t, 'root', 'unshare');
      return preset('unshare', { mount: 'true', pid: 'true', mount_proc: 'true' });
    },
  },
  {
    name: 'bubblewrap',
    staysInGroup: true,
    killed: 137,
    flags: (t, folder) => {
      needs(t, 'bwrap', 'user namespaces');
      return preset('bubblewrap', {
        ro_bind: '/',
        dev: '/dev',
        proc: '/proc',
        tmpfs: '/tmp',
        bind: folder,
        unshare_net: 'true',
        unshare_ipc: 'true',
      });
    },
    broken: () => preset('bubblewrap', { ro_bind: '/no/such/folder' }),
  },
  {
    name: 'bubblewrap-as-nobody',
    staysInGroup: true,
    killed: 137,
    flags: (t, folder) => {
      needs(t, 'root', 'bwrap', 'setpriv', 'user namespaces');
      const prefix = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', 'bwrap'].flatMap((word) => ['--prefix', word]);
      return preset(
        'bubblewrap',
        { unshare_user: 'true', uid: '0', gid: '0', ro_bind: '/', bind: folder, dev: '/dev', proc: '/proc' },
        ...prefix,
        ...PLAIN_PATH,
      );
    },
  },
  {
    name: 'nsenter',
    staysInGroup: true,
    killed: 'signal',
    flags: (t) => {
      needs(t, 'root', 'nsenter', 'unshare');
      return preset('nsenter', { target: namespacesOf() });
    },
    broken: () => preset('nsenter', { target: '999999' }),
  },
  {
    name: 'setpriv',
    killed: 'signal',
    flags: (t) => {
      needs(t, 'root', 'setpriv');
      return preset('setpriv', { reuid: '65534', regid: '65534', clear_groups: 'true', bounding_set: '-all' }, ...PLAIN_PATH);
    },
    broken: () => preset('setpriv', { reuid: 'no-such-user' }),
  },
  {
    name: 'chroot',
    isCheap: true,
    killed: 'signal',
    flags: (t, folder) => {
      needs(t, 'root', 'chroot', 'busybox');
      return preset('chroot', {}, '--operand', rootWith(folder));
    },
    broken: () => preset('chroot', {}, '--operand', '/no/such/root'),
  },
]);

let root: string | undefined;
/** A tree that has the folder at its own place: a chroot sees nothing else. */
function rootWith(folder: string): string {
  if (root !== undefined) return root;
  root = makeRootfs(engines.site);
  const place = join(root, folder);
  mkdirSync(place, { recursive: true });
  execFileSync('mount', ['--bind', folder, place]);
  engines.atEnd(() => void execFileSync('umount', [place]));
  return root;
}

let target: string | undefined;
/** A process in namespaces of its own. */
function namespacesOf(): string {
  if (target !== undefined) return target;
  const child = spawn('unshare', ['--mount', '--uts', '--ipc', 'sleep', '1000000'], { stdio: 'ignore' });
  engines.atEnd(() => void child.kill('SIGKILL'));
  target = String(child.pid);
  return target;
}
