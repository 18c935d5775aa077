// Pins DESIGN section 4 "Session life" with the built programs: one agent, its own files and nobody else's, an end without remains.

import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { programs, useHoldfast } from '../harness/holdfast.js';
import { needs } from '../harness/needs.js';
import { descriptorsOf, isAlive } from '../harness/processes.js';
import type { Ended, Running } from '../harness/running.js';
import { Supervisor } from '../harness/supervisor.js';
import { Terminal } from '../harness/terminal.js';

const holdfast = useHoldfast();
const SILENT = { code: 0, signal: null, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };

/** A launcher that writes its pid to `pidFile` and then waits until it is ended. */
function hangingLauncher(): { launcher: string; started: () => Promise<number> } {
  const pidFile = join(holdfast.folder(), 'pid');
  const launcher = holdfast.program('launcher', `#!/bin/sh\necho entering\necho $$ >'${pidFile}'\nsleep 600\nexec "$@"\n`);
  return { launcher, started: () => eventually(() => Number(/^\d+(?=\n)/.exec(readFileSync(pidFile, 'utf8'))?.[0] ?? missing(pidFile))) };
}

function missing(path: string): never {
  throw new Error(`'${path}' is still empty`);
}

function expectGone(pid: number): Promise<void> {
  return eventually(() => expect(isAlive(pid), `process ${pid} is alive`).toBe(false));
}

/** Files of sessions, logs included. */
function runtimeFiles(): string[] {
  return readdirSync(holdfast.runtimeDirectory);
}

describe('opening', () => {
  it('eight times at once over a stale socket gives one agent', async () => {
    const stale = await holdfast.open('many', { script: 'export MARK=stale' });
    process.kill(stale.pid, 'SIGKILL');
    const born = join(holdfast.folder(), 'born');
    const launcher = holdfast.program('launcher', `#!/bin/sh\necho $$ >>'${born}'\nexec "$@"\n`);
    const all = await Promise.all(Array.from({ length: 8 }, () => holdfast.holdfast(['open', 'many', '--', launcher])));
    expect(all).toEqual(all.map(() => SILENT));
    const session = await holdfast.adopt('many');
    expect(readFileSync(born, 'utf8')).toBe(`${session.pid}\n`);
    expect(await session.output(['sh', '-c', 'echo $MARK'])).toBe('\n');
  });

  it('with another definition is refused, and the session goes on', async () => {
    const session = await holdfast.open('one', { launcher: ['env', 'MARK=first'] });
    const { code, stderr } = await holdfast.holdfast(['open', 'one', '--', 'env', 'MARK=second']);
    expect(code).toBe(1);
    expect(`${stderr}`).toMatch(/^holdfast: session 'one' is already open with another definition\nhint: .*'holdfast close one'\n$/);
    expect(await session.output(['printenv', 'MARK'])).toBe('first\n');
  });

  it('never removes a plain file, nor a socket that lives', async () => {
    const path = join(holdfast.runtimeDirectory, 'plain.sock');
    writeFileSync(path, 'precious');
    const first = await holdfast.holdfast(['open', 'plain', '--', 'env']);
    expect(first.code).toBe(1);
    expect(`${first.stderr}`).toMatch(/^holdfast: '.*plain\.sock' is in the way: it is not a socket, so it is not removed\nhint: .*\n$/);
    expect(readFileSync(path, 'utf8')).toBe('precious');
    expect((await holdfast.holdfast(['close', 'plain'])).code).toBe(1);
    expect(readFileSync(path, 'utf8')).toBe('precious');
    rmSync(path);
    expect(runtimeFiles()).toEqual([]);

    const server: Server = createServer((socket) => socket.on('error', () => {}).resume());
    await new Promise<void>((resolve) => server.listen(path, resolve));
    try {
      const second = await holdfast.holdfast(['open', 'plain', '--', 'env']);
      expect(second.code).toBe(1);
      expect(`${second.stderr}`).toMatch(/^holdfast: the agent of session 'plain' \(process \d+\) does not answer: .*\nhint: .*\n$/);
      expect(statSync(path).isSocket()).toBe(true);
    } finally {
      await new Promise((resolve) => server.close(resolve));
      rmSync(path, { force: true });
    }
  });

  it('leaves a frozen agent alone and names it', async () => {
    const session = await holdfast.open('frozen', { launcher: ['env', 'MARK=1'] });
    process.kill(session.pid, 'SIGSTOP');
    const { code, stderr } = await holdfast.holdfast(['open', 'frozen', '--', 'env', 'MARK=1']);
    expect(code).toBe(1);
    expect(`${stderr}`).toBe(
      `holdfast: the agent of session 'frozen' (process ${session.pid}) does not answer: it is stopped\n` +
        `hint: let it go on with 'kill -CONT ${session.pid}', or end it with 'holdfast close frozen'\n`,
    );
    const list = await holdfast.holdfast(['list', '--json']);
    expect(JSON.parse(`${list.stdout}`)).toMatchObject([{ name: 'frozen', state: 'frozen' }]);
    process.kill(session.pid, 'SIGCONT');
    expect(await session.output(['printenv', 'MARK'])).toBe('1\n');
  });

  it('holds no descriptor of its caller: `$(holdfast open …)` ends', async () => {
    const folder = holdfast.folder();
    const script = `x=$('${process.execPath}' '${programs.holdfast}' open held -- sh -c 'exec "$@"' sh 2>&1); echo "<$x>$?"; readlink /proc/$$/fd/7`;
    const ended = await holdfast.run(['bash', '-c', `exec 7>'${folder}/seven' 8<'${folder}'; ${script}`]);
    expect(`${ended.stdout}${ended.stderr}`).toBe(`<>0\n${folder}/seven\n`);
    const session = await holdfast.adopt('held');
    expect([...descriptorsOf(session.pid).values()].filter((target) => target.startsWith(folder))).toEqual([]);
    expect(await session.output(['sh', '-c', 'ls /proc/$$/fd; :'])).toBe('0\n1\n2\n');
  });

  it('the first command of a project holds none either', async () => {
    const directory = holdfast.folder('project');
    writeFileSync(join(directory, 'holdfast.toml'), '[session]\nlauncher = ["env"]\n');
    const script = `x=$('${programs.runnerExec}' -- echo ran 2>&1); echo "<$x>$?"`;
    const ended = await holdfast.run(['bash', '-c', `exec 7>'${directory}/../seven-$$'; ${script}`], { cwd: directory });
    expect(`${ended.stdout}${ended.stderr}`).toBe('<ran>0\n');
    const session = await holdfast.adopt(directory);
    expect([...descriptorsOf(session.pid).values()].filter((target) => target.includes('seven'))).toEqual([]);
  });
});

describe('names and directories', () => {
  it('may be long: 150 bytes deep, and names that differ at their end', async () => {
    const parent = join(holdfast.folder(), 'd'.repeat(100));
    const env = { HOLDFAST_RUNTIME_DIR: join(parent, 'r'.repeat(40)) };
    expect(env.HOLDFAST_RUNTIME_DIR.length).toBeGreaterThan(150);
    const names = ['a', 'b'].map((end) => `${'n'.repeat(300)} / "ü" ${end}`);
    for (const name of names) expect(await holdfast.holdfast(['open', name, '--', 'env', `MARK=${name.at(-1)}`], { env })).toEqual(SILENT);
    try {
      for (const name of names) {
        const { code, stdout, stderr } = await holdfast.runnerExec(['--session', name, '--', 'printenv', 'MARK'], { env });
        expect(`${code} ${stdout}${stderr}`).toBe(`0 ${name.at(-1)}\n`);
        const socket = JSON.parse(`${(await holdfast.holdfast(['status', name, '--json'], { env })).stdout}`).socket;
        const bySocket = await holdfast.runnerExec(['--socket', socket, '--', 'printenv', 'MARK']);
        expect(`${bySocket.code} ${bySocket.stdout}${bySocket.stderr}`).toBe(`0 ${name.at(-1)}\n`);
      }
      const mode = (path: string): string => (statSync(path).mode & 0o7777).toString(8);
      expect(mode(env.HOLDFAST_RUNTIME_DIR)).toBe('700');
      const modes = readdirSync(env.HOLDFAST_RUNTIME_DIR).map((name) => mode(join(env.HOLDFAST_RUNTIME_DIR, name)));
      expect(new Set(modes)).toEqual(new Set(['600']));
    } finally {
      expect(await holdfast.holdfast(['close', '--all'], { env })).toEqual(SILENT);
    }
    expect(readdirSync(env.HOLDFAST_RUNTIME_DIR)).toEqual([]);
  });

  it('without HOLDFAST_RUNTIME_DIR lie in XDG_RUNTIME_DIR, which is not made up', async () => {
    const xdg = holdfast.folder('xdg');
    const env = { HOLDFAST_RUNTIME_DIR: undefined, XDG_RUNTIME_DIR: xdg };
    expect(await holdfast.holdfast(['open', 'xdg', '--', 'env'], { env })).toEqual(SILENT);
    expect(await holdfast.runnerExec(['--session', 'xdg', '--', 'true'], { env })).toEqual(SILENT);
    expect(readdirSync(join(xdg, 'holdfast'))).toContain('xdg.sock');
    expect(await holdfast.holdfast(['close', 'xdg'], { env })).toEqual(SILENT);

    const absent = { ...env, XDG_RUNTIME_DIR: join(xdg, 'absent') };
    const { code, stderr } = await holdfast.holdfast(['open', 'xdg', '--', 'env'], { env: absent });
    expect(code).toBe(1);
    expect(`${stderr}`).toMatch(/^holdfast: cannot use the runtime directory '.*absent\/holdfast': it cannot be made: .*\nhint: .*\n$/);
    expect(existsSync(absent.XDG_RUNTIME_DIR)).toBe(false);
  });

  /** Both programs refuse the directory, for this reason. */
  async function expectRefused(path: string, why: RegExp, run: (argv: [string, ...string[]]) => Promise<Ended>): Promise<void> {
    const opened = await run([process.execPath, programs.holdfast, 'open', 'x', '--', 'env']);
    expect(opened.code).toBe(1);
    expect(`${opened.stderr}`).toMatch(new RegExp(`^holdfast: cannot use the runtime directory '${path}': ${why.source}\nhint: .*\n$`));
    const ran = await run([programs.runnerExec, '--session', 'x', '--', 'true']);
    expect(ran.code).toBe(125);
    expect(`${ran.stderr}`).toMatch(new RegExp(`^runner-exec: cannot use the runtime directory '${path}': ${why.source}; hint: .*\n$`));
    expect(readdirSync(path.replace(/\/x$/, ''))).toEqual([]);
  }

  it('that others may enter, or that is a link, is refused by name', async () => {
    const folder = holdfast.folder();
    const real = join(folder, 'real');
    mkdirSync(real, { mode: 0o755 });
    const run =
      (path: string) =>
      (argv: [string, ...string[]]): Promise<Ended> =>
        holdfast.run(argv, { env: { HOLDFAST_RUNTIME_DIR: path } });
    await expectRefused(real, /its mode is 755, not 700/, run(real));
    const link = join(folder, 'link');
    const target = join(folder, 'target');
    mkdirSync(target, { mode: 0o700 });
    symlinkSync(target, link);
    await expectRefused(link, /it is a link, or no directory/, run(link));
    await expectRefused(link, /it is a link, or no directory/, run(`${link}/`));
  });

  it.for([
    ['ro', 'Read-only file system'],
    ['nr_inodes=1', 'No space left on device'],
    ['nr_inodes=2', 'No space left on device'],
  ])('that cannot be written to is no place for a session: %s', async ([option = '', fault = ''], t) => {
    needs(t, 'user namespaces');
    const directory = holdfast.folder();
    const script = `mount -t tmpfs -o mode=700,${option} none "$HOLDFAST_RUNTIME_DIR" && exec "$0" open s -- env`;
    const ended = await holdfast.run(['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', script, programs.holdfast], {
      env: { HOLDFAST_RUNTIME_DIR: directory },
    });
    expect({ code: ended.code, stderr: `${ended.stderr}` }).toEqual({
      code: 1,
      stderr: `holdfast: cannot use the runtime directory '${directory}': ${fault}\nhint: name another one in HOLDFAST_RUNTIME_DIR\n`,
    });
  });

  it('of another user is refused by both, whoever is root', async (t) => {
    needs(t, 'root', 'setpriv');
    chmodSync(holdfast.directory, 0o711);
    const folder = holdfast.folder();
    const theirs = join(folder, 'theirs');
    const roots = join(folder, 'roots');
    for (const path of [theirs, roots]) mkdirSync(path, { mode: 0o700 });
    chownSync(theirs, 65534, 65534);
    await expectRefused(theirs, /it belongs to user 65534/, (argv) => holdfast.run(argv, { env: { HOLDFAST_RUNTIME_DIR: theirs } }));
    // The installation may lie where that user cannot go, and then nothing of it can be shown.
    const as = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] as const;
    if ((await holdfast.run([...as, programs.runnerExec, '--version'])).code !== 0) return;
    await expectRefused(roots, /it belongs to user 0/, (argv) => holdfast.run([...as, ...argv], { env: { HOLDFAST_RUNTIME_DIR: roots } }));
  });

  it("are not another user's to use, though they reach the socket", async (t) => {
    needs(t, 'root', 'setpriv');
    const session = await holdfast.open('mine');
    const as = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] as const;
    if ((await holdfast.run([...as, programs.runnerExec, '--version'])).code !== 0) return;
    chmodSync(holdfast.directory, 0o711);
    // The other way round: a socket that the client may connect to, of an agent that is not its user's.
    const folder = holdfast.folder();
    chownSync(folder, 65534, 65534);
    const path = join(folder, 's');
    const listen = `require('net').createServer().listen('${path}', () => console.log('listens'))`;
    const imposter = holdfast.start([...as, process.execPath, '-e', listen], { stdin: 'open' });
    try {
      await imposter.outputLine('listens');
      const { code, stderr } = await holdfast.runnerExec(['--socket', path, '--', 'true']);
      expect(code).toBe(125);
      expect(`${stderr}`).toMatch(/^runner-exec: refused to use session '.*': its agent belongs to user 65534; hint: .*\n$/);
    } finally {
      imposter.kill('SIGKILL');
      await imposter.ended;
    }
    expect(await session.output(['id', '-u'])).toBe('0\n');
  });
});

describe('a supervisor', () => {
  it('is told of readiness and of the end', async () => {
    const supervisor = new Supervisor(join(holdfast.folder(), 'notify'));
    try {
      const session = await holdfast.open('told', { env: { NOTIFY_SOCKET: supervisor.path } });
      await supervisor.hears('READY=1');
      await supervisor.hears(`MAINPID=${session.pid}`);
      await supervisor.hears(/^STATUS=.*'told'/);
      expect(supervisor.messages.join('\n')).not.toContain('STOPPING');
      expect(await session.output(['sh', '-c', 'echo "<$NOTIFY_SOCKET>"'])).toBe('<>\n');
      await session.close();
      await supervisor.hears('STOPPING=1');
    } finally {
      supervisor.close();
    }
  });

  it('may listen on an abstract address', async (t) => {
    needs(t, 'python3');
    const name = `holdfast-test-${process.pid}`;
    const listen = [
      'import socket',
      's = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)',
      `s.bind("\\0${name}")`,
      'print("bound", flush=True)',
      'while True:',
      '    data = s.recv(4096).decode()',
      '    print(data, flush=True)',
      '    if "STOPPING=1" in data: break',
    ].join('\n');
    const listener = holdfast.start(['python3', '-c', listen]);
    await listener.outputLine('bound');
    const session = await holdfast.open('abstract', { env: { NOTIFY_SOCKET: `@${name}` } });
    await listener.outputLine('READY=1');
    await session.close();
    expect(await listener.ended).toMatchObject({ code: 0 });
  });

  async function inForeground(name: string): Promise<{ opener: Running; supervisor: Supervisor; pid: number }> {
    const supervisor = new Supervisor(join(holdfast.folder(), 'notify'));
    const opener = holdfast.startHoldfast(['open', name, '--foreground', '--', 'env'], { env: { NOTIFY_SOCKET: supervisor.path } });
    const pid = Number((await supervisor.hears(/^MAINPID=\d+$/)).slice('MAINPID='.length));
    return { opener, supervisor, pid };
  }

  it('holds a session in the foreground, and closes it with a stop signal', async () => {
    const { opener, supervisor, pid } = await inForeground('front');
    try {
      expect(await holdfast.runnerExec(['--session', 'front', '--', 'true'])).toEqual(SILENT);
      expect(opener.isAlive).toBe(true);
      opener.kill('SIGTERM');
      expect(await opener.ended).toEqual(SILENT);
      await supervisor.hears('STOPPING=1');
      await expectGone(pid);
      expect(runtimeFiles()).toEqual([]);
    } finally {
      supervisor.close();
    }
  });

  it('sees the foreground end when the session is closed, and fail when its agent is killed', async () => {
    const closed = await inForeground('front');
    closed.supervisor.close();
    expect(await holdfast.holdfast(['close', 'front'])).toEqual(SILENT);
    expect(await closed.opener.ended).toEqual(SILENT);

    const killed = await inForeground('front');
    killed.supervisor.close();
    await eventually(() => expect(runtimeFiles()).not.toContain('front.notify'));
    process.kill(killed.pid, 'SIGKILL');
    const { code, stderr } = await killed.opener.ended;
    expect(code).toBe(1);
    expect(`${stderr}`).toMatch(/^holdfast: the agent of session 'front' \(process \d+\) ended without closing it\nhint: .*\n$/);
    expect(await holdfast.holdfast(['close', 'front'])).toEqual(SILENT);
    expect(runtimeFiles()).toEqual([]);
  });
});

describe('closing', () => {
  it("runs the launcher's exit trap then and only then, and leaves nothing", async () => {
    const bye = join(holdfast.folder(), 'bye');
    const launcher = holdfast.program('launcher', `#!/bin/bash\ntrap 'echo bye >>"${bye}"' EXIT\n"$@"\n`);
    const session = await holdfast.open('trap', { launcher: [launcher] });
    const running = session.start(['sh', '-c', '(setsid sleep 600 &) ; echo ready; exec sleep 600']);
    await running.outputLine('ready');
    const detached = await session.exec(['sh', '-c', 'setsid sleep 600 & exec sleep 601'], { flags: ['--detach'] });
    expect(detached.code).toBe(0);
    const cgroup = await session.output(['cat', '/proc/self/cgroup']);
    const before = session.processes();
    expect(before.length).toBeGreaterThan(3);
    expect(existsSync(bye)).toBe(false);

    await session.close();

    expect(readFileSync(bye, 'utf8')).toBe('bye\n');
    expect(before.filter(({ pid, startTicks }) => isAlive(pid, startTicks))).toEqual([]);
    expect(runtimeFiles()).toEqual([]);
    const { code, stderr } = await running.ended;
    expect(code).toBe(125);
    expect(`${stderr}`).toMatch(/^runner-exec: .*'trap'.*\n$/);
    expectCgroupGone(cgroup);
  });

  /** The target's was below the session's. */
  function expectCgroupGone(cgroups: string): void {
    const path = /^0::(.*)$/m.exec(cgroups)?.[1];
    const mount = readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .find(([, , type]) => type === 'cgroup2')?.[1];
    if (path === undefined || mount === undefined || !path.includes('holdfast')) return;
    expect(existsSync(join(mount, path))).toBe(false);
    expect(existsSync(join(mount, dirname(path)))).toBe(false);
  }

  it('ends even what is frozen, stubborn or dead', async () => {
    const stubborn = await holdfast.open('stubborn', { flags: ['--kill-grace', '200ms'] });
    const running = stubborn.start(['bash', '-c', 'trap "" TERM HUP INT; echo ready; while :; do read -rt 600 <> <(:); done']);
    await running.outputLine('ready');
    await stubborn.close();
    expect((await running.ended).code).toBe(125);

    const frozen = await holdfast.open('frozen');
    process.kill(frozen.pid, 'SIGSTOP');
    expect(await holdfast.holdfast(['close', 'frozen'])).toEqual(SILENT);
    await expectGone(frozen.pid);

    const dead = await holdfast.open('dead');
    process.kill(dead.pid, 'SIGKILL');
    expect(await holdfast.holdfast(['close', 'dead'])).toEqual(SILENT);
    expect(runtimeFiles()).toEqual([]);
  });

  it('happens when the launcher dies: the environment has ended', async () => {
    const pidFile = join(holdfast.folder(), 'pid');
    const session = await holdfast.open('dies', { launcher: ['bash', '-c', `echo $$ >'${pidFile}'; "$@"; exit`, 'bash'] });
    const running = session.start(['sh', '-c', 'echo ready; exec sleep 600']);
    await running.outputLine('ready');
    process.kill(Number(readFileSync(pidFile, 'utf8')), 'SIGKILL');
    expect((await running.ended).code).toBe(125);
    await expectGone(session.pid);
    await eventually(() => expect(runtimeFiles()).toEqual([]));
  });

  it('happens after idle_timeout, but not under a command, and leaves no files', async () => {
    const session = await holdfast.open('idle', { flags: ['--idle-timeout', '1500ms'] });
    // Longer than it may idle.
    expect(await session.output(['sh', '-c', 'sleep 2; echo done'])).toBe('done\n');
    await expectGone(session.pid);
    await eventually(() => expect(runtimeFiles()).toEqual([]));
  });
});

describe('an entry that is broken off', () => {
  it('by SIGKILL of the opener leaves nothing once the launcher gets through', async () => {
    const folder = holdfast.folder();
    const launcher = holdfast.program('launcher', `#!/bin/sh\necho $$ >'${folder}/pid'\ncat '${folder}/gate'\nexec "$@"\n`);
    expect((await holdfast.run(['mkfifo', join(folder, 'gate')])).code).toBe(0);
    const opener = holdfast.startHoldfast(['open', 'killed', '--', launcher]);
    await eventually(() => statSync(join(folder, 'pid')));
    opener.kill('SIGKILL');
    await opener.ended;
    writeFileSync(join(folder, 'gate'), '');
    await expectGone(Number(readFileSync(join(folder, 'pid'), 'utf8')));
    await eventually(() => expect(runtimeFiles()).toEqual([]));
  });

  it('by SIGKILL of the opener, with a launcher that hangs, is cleared up by the next one', async () => {
    const { launcher, started } = hangingLauncher();
    const opener = holdfast.startHoldfast(['open', 'killed', '--', launcher]);
    const pid = await started();
    opener.kill('SIGKILL');
    await opener.ended;
    const session = await holdfast.open('killed', { launcher: ['env', 'MARK=second'] });
    expect(isAlive(pid)).toBe(false);
    expect(await session.output(['printenv', 'MARK'])).toBe('second\n');
  });

  it.for(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('by %s ends the launcher, and the opener by that signal', async (signal) => {
    const { launcher, started } = hangingLauncher();
    const opener = holdfast.startHoldfast(['open', 'broken', '--', launcher]);
    const pid = await started();
    opener.kill(signal);
    expect(await opener.ended).toMatchObject({ code: null, signal, stderr: Buffer.alloc(0) });
    expect(isAlive(pid)).toBe(false);
    expect(runtimeFiles().filter((name) => !name.endsWith('.log'))).toEqual([]);
  });

  it('by Ctrl-C at a terminal leaves nothing, by hand and for a first command', async () => {
    const { launcher, started } = hangingLauncher();
    const directory = holdfast.folder('project');
    writeFileSync(join(directory, 'holdfast.toml'), `[session]\nlauncher = ["${launcher}"]\n`);
    const commands: [string, ...string[]][] = [
      [process.execPath, programs.holdfast, 'open'],
      [programs.runnerExec, '--', 'true'],
    ];
    for (const command of commands) {
      const terminal = new Terminal(command, { cwd: directory, env: holdfast.env });
      try {
        const pid = await started();
        await terminal.sees('entering');
        terminal.type('\x03');
        expect(await terminal.exited).toMatchObject({ signal: 2 });
        expect(isAlive(pid)).toBe(false);
        expect(runtimeFiles().filter((name) => !name.endsWith('.log'))).toEqual([]);
      } finally {
        terminal.close();
      }
      rmSync(join(dirname(launcher), '..', 'pid'), { force: true });
    }
  });
});
