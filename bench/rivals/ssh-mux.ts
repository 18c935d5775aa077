// ssh to this machine over a connection that is already up (ControlMaster). The account's login shell runs every command, so as
// root the server sees a password file whose shell is a bare /bin/sh: a slow .bashrc is not ssh's.

import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { Absent, findProgram, freePort, type RivalKind, readyWhen, run, startServer, succeeds } from '../rival.js';

export const sshMux: RivalKind = {
  name: 'ssh, ControlMaster',
  async start(place) {
    const ssh = findProgram(place, 'ssh');
    const sshd = findProgram(place, 'sshd');
    const file = (name: string): string => join(place.scratch, name);
    for (const key of ['host_key', 'id']) await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file(key)], { env: place.env });
    writeFileSync(file('authorized_keys'), readFileSync(file('id.pub')));
    chmodSync(place.scratch, 0o755);
    const port = await freePort();
    writeFileSync(
      file('sshd_config'),
      `ListenAddress 127.0.0.1\nPort ${port}\nHostKey ${file('host_key')}\nPidFile none\nAuthorizedKeysFile ${file('authorized_keys')}\n` +
        'StrictModes no\nUsePAM no\nPasswordAuthentication no\nMaxSessions 200\n',
    );
    const { username, uid } = userInfo();
    writeFileSync(
      file('ssh_config'),
      `Host bench\n HostName 127.0.0.1\n Port ${port}\n User ${username}\n IdentityFile ${file('id')}\n IdentitiesOnly yes\n` +
        ` UserKnownHostsFile ${file('known_hosts')}\n StrictHostKeyChecking no\n LogLevel ERROR\n` +
        ` ControlMaster auto\n ControlPath ${file('cm')}\n ControlPersist 600\n`,
    );
    const daemon: [string, ...string[]] = [sshd, '-D', '-f', file('sshd_config')];
    const server = uid === 0 ? startServer(asPlainRoot(file('passwd'), daemon), place.env) : startServer(daemon, place.env);
    const argv = [ssh, '-F', file('ssh_config'), 'bench', '/bin/true'];
    const end = async (): Promise<void> => {
      await succeeds(ssh, ['-F', file('ssh_config'), '-O', 'exit', 'bench'], place.env);
      await server.end();
    };
    try {
      // The first one that gets through becomes the master.
      await readyWhen('sshd', () => succeeds(argv[0] ?? ssh, argv.slice(1), place.env));
    } catch (error) {
      await end();
      throw error instanceof Absent ? error : new Absent('sshd does not start here', { cause: error });
    }
    return { name: this.name, argv, end };
  },
};

/** In a mount namespace of its own: another /etc/passwd, and the directory that sshd wants. */
function asPlainRoot(passwd: string, daemon: readonly string[]): [string, ...string[]] {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  writeFileSync(passwd, lines.map((line) => line.replace(/^(root:.*:)[^:]*$/, '$1/bin/sh')).join('\n'));
  const setUp = `mount --bind '${passwd}' /etc/passwd && mount -t tmpfs none /run && mkdir /run/sshd && exec "$@"`;
  return ['unshare', '-m', 'sh', '-c', setUp, 'sh', ...daemon];
}
