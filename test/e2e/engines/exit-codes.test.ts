// Whose exit code it is, behind the real wrappers that leave no sign: chroot, unshare, nsenter, bwrap. Each failure of theirs, and each
// command that looks like one. docs/config.md "Whose exit code it is".

import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { makeRootfs } from '../../engines/busybox.js';
import { preset } from '../../engines/contract.js';
import { useEngines } from '../../engines/use-engines.js';
import { useHoldfast } from '../../harness/holdfast.js';
import { needs } from '../../harness/needs.js';
import type { Session } from '../../harness/session.js';

const holdfast = useHoldfast();
const engines = useEngines(holdfast);
let serial = 0;

let target: string | undefined;
/** A process in namespaces of its own, of processes too. */
function targetPid(): string {
  if (target !== undefined) return target;
  const child = spawn('unshare', ['--mount', '--uts', '--pid', '--fork', '--kill-child', 'sleep', '1000000'], { stdio: 'ignore' });
  engines.atEnd(() => void child.kill('SIGKILL'));
  const children = `/proc/${child.pid}/task/${child.pid}/children`;
  while (target === undefined || target === '') target = readFileSync(children, 'latin1').trim();
  return target;
}

interface Wrapper {
  readonly name: string;
  readonly how: string;
  readonly needs: readonly string[];
  flags(): readonly string[];
  /** It fails. */
  broken(): readonly string[];
  /** The code by which it says so. */
  readonly own: number;
}

const WRAPPERS: readonly Wrapper[] = [
  {
    name: 'chroot',
    how: '',
    needs: ['chroot', 'busybox'],
    flags: () => preset('chroot', {}, '--operand', makeRootfs(engines.site)),
    broken: () => preset('chroot', {}, '--operand', '/no/such/root'),
    own: 125,
  },
  {
    name: 'unshare',
    how: 'plain',
    needs: ['unshare'],
    flags: () => preset('unshare', { mount: 'true' }),
    broken: () => preset('unshare', { root: '/no/such/root' }),
    own: 1,
  },
  {
    name: 'unshare',
    how: 'with pid',
    needs: ['unshare'],
    flags: () => preset('unshare', { mount: 'true', pid: 'true' }),
    broken: () => preset('unshare', { pid: 'true', root: '/no/such/root' }),
    own: 1,
  },
  {
    name: 'nsenter',
    how: 'all',
    needs: ['nsenter', 'unshare'],
    flags: () => preset('nsenter', { target: targetPid() }),
    broken: () => preset('nsenter', { target: '999999999' }),
    own: 1,
  },
  {
    name: 'nsenter',
    how: 'some',
    needs: ['nsenter', 'unshare'],
    flags: () => preset('nsenter', { target: targetPid(), only: ['mount', 'uts'] }),
    broken: () => preset('nsenter', { target: '999999999', only: 'mount' }),
    own: 1,
  },
  {
    name: 'nsenter',
    how: 'as a user',
    needs: ['nsenter', 'unshare'],
    flags: () => preset('nsenter', { target: targetPid(), setuid: '0' }),
    broken: () => preset('nsenter', { target: '999999999', setuid: '0' }),
    own: 1,
  },
  {
    name: 'bwrap',
    how: '',
    needs: ['bwrap'],
    flags: () => preset('bubblewrap', { dev_bind: '/' }),
    broken: () => preset('bubblewrap', { ro_bind: '/no/such' }),
    own: 1,
  },
];

const CASES = WRAPPERS.flatMap((wrapper) =>
  ['auto', 'warden'].map((containment) => [`${wrapper.name} ${wrapper.how}`.trim(), containment, wrapper] as const),
);

async function open(flags: readonly string[], containment: string): Promise<Session> {
  const name = `codes-${++serial}`;
  const { code, stderr } = await holdfast.holdfast(['open', name, '--containment', containment, ...flags], { cwd: '/' });
  expect([code, `${stderr}`]).toEqual([0, '']);
  return await holdfast.adopt(name, false, '/');
}

describe.each(CASES)('behind %s, in containment %s', (_, containment, wrapper) => {
  function look(test: TestContext): void {
    needs(test, 'root', ...wrapper.needs);
  }
  const END = { cwd: '/' };

  it('a code is the command’s', async (test) => {
    look(test);
    const session = await open(wrapper.flags(), containment);
    for (const code of [0, 1, 2, 125, 126, 127]) expect((await session.exec(['/bin/sh', '-c', `exit ${code}`], END)).code).toBe(code);
    for (const code of [1, 125])
      expect((await session.exec(['/bin/sh', '-c', `(exit 0); true | false; exit ${code}`], END)).code).toBe(code);
    // The shell has the directory itself open, as 3.
    expect(await session.output(['/bin/sh', '-c', 'echo /proc/self/fd/*'], END)).not.toMatch(/fd\/[4-9]/);
  });

  it('one that turns into such a wrapper, or is one, fails by itself', async (test) => {
    look(test);
    const session = await open(wrapper.flags(), containment);
    // A command that says nothing but the wrapper's code, by the wrapper's name.
    const folder = join(engines.site.scratch, 'rootfs/tools');
    makeRootfs(engines.site);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, wrapper.name), `#!/bin/sh\nexit ${wrapper.own}\n`, { mode: 0o755 });
    const program = wrapper.name === 'chroot' ? `/tools/${wrapper.name}` : join(folder, wrapper.name);
    expect(await session.exec([program], END)).toMatchObject({ code: wrapper.own, stderr: Buffer.alloc(0) });
    expect(await session.exec(['/bin/sh', '-c', `exec ${program}`], END)).toMatchObject({ code: wrapper.own, stderr: Buffer.alloc(0) });
  });

  it('one that is not there is 127, one that cannot be run 126', async (test) => {
    look(test);
    const session = await open(wrapper.flags(), containment);
    for (const program of ['no-such-program', './no-such-program', '/no/such/program']) {
      const { code, stderr } = await session.exec([program], END);
      expect([code, `${stderr}`]).toEqual([127, expect.stringContaining(program)]);
      expect(`${stderr}`).not.toContain('runner-exec');
    }
    for (const program of ['/etc/passwd', '/bin']) {
      const { code, stderr } = await session.exec([program], END);
      expect([code, `${stderr}`]).toEqual([126, expect.stringContaining(program)]);
    }
  });

  it('its own failure is 125, with its words', async (test) => {
    look(test);
    const session = await open(wrapper.broken(), containment);
    for (const argv of [['true'], ['no-such-program'], [wrapper.name]]) {
      const { code, stderr } = await session.exec(argv, END);
      expect([code, `${stderr}`]).toEqual([
        125,
        expect.stringMatching(
          new RegExp(
            `${wrapper.name}: .*No such file.*\\nrunner-exec: the wrapper '${wrapper.name}' failed with exit code ${wrapper.own}; hint: .*\\n$`,
            's',
          ),
        ),
      ]);
    }
  });

  it('a directory that is not there is its own failure, too', async (test) => {
    look(test);
    const session = await open(wrapper.flags(), containment);
    const { code, stderr } = await session.exec(['true'], { ...END, flags: ['--cwd', '/no/such'] });
    expect([code, `${stderr}`]).toEqual([
      125,
      expect.stringContaining(`runner-exec: the wrapper '${wrapper.name}' failed with exit code `),
    ]);
  });
});

describe('a bwrap that does not know how to tell its status', () => {
  it('fails the first command, and then is told by a sign', async (test) => {
    needs(test, 'root', 'bwrap');
    const old = holdfast.program(
      'bwrap',
      '#!/bin/sh\nfor word; do case $word in --json-status-fd) echo "bwrap: Unknown option $word" >&2; exit 1;; --) break;; esac; done\nexec /usr/bin/bwrap "$@"\n',
    );
    const session = await open([...preset('bubblewrap', { dev_bind: '/' }), '--prefix', old], 'auto');
    const { code, stderr } = await session.exec(['true'], { cwd: '/' });
    expect([code, `${stderr}`]).toEqual([
      125,
      expect.stringMatching(/^bwrap: Unknown option --json-status-fd\nrunner-exec: the wrapper .* failed/),
    ]);
    expect((await session.exec(['/bin/sh', '-c', 'exit 1'], { cwd: '/' })).code).toBe(1);
    expect((await session.exec(['no-such-program'], { cwd: '/' })).code).toBe(127);
  });
});
