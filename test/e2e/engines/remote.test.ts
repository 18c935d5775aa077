// Another host, by ssh on the loopback interface, in both ways of passing variables; and nix, anew for each command.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { describeContract, preset } from '../../engines/contract.js';
import { HOST, startSshd } from '../../engines/sshd.js';
import { useEngines } from '../../engines/use-engines.js';
import { makeNixProject, type NixProject } from '../../fixtures/nix-project.js';
import { useHoldfast } from '../../harness/holdfast.js';
import { needs } from '../../harness/needs.js';

const holdfast = useHoldfast();
const engines = useEngines(holdfast);

async function ssh(t: TestContext, options: Record<string, string> = {}): Promise<string[]> {
  const { client } = await engines.need(t, 'sshd', ['ssh', 'sshd', 'unshare'], startSshd);
  return preset('ssh', { config: client[2] ?? '', ...options }, '--operand', HOST);
}

let made: NixProject | undefined;
function nix(t: TestContext): NixProject {
  needs(t, 'nix');
  if (made === undefined) {
    made = makeNixProject(holdfast.folder('nix'));
    // What the hook says would be among the output of each command.
    const shell = join(made.directory, 'shell.nix');
    writeFileSync(shell, readFileSync(shell, 'utf8').replace("echo 'welcome to tiny-dev'", ''));
    const { remove, env } = made;
    Object.assign(holdfast.more, env);
    engines.atEnd(remove);
  }
  return made;
}

describeContract(holdfast, engines, [
  {
    name: 'ssh',
    killed: 255,
    flags: (t) => ssh(t),
    broken: async (t) => [...(await ssh(t)).slice(0, -1), 'no-such-host.invalid'],
  },
  { name: 'ssh-send-env', killed: 255, flags: (t) => ssh(t, { send_env: 'true' }) },
  {
    name: 'nix-develop',
    isPlainOnly: true,
    killed: 'signal',
    flags: (t) => preset('nix-develop', {}, '--operand', `path:${nix(t).directory}`),
    broken: () => preset('nix-develop', {}, '--operand', 'path:/no/such/flake'),
  },
  {
    name: 'nix-shell',
    killed: 'signal',
    flags: (t) => preset('nix-shell', {}, '--operand', `${nix(t).directory}/shell.nix`),
    broken: () => preset('nix-shell', {}, '--operand', '/no/such/shell.nix'),
  },
]);
