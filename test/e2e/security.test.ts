// Pins docs/security.md: what another user of the machine cannot do, where a value given to one command is not found, and what a
// path or a peer cannot reach.

import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { programs, useHoldfast } from '../harness/holdfast.js';
import { needs } from '../harness/needs.js';
import { OtherUser } from '../harness/other-user.js';
import { Peer } from '../harness/peer.js';
import { allProcesses, descendantsOf, isAlive } from '../harness/processes.js';
import type { Ended } from '../harness/running.js';
import { Terminal } from '../harness/terminal.js';

const holdfast = useHoldfast();

/** Both clients. */
const CLIENTS: readonly [string, readonly [string, ...string[]]][] = [
  ['runner-exec', [programs.runnerExec]],
  ['its fallback', [process.execPath, programs.holdfast, '__runner-exec']],
];

const endOf = ({ code, stdout, stderr }: Ended): [number | null, string, string] => [code, `${stdout}`, `${stderr}`];

/** Connects, and says how it went: 'refused: ERRNO', 'closed' by the other side without a word, or what came. */
const KNOCK = `const peer = require('net').connect(process.argv[1]);
peer.on('error', (error) => console.log('refused: ' + error.code));
let heard = '';
peer.on('data', (bytes) => (heard += bytes)).on('end', () => console.log('closed' + heard));`;

describe('another user', () => {
  it('finds nothing of a session that could be read, written or connected to', async () => {
    const session = await holdfast.open('mine', { flags: ['--runtime-pass-env', 'TOKEN'] });
    expect((await session.exec(['sleep', '600'], { flags: ['--detach'] })).code).toBe(0);
    const report = join(holdfast.folder(), 'report.json');
    expect((await session.exec(['true'], { flags: ['--report', report] })).code).toBe(0);
    const directory = dirname(session.socket);
    const files = readdirSync(directory).map((name) => join(directory, name));
    for (const suffix of ['sock', 'json', 'lock', 'log', 'pass', 'job'])
      expect(files.map((path) => path.slice(path.lastIndexOf('.') + 1))).toContain(suffix);
    for (const path of [...files, report]) expect([path, statSync(path).mode & 0o077]).toEqual([path, 0]);
    expect(statSync(directory).mode & 0o7777).toBe(0o700);
  });

  it('is not served, though every mode be open', async (test) => {
    needs(test, 'root', 'setpriv');
    const user = new OtherUser(holdfast);
    const session = await holdfast.open('mine');
    const directory = dirname(session.socket);
    const knock = async (): Promise<string> => `${(await user.run([process.execPath, '-e', KNOCK, session.socket])).stdout}`.trim();
    expect(await knock()).toBe('refused: EACCES');
    for (const [, client] of CLIENTS) {
      expect(endOf(await user.run([...client, '--socket', session.socket, '--', 'true']))).toEqual([
        125,
        '',
        expect.stringContaining('Permission denied; hint: only the user who opened a session can use it'),
      ]);
    }
    chmodSync(directory, 0o711);
    expect(await knock()).toBe('refused: EACCES');
    chmodSync(session.socket, 0o777);
    try {
      expect(await knock()).toBe('closed');
      // Nor would its own client speak to an agent that is not its user's.
      for (const [, client] of CLIENTS) {
        expect(endOf(await user.run([...client, '--socket', session.socket, '--', 'true']))).toEqual([
          125,
          '',
          expect.stringContaining('its agent belongs to user 0'),
        ]);
      }
      // And ours does not use a directory that others may enter.
      expect(endOf(await session.exec(['true']))).toEqual([125, '', expect.stringContaining(`'${directory}': its mode is 711, not 700`)]);
    } finally {
      chmodSync(directory, 0o700);
    }
    expect(await session.output(['echo', 'served'])).toBe('served\n');
  });

  it('is not taken for an agent, and is told nothing', async (test) => {
    needs(test, 'root', 'setpriv');
    const user = new OtherUser(holdfast);
    const path = join(user.directory, 'fake.sock');
    const fake = `require('net').createServer((peer) => peer.on('data', (bytes) => console.log('heard ' + bytes)).on('close', () => console.log('left')))
      .listen(process.argv[1], () => console.log('listens'));`;
    const agent = user.start([process.execPath, '-e', fake, path]);
    await agent.outputLine('listens');
    for (const [, client] of CLIENTS) {
      const asked = await holdfast.run([...client, '--socket', path, '--env', 'SECRET=1', '--', 'true']);
      expect(endOf(asked)).toEqual([
        125,
        '',
        expect.stringContaining(`refused to use session '${path}': its agent belongs to user ${user.uid}`),
      ]);
    }
    await eventually(() => expect(`${agent.stdout}`).toBe('listens\nleft\nleft\n'));
    agent.kill('SIGKILL');
    await agent.ended;
  });

  it('cannot plant the runtime directory', async (test) => {
    needs(test, 'root', 'setpriv');
    const user = new OtherUser(holdfast);
    const folder = holdfast.folder();
    const planted: [string, string, () => void][] = [
      [
        'theirs',
        `it belongs to user ${user.uid}`,
        () => {
          mkdirSync(join(folder, 'theirs'), { mode: 0o700 });
          chownSync(join(folder, 'theirs'), user.uid, user.uid);
        },
      ],
      ['link', 'it is a link, or no directory', () => symlinkSync(holdfast.runtimeDirectory, join(folder, 'link'))],
      ['file', 'it is a link, or no directory', () => writeFileSync(join(folder, 'file'), '')],
      ['open', 'its mode is 755, not 700', () => mkdirSync(join(folder, 'open'), { mode: 0o755 })],
    ];
    for (const [name, why, plant] of planted) {
      plant();
      const path = join(folder, name);
      const env = { HOLDFAST_RUNTIME_DIR: path };
      const words = expect.stringContaining(`cannot use the runtime directory '${path}': ${why}`);
      for (const [, client] of CLIENTS)
        expect(endOf(await holdfast.run([...client, '--session', 'x', '--', 'true'], { env }))).toEqual([125, '', words]);
      for (const command of [['open', 'x', '--', 'env'], ['list'], ['close', 'x']])
        expect(endOf(await holdfast.holdfast(command, { env }))).toEqual([1, '', words]);
      expect(name === 'theirs' || name === 'open' ? readdirSync(path) : []).toEqual([]);
    }
  });

  it('cannot exchange it while a session is entered', async (test) => {
    needs(test, 'root', 'setpriv');
    const user = new OtherUser(holdfast);
    const parent = holdfast.folder();
    const path = join(parent, 'run');
    const planted = join(parent, 'planted');
    mkdirSync(path, { mode: 0o700 });
    mkdirSync(planted, { mode: 0o700 });
    // What the launcher does here somebody else could do, who may write to the parent.
    const exchange = `mv '${path}' '${path}.away'; mv '${planted}' '${path}'; cp '${path}.away/x.json' '${path}/x.json'; chown -R ${user.uid} '${path}'`;
    const opened = await holdfast.holdfast(['open', 'x', '--', 'sh', '-c', `${exchange}; exec "$@"`, 'launch'], {
      env: { HOLDFAST_RUNTIME_DIR: path },
    });
    expect([opened.code, readdirSync(path)]).toEqual([1, ['x.json']]);
    expect(readFileSync(join(`${path}.away`, 'x.log'), 'utf8')).toContain(
      `the runtime directory '${path}' is not this user's alone any more`,
    );
  });

  it('cannot plant it in /tmp either', async (test) => {
    needs(test, 'root', 'setpriv');
    const user = new OtherUser(holdfast, 61234); // one that has never been here
    const path = `/tmp/holdfast-${user.uid}`;
    mkdirSync(path, { mode: 0o700 }); // by root, who stands for a third one
    try {
      const script = 'unset HOLDFAST_RUNTIME_DIR XDG_RUNTIME_DIR; runner --session x -- true; echo $?; hold open x -- env; echo $?';
      const words = `cannot use the runtime directory '${path}': it belongs to user 0`;
      const { stdout, stderr } = await user.script(script);
      expect(`${stdout}`).toBe('125\n1\n');
      expect(`${stderr}`.split(words)).toHaveLength(3);
    } finally {
      rmSync(path, { recursive: true });
    }
  });
});

describe('a value given to one command', () => {
  const secret = 'hunter2-4f1c9e';

  it.each(['auto', 'warden'])(
    'is in no file, argument list, foreign environment, log or later command: containment %s',
    async (containment) => {
      const session = await holdfast.open('s', { flags: ['--containment', containment, '--max-concurrent', '2'] });
      const env = { TOKEN: secret };
      const flags = ['--pass-env', 'TOKEN'];
      const report = join(holdfast.folder(), 'report.json');
      // One ends, one cannot start, one is a job, one runs, one waits.
      expect(await session.output(['printenv', 'TOKEN'], { flags: [...flags, '--report', report], env })).toBe(`${secret}\n`);
      expect((await session.exec(['no-such-program'], { flags, env })).code).toBe(127);
      expect((await session.exec(['sleep', '600'], { flags: [...flags, '--detach'], env })).code).toBe(0);
      const running = session.start(['sh', '-c', 'echo up; exec sleep 600'], { flags, env });
      await running.outputLine('up');
      const waiting = session.start(['true'], { flags, env });
      await eventually(async () => expect(await session.status()).toMatchObject({ queued: 1 }));

      const found = await holdfast.run(['grep', '-rlaF', secret, dirname(session.socket), report]);
      expect(endOf(found)).toEqual([1, '', '']);
      const carriers = allProcesses().filter(({ pid }) => pid !== process.pid && carries(pid, 'environ', secret));
      // The two clients; the two targets, and what stands by each of them alone.
      const agentsOwn = descendantsOf(session.pid);
      const allowed = new Set([running.pid, waiting.pid, ...agentsOwn.map(({ pid }) => pid)]);
      expect(carriers.filter(({ pid }) => !allowed.has(pid))).toEqual([]);
      expect(carriers.length).toBeGreaterThanOrEqual(4);
      expect(readFileSync(`/proc/${session.pid}/environ`)).toHaveLength(0);
      expect(allProcesses().filter(({ pid }) => carries(pid, 'cmdline', secret))).toEqual([]);
      for (const command of [
        ['status', 's', '--json'],
        ['jobs', 's', '--json'],
        ['explain', 's'],
        ['logs', 's'],
        ['list', '--json'],
      ]) {
        expect(`${(await holdfast.holdfast(command)).stdout}`).not.toContain(secret);
      }

      running.kill('SIGTERM');
      expect((await waiting.ended).code).toBe(0);
      await running.ended;
      expect(await session.output(['env'])).not.toContain('TOKEN');
    },
  );

  function carries(pid: number, file: 'environ' | 'cmdline', text: string): boolean {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(text);
    } catch {
      return false; // gone
    }
  }

  it('is text to everything on its way', async () => {
    const session = await holdfast.open('text');
    const folder = holdfast.folder();
    for (const value of ['() { :;}; touch pwned', '$(touch pwned)', '`touch pwned`', "'; touch pwned; '", '\n\r\x1b]0;x\x07']) {
      const output = await session.output(['bash', '-c', 'printf %s "$X"'], { flags: ['--env', `X=${value}`], cwd: folder });
      expect(output).toBe(value);
      expect(await session.output(['printf', '%s', value], { cwd: folder })).toBe(value);
    }
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a working directory', () => {
  it.each(CLIENTS)('that means another place in each process is refused: %s', async (_, client) => {
    const session = await holdfast.open('d');
    const paths = [
      '/proc/self/fd',
      '/proc/self/cwd',
      '/proc/thread-self/root',
      '/dev/fd',
      '/dev/fd/3',
      '//proc/./self/fd/0',
      '/usr/../proc/self/cwd',
      `/proc/${session.pid}/cwd`,
      '/proc/1/root',
    ];
    for (const path of paths) {
      const { code, stderr } = await holdfast.run([...client, '--session', 'd', '--cwd', path, '--', 'pwd']);
      expect([path, code, `${stderr}`]).toEqual([
        path,
        125,
        expect.stringMatching(/^runner-exec: .*(means another place in every process|is inside a process)/),
      ]);
    }
  });

  it('that a link leads to such a place reaches no descriptor of the agent', async () => {
    const session = await holdfast.open('d');
    const folder = holdfast.folder();
    for (const number of Array.from({ length: 64 }, (_, index) => index + 3)) {
      symlinkSync(`/proc/self/fd/${number}`, join(folder, `${number}`));
      const { code, stderr } = await session.exec(['pwd'], { flags: ['--cwd', join(folder, `${number}`)] });
      expect([code, `${stderr}`]).toEqual([125, expect.stringContaining('cannot enter the directory')]);
    }
    // Its own directory is '/', and nobody's secret.
    symlinkSync('/proc/self/cwd', join(folder, 'cwd'));
    expect(await session.output(['/bin/pwd', '-P'], { flags: ['--cwd', join(folder, 'cwd')] })).toBe('/\n');
  });
});

describe('the terminal of the caller', () => {
  const PUSH = 'for (split //, "pushed") { ioctl(STDIN, 0x5412, $_) or do { print "push: ", $!+0, "\\n"; last } }';

  it('cannot be typed into by a command of an ordinary user', async (test) => {
    needs(test, 'root', 'setpriv', 'perl');
    const user = new OtherUser(holdfast);
    expect(endOf(await user.script(`hold open t -- env`))).toEqual([0, '', '']);
    const drop = ['setpriv', `--reuid=${user.uid}`, `--regid=${user.uid}`, '--clear-groups'] as const;
    const env = { ...holdfast.env, HOLDFAST_RUNTIME_DIR: join(user.directory, 'run') };
    // Not the session's leader, to whose command the terminal would be handed over.
    const terminal = new Terminal([...drop, 'sh', '-c', `'${programs.runnerExec}' --session t -- perl -e '${PUSH}'; exit 0`], { env });
    // EPERM: it is not its controlling terminal. EIO: this kernel lets nobody (dev.tty.legacy_tiocsti).
    expect((await terminal.ended()).text).toMatch(/push: (1|5)\r?\n$/);
    expect(endOf(await user.script(`hold close t`))).toEqual([0, '', '']);
  });
});

describe('a peer that talks nonsense', () => {
  it('is dropped, whatever it says, and disturbs nobody', async () => {
    const session = await holdfast.open('n', { shared: true });
    let state = 0x2545f491;
    const random = (below: number): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state % below;
    };
    const peers: Peer[] = [];
    for (let round = 0; round < 200; round++) {
      const peer = await Peer.connect(session.socket);
      peers.push(peer);
      const body = Buffer.from(Array.from({ length: random(200) }, () => random(256)));
      // Half of them begin as a RUN does.
      if (random(2) === 0) Buffer.from('484652580001', 'hex').copy(body);
      const frame = Peer.frame(random(4) === 0 ? random(256) : 1 + random(5), body);
      if (random(4) === 0) frame.writeUInt32BE(random(2) === 0 ? 0xffffffff : random(1000), 0);
      peer.send(frame);
      peer.send(Buffer.from([random(256)]));
      if (random(2) === 0) peers.pop()?.destroy();
    }
    expect(await session.output(['echo', 'on'])).toBe('on\n');
    for (const peer of peers) peer.destroy();
    expect(isAlive(session.pid)).toBe(true);
  });
});
