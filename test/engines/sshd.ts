// sshd on the loopback interface. The account's login shell runs every command, so as root the server sees a password file whose
// shell is a bare /bin/sh: a slow .bashrc is not ssh's.

import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { Absent, type Engine, findProgram, freePort, readyWhen, run, type Site, startServer, succeeds } from './site.js';

export const HOST = 'box';

/** `client` is an `ssh -F …` that knows HOST, over a connection that is up already (ControlMaster). @throws {Absent} */
export async function startSshd(site: Site): Promise<Engine> {
  const ssh = findProgram(site, 'ssh');
  const sshd = findProgram(site, 'sshd');
  const folder = join(site.scratch, 'ssh');
  mkdirSync(folder);
  const file = (name: string): string => join(folder, name);
  for (const key of ['host_key', 'id']) await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file(key)], { env: site.env });
  writeFileSync(file('authorized_keys'), readFileSync(file('id.pub')));
  // sshd reads it as the account.
  for (const path of [site.scratch, folder]) chmodSync(path, 0o755);
  const port = await freePort();
  writeFileSync(
    file('sshd_config'),
    `ListenAddress 127.0.0.1\nPort ${port}\nHostKey ${file('host_key')}\nPidFile none\nAuthorizedKeysFile ${file('authorized_keys')}\n` +
      'StrictModes no\nUsePAM no\nPasswordAuthentication no\nMaxSessions 200\nAcceptEnv HOLDFAST_LENT_*\n',
  );
  const { username, uid } = userInfo();
  writeFileSync(
    file('ssh_config'),
    `Host ${HOST}\n HostName 127.0.0.1\n Port ${port}\n User ${username}\n IdentityFile ${file('id')}\n IdentitiesOnly yes\n` +
      ` UserKnownHostsFile ${file('known_hosts')}\n StrictHostKeyChecking no\n LogLevel ERROR\n` +
      ` ControlMaster auto\n ControlPath ${file('cm')}\n ControlPersist 600\n SendEnv HOLDFAST_LENT_*\n`,
  );
  const daemon: [string, ...string[]] = [sshd, '-D', '-f', file('sshd_config')];
  const server = startServer(uid === 0 ? asPlainRoot(file('passwd'), daemon) : daemon, site.env);
  const config = ['-F', file('ssh_config')];
  const end = async (): Promise<void> => {
    await succeeds(ssh, [...config, '-O', 'exit', HOST], site.env);
    await server.end();
  };
  try {
    // The first one that gets through becomes the master.
    await readyWhen('sshd', () => succeeds(ssh, [...config, HOST, '/bin/true'], site.env));
  } catch (error) {
    await end();
    throw error instanceof Absent ? error : new Absent('sshd does not start here', { cause: error });
  }
  return { client: [ssh, ...config], env: {}, end };
}

/** In a mount namespace of its own: another /etc/passwd, and the directory that sshd wants. */
function asPlainRoot(passwd: string, daemon: readonly string[]): [string, ...string[]] {
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  writeFileSync(passwd, lines.map((line) => line.replace(/^(root:.*:)[^:]*$/, '$1/bin/sh')).join('\n'));
  const setUp = `mount --bind '${passwd}' /etc/passwd && mount -t tmpfs none /run && mkdir /run/sshd && exec "$@"`;
  return ['unshare', '-m', 'sh', '-c', setUp, 'sh', ...daemon];
}
