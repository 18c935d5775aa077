// Pins DESIGN section 7 against real sessions, in this process.

import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';

import type { CommandSpec, ExecSession, OpenSessionOptions } from '../../src/index.js';
import { eventually } from '../harness/eventually.js';
import { useHoldfast } from '../harness/holdfast.js';
import { becomeProgram, library } from '../harness/library.js';
import { OpenTerminal } from '../harness/open-terminal.js';
import { descriptorsOf, isAlive } from '../harness/processes.js';

const { ExecSessionPool, HoldfastError, attachSession, openSession, sessionKey } = library;
const holdfast = useHoldfast();
const PATIENCE_MS = 30_000;

beforeAll(() => becomeProgram(holdfast));

function script(code: string): string {
  return holdfast.program('enter.sh', `${code}\nexec "$@"\n`);
}

/** Opens, does, and tears down whatever comes of it. */
async function within<T>(options: OpenSessionOptions, work: (session: ExecSession) => Promise<T>): Promise<T> {
  const session = await openSession(options);
  try {
    return await work(session);
  } finally {
    await session.teardown();
  }
}

const HELD = (): { launcher: string[]; killGraceMs: number } => ({
  launcher: ['bash', script('export HELD=yes; greet() { echo "hello $1"; }')],
  killGraceMs: 300,
});

/** Every mode, with the same variable in it. */
const MODES: [string, () => OpenSessionOptions][] = [
  ['session', HELD],
  ['snapshot', () => ({ mode: 'snapshot', launcher: ['bash', script('export HELD=yes')], killGraceMs: 300 })],
  ['wrap', () => ({ mode: 'wrap', prefix: ['env', 'HELD=yes'] })],
];

describe.each(MODES)('a session of mode %s', (mode, options) => {
  it('runs commands in its environment, in this process and through a spawner', async () => {
    await within(options(), async (session) => {
      expect([session.mode, session.describe().owned, session.caps.pty]).toEqual([mode, true, true]);
      const handle = session.run({ program: 'sh', args: ['-c', 'echo $HELD $OWN; exit 3'], env: { OWN: 'mine' } });
      const [output, outcome] = await Promise.all([text(handle.stdout), handle]);
      expect([output, outcome]).toEqual(['yes mine\n', { kind: 'exited', code: 3 }]);
      const { program, args, env, cwd } = session.prepare({
        program: 'sh',
        args: ['-c', 'echo $HELD $OWN; pwd'],
        env: { OWN: 'x y' },
        cwd: '/usr',
      });
      const ended = await holdfast.run([program, ...args], { env, cwd });
      expect([`${ended.stdout}`, `${ended.stderr}`, ended.code]).toEqual(['yes x y\n/usr\n', '', 0]);
    });
  });

  it('refuses a command of types that cannot be in its own terms, run and prepared', async () => {
    await within(options(), async (session) => {
      const refused = { code: 'REQUEST_INVALID', message: "'args[0]' must be text" };
      const spec = { program: 'echo', args: [7] } as unknown as CommandSpec;
      expect(() => session.prepare(spec)).toThrow(expect.objectContaining({ ...refused, message: `${refused.message}, not 7` }));
      await expect(session.run(spec).outcome).rejects.toMatchObject({ ...refused, message: `${refused.message} or a Buffer, not 7` });
      expect(() => session.prepare(undefined as unknown as CommandSpec)).toThrow(/^a command must be an object/);
      await expect(session.run(undefined as unknown as CommandSpec).outcome).rejects.toThrow(/^a command must be an object/);
    });
  });

  it('is gone after its teardown, with all that it ran', async () => {
    const session = await openSession(options());
    const handle = session.run({ program: 'sh', args: ['-c', 'setsid sleep 600 & echo $!; exec sleep 600'] });
    const pids: number[] = [];
    for await (const line of handle) {
      pids.push(Number(line), (await handle.pid) ?? 0);
      break;
    }
    await session.teardown();
    await session.teardown();
    expect(await handle).toMatchObject({ kind: 'cancelled', by: 'shutdown' });
    expect([...pids, session.describe().agentPid].filter((pid) => isAlive(pid))).toEqual([]);
    expect(() => session.prepare({ program: 'true' })).toThrow(expect.objectContaining({ code: 'NO_SESSION' }));
    const gone = { code: 'NO_SESSION', hint: 'open another one' };
    await expect(session.run({ program: 'true' }).outcome).rejects.toMatchObject(gone);
    await expect(session.baseEnv()).rejects.toMatchObject(gone);
    await expect(session.fingerprint()).rejects.toMatchObject(gone);
  });
});

describe('a session of mode host', () => {
  it('prepares nothing, and runs as child_process would', async () => {
    await within({ mode: 'host' }, async (session) => {
      const spec = { program: 'cargo', args: ['build'], env: { A: '1' }, cwd: '/' };
      expect(session.prepare(spec)).toEqual(spec);
      process.env['FROM_HERE'] = 'yes';
      const inherited = session.run({ program: 'printenv', args: ['FROM_HERE'] });
      expect([await text(inherited.stdout), await inherited]).toEqual(['yes\n', { kind: 'exited', code: 0 }]);
      const whole = session.run({ program: '/usr/bin/env', env: { ONLY: 'this' } });
      expect(await text(whole.stdout)).toBe('ONLY=this\n');
      expect(await session.baseEnv()).toEqual({ ...process.env });
      delete process.env['FROM_HERE'];
    });
  });
});

describe('on top of another session', () => {
  it.each(['session', 'snapshot'] as const)('a session of mode %s is entered from within that one', async (mode) => {
    await within(HELD(), async (base) => {
      await within({ mode, launcher: ['bash', script('export BOTH="$HELD and more"')], on: base }, async (top) => {
        expect((await top.baseEnv())?.['BOTH']).toBe('yes and more');
        const handle = top.run({ program: 'sh', args: ['-c', 'echo $HELD, $BOTH'] });
        expect([await text(handle.stdout), await handle]).toEqual(['yes, yes and more\n', { kind: 'exited', code: 0 }]);
        expect(top.describe().base?.name).toBe(base.name);
      });
      expect(await base.run({ program: 'true' })).toEqual({ kind: 'exited', code: 0 });
    });
  });

  it('a wrapper is a command of that one', async () => {
    await within(HELD(), async (base) => {
      await within({ mode: 'wrap', prefix: ['env', 'TOP=1'], on: base }, async (top) => {
        expect(await text(top.run({ program: 'sh', args: ['-c', 'echo $HELD $TOP'] }).stdout)).toBe('yes 1\n');
      });
    });
  });

  it('a script is sourced there, functions and all', async () => {
    const sourced = join(holdfast.folder(), 'env.sh');
    writeFileSync(sourced, 'TOP=$HELD; export TOP; shout() { echo "${1^^}"; }\n');
    await within(HELD(), async (base) => {
      await within({ source: sourced, on: base }, async (top) => {
        expect(await text(top.run({ program: 'bash', args: ['-c', 'echo $TOP; shout x'] }).stdout)).toBe('yes\nX\n');
      });
    });
  });

  it('nothing survives the teardown of the one beneath', async () => {
    const base = await openSession(HELD());
    const top = await openSession({ launcher: ['env', 'TOP=1'], on: base });
    const { agentPid } = top.describe();
    await base.teardown();
    expect(isAlive(agentPid)).toBe(false);
    await top.teardown();
  });
});

describe('the base environment', () => {
  it('is what the launcher made and the session declares', async () => {
    const options = { launcher: ['bash', script('export HELD="a b" WIDE=é')], env: { DECLARED: '1' }, pathPrepend: ['/front'] };
    await within(options, async (session) => {
      const base = await session.baseEnv();
      expect(base).toMatchObject({ HELD: 'a b', WIDE: 'é', DECLARED: '1', PATH: expect.stringMatching(/^\/front:/) });
      expect(session.baseEnv()).toBe(session.baseEnv());
    });
  });

  it('of a wrapper that makes its process elsewhere is not known', async () => {
    await within({ mode: 'wrap', prefix: ['true'], envStyle: 'env-command', farSide: 'none' }, async (session) => {
      expect(await session.baseEnv()).toBeUndefined();
      expect(session.caps.pty).toBe(false);
    });
  });
});

describe('identity', () => {
  it('is pinned by a lock file, or asserted', async () => {
    const cwd = holdfast.folder();
    writeFileSync(join(cwd, 'flake.lock'), '{}');
    await within({ launcher: ['env'], cwd, inputs: ['flake.lock'] }, async (session) => {
      expect(session.caps.identity).toEqual({ kind: 'pinned', by: 'lock file flake.lock' });
      expect((await session.fingerprint()).identity).toEqual(session.caps.identity);
    });
    await within({ launcher: ['env'], identity: 'toolchain 7' }, async (session) => {
      expect(session.caps.identity).toEqual({ kind: 'asserted', by: 'toolchain 7' });
    });
  });

  it('two openings of the same are one key, another environment is another', async () => {
    const one = { launcher: ['env', 'A=1'] };
    expect(sessionKey(one)).toBe(sessionKey({ ...one, name: 'x' }));
    expect(sessionKey(one)).not.toBe(sessionKey({ launcher: ['env', 'A=2'] }));
    expect(sessionKey(one)).not.toBe(sessionKey({ ...one, mode: 'snapshot' }));
  });
});

describe('descriptors', () => {
  it('are pipes of the kernel: a target waits for a reader that does not read', async () => {
    await within(HELD(), async (session) => {
      const handle = session.run({ program: 'sh', args: ['-c', 'head -c 1000000 /dev/zero; echo done >&2'] });
      const pid = await handle.pid;
      // Full, and it waits in a write: nothing of ours has taken what it wrote.
      await eventually(() => expect(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')).not.toBe(''));
      expect(handle.stderr.readableLength).toBe(0);
      let bytes = 0;
      for await (const chunk of handle.stdout) bytes += Buffer.from(chunk).length;
      expect([bytes, await text(handle.stderr), await handle]).toEqual([1_000_000, 'done\n', { kind: 'exited', code: 0 }]);
    });
  });

  it('that nobody reads are given back at the end', async () => {
    await within(HELD(), async (session) => {
      const before = descriptorsOf('self').size;
      for (let run = 0; run < 20; run += 1) await session.run({ program: 'sh', args: ['-c', 'echo unread; echo unread >&2'] });
      await eventually(() => expect(descriptorsOf('self').size).toBe(before));
    });
  });

  it('can be read once the end is known', async () => {
    await within(HELD(), async (session) => {
      const handle = session.run({ program: 'sh', args: ['-c', 'echo out; echo err >&2'] });
      await handle;
      await new Promise(setImmediate);
      expect([await text(handle.stdout), await text(handle.stderr)]).toEqual(['out\n', 'err\n']);
    });
  });

  it('are written by this process, to the end', async () => {
    await within(HELD(), async (session) => {
      const handle = session.run({ program: 'wc', args: ['-c'] });
      handle.stdin.end(Buffer.alloc(3_000_000));
      expect(await text(handle.stdout)).toBe('3000000\n');
    });
  });

  it('are files, and descriptors of files, at the same offset', async () => {
    const folder = holdfast.folder();
    const [input, output, log] = ['in', 'out', 'log'].map((name) => join(folder, name));
    if (input === undefined || output === undefined || log === undefined) throw new Error('three names');
    writeFileSync(input, 'read me');
    writeFileSync(log, 'before\n');
    await within(HELD(), async (session) => {
      const own = await openFile(join(folder, 'five'), 'w');
      await own.write('mine ');
      const outcome = await session.run({
        program: 'sh',
        args: ['-c', 'cat; echo after >&2; echo theirs >&5'],
        stdio: [{ file: input }, { file: output }, { file: log, mode: 'append' }, undefined, undefined, own],
      });
      await own.close();
      expect(outcome).toEqual({ kind: 'exited', code: 0 });
    });
    expect(readFileSync(output, 'utf8')).toBe('read me');
    expect(readFileSync(log, 'utf8')).toBe('before\nafter\n');
    expect(readFileSync(join(folder, 'five'), 'utf8')).toBe('mine theirs\n');
  });

  it('are refused where they cannot be, with nothing left open', async () => {
    await within(HELD(), async (session) => {
      const before = descriptorsOf('self').size;
      const missing = session.run({ program: 'true', stdio: ['pipe', 'pipe', { file: '/nonexistent/x' }] });
      await expect(missing.outcome).rejects.toMatchObject({
        code: 'REQUEST_INVALID',
        message: "cannot open '/nonexistent/x': No such file or directory",
      });
      const no = session.run({ program: 'true', stdio: { terminal: '/dev/null' } });
      await expect(no.outcome).rejects.toMatchObject({ code: 'REQUEST_INVALID', message: "'/dev/null' is no terminal" });
      await eventually(() => expect(descriptorsOf('self').size).toBe(before));
    });
  });

  it.each(['path', 'slave'] as const)('are a terminal that node-pty has opened, by its %s: /dev/tty and Ctrl-C work', async (by) => {
    const terminal = new OpenTerminal();
    try {
      await within(HELD(), async (session) => {
        const handle = session.run({
          program: 'sh',
          args: ['-c', 'tty; tty </dev/tty >/dev/tty; trap "echo got it; exit 5" INT; echo go; while :; do sleep 0.05; done'],
          stdio: { terminal: terminal[by] },
        });
        await terminal.sees(/go\r?\n/);
        terminal.type('\x03');
        expect(await handle).toEqual({ kind: 'exited', code: 5 });
        await terminal.sees(/got it/);
        expect(terminal.text.split(/\r?\n/).slice(0, 2)).toEqual([terminal.path, '/dev/tty']);
      });
    } finally {
      terminal.close();
    }
  });
});

describe('a handle', () => {
  it('gives lines as they come, and the outcome', async () => {
    await within(HELD(), async (session) => {
      const handle = session.run({ program: 'sh', args: ['-c', 'for i in 1 2 3; do echo $i; done; printf last; echo err >&2; exit 4'] });
      const [out, err]: [string[], string[]] = [[], []];
      for await (const line of handle) out.push(line);
      for await (const line of handle.lines('stderr')) err.push(line);
      expect([out, err, await handle]).toEqual([['1', '2', '3', 'last'], ['err'], { kind: 'exited', code: 4 }]);
    });
  });

  it('whose reader stops early ends its target as a pipe does', async () => {
    await within(HELD(), async (session) => {
      const handle = session.run({ program: 'yes' });
      for await (const line of handle) if (line === 'y') break;
      expect(await handle).toEqual({ kind: 'signaled', signal: 13, core: false });
    });
  });

  it('tells of a failure where it is asked for: its lines, too', async () => {
    const session = await openSession(HELD());
    await session.teardown();
    const read = async (): Promise<void> => {
      for await (const line of session.run({ program: 'true' })) throw new Error(line);
    };
    await expect(read()).rejects.toMatchObject({ code: 'NO_SESSION' });
    await within(HELD(), async (other) => {
      await expect(other.run({ program: 'true', stdio: 'ignore' }).lines().next()).rejects.toMatchObject({ code: 'REQUEST_INVALID' });
    });
  });

  it('throws a failure to who reads its lines, and at nobody else', async () => {
    const session = await openSession({ ...HELD(), maxConcurrent: 1 });
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', note);
    try {
      const first = session.run({ program: 'cat', stdio: ['pipe', 'ignore', 'ignore'] });
      expect(await first.pid).toBeGreaterThan(1);
      const waiting = session.run({ program: 'true' });
      const reading = (async () => {
        for await (const line of waiting.lines('stderr')) throw new Error(line);
      })();
      const told = expect(reading).rejects.toMatchObject({ code: 'SESSION_STOPPING' });
      await Promise.all([session.teardown(), told, first]);
      expect(unhandled).toEqual([]);
    } finally {
      process.off('unhandledRejection', note);
    }
  });

  it('signals the whole group, and reports what it cost', async () => {
    await within(HELD(), async (session) => {
      const handle = session.run({ program: 'sh', args: ['-c', 'trap "exit 7" USR1; echo ready; while :; do sleep 0.05; done'] });
      for await (const line of handle) {
        expect(line).toBe('ready');
        handle.signal('SIGUSR1');
        break;
      }
      expect(await handle).toEqual({ kind: 'exited', code: 7 });
      expect(await handle.report).toMatchObject({ pid: await handle.pid, waitStatus: 7 << 8, cancelledBy: 'nobody' });
      handle.signal('SIGTERM');
    });
  });

  it.each(['cancel', 'abort', 'timeout'] as const)('by %s ends everything that it started, what left its group included', async (how) => {
    await within(HELD(), async (session) => {
      const controller = new AbortController();
      const handle = session.run({
        program: 'sh',
        args: ['-c', 'setsid sh -c \'trap "" TERM; echo $$; while :; do sleep 0.05; done\' & exec sleep 600'],
        signal: controller.signal,
        killGraceMs: 200,
        ...(how === 'timeout' ? { timeoutMs: 700 } : {}),
      });
      let pid = 0;
      for await (const line of handle) {
        pid = Number(line);
        break;
      }
      expect(isAlive(pid)).toBe(true);
      if (how === 'cancel') handle.cancel();
      else if (how === 'abort') controller.abort();
      expect(await handle).toEqual({
        kind: 'cancelled',
        by: how === 'timeout' ? 'deadline' : 'client',
        ending: { kind: 'signaled', signal: 15, core: false },
      });
      await eventually(() => expect(isAlive(pid)).toBe(false), PATIENCE_MS);
    });
  });

  it('that waits for its turn can be given up', async () => {
    await within({ ...HELD(), maxConcurrent: 1 }, async (session) => {
      const first = session.run({ program: 'sleep', args: ['600'], stdio: 'ignore' });
      await first.pid;
      const second = session.run({ program: 'true', stdio: 'ignore' });
      second.cancel();
      await expect(second.outcome).rejects.toMatchObject({ code: 'CANCELLED' });
      first.cancel();
      await first;
    });
  });
});

describe('what is not an ending of the command’s own', () => {
  it('is an error with a code, and says which PATH was searched and who supplied it', async () => {
    const options = { launcher: ['bash', script('export PATH=/usr/bin:/bin')], pathPrepend: ['/front'] };
    await within(options, async (session) => {
      const failure = async (spec: { program: string; env?: Record<string, string>; pathPrepend?: string[] }) =>
        session.failureOf(await session.run({ ...spec, stdio: 'ignore' }), spec);
      expect(await failure({ program: 'true' })).toBeUndefined();
      const missing = await failure({ program: 'nope' });
      expect(missing).toBeInstanceOf(HoldfastError);
      expect([missing?.code, missing?.message]).toEqual([
        'PROGRAM_NOT_FOUND',
        `cannot run 'nope': not found on the PATH of session '${session.name}'`,
      ]);
      expect(missing?.hint).toBe(
        "searched '/front:/usr/bin:/bin', the PATH with path_prepend of the session in front, from the environment that the session holds",
      );
      expect((await failure({ program: 'nope', env: { PATH: '/x' } }))?.hint).toBe("searched '/x', the PATH from env of this request");
      expect((await failure({ program: '/etc/passwd' }))?.code).toBe('PROGRAM_NOT_RUNNABLE');
    });
  });

  it.each([
    ['session', 'and no program'],
    ['snapshot', 'a snapshot keeps variables alone'],
  ] as const)('is no program that was not found, but a function of the environment, in mode %s', async (mode, why) => {
    const launcher = ['bash', script('greet() { :; }')];
    await within({ mode, launcher, killGraceMs: 300 }, async (session) => {
      const error = session.failureOf(await session.run({ program: 'greet', stdio: 'ignore' }), { program: 'greet' });
      expect([error?.code, error?.message]).toEqual(['PROGRAM_NOT_FOUND', expect.stringContaining(why)]);
      expect(error?.hint).toContain("bash -c 'greet ...'");
    });
  });

  it('of a session that was killed is a lost one, and its teardown clears up', async () => {
    const session = await openSession(HELD());
    const handle = session.run({ program: 'sleep', args: ['600'], stdio: 'ignore' });
    await handle.pid;
    process.kill(session.describe().agentPid, 'SIGKILL');
    const outcome = await handle;
    expect(outcome).toMatchObject({ kind: 'lost', when: 'after-spawn' });
    expect(session.failureOf(outcome, { program: 'sleep' })?.code).toBe('SESSION_LOST');
    await session.teardown();
  });
});

describe('an opening', () => {
  it('that fails says why, and leaves nothing', async () => {
    await expect(openSession({ launcher: ['bash', '-c', 'echo no such toolchain; exit 3'] })).rejects.toMatchObject({
      code: 'LAUNCH_FAILED',
      message: expect.stringContaining('no such toolchain'),
    });
  });

  it('can be given up', async () => {
    const controller = new AbortController();
    const opening = openSession({
      launcher: ['bash', script('echo entering; sleep 600')],
      signal: controller.signal,
      progress: (line) => line === 'entering' && controller.abort(),
    });
    await expect(opening).rejects.toMatchObject({ code: 'LAUNCH_INTERRUPTED' });
  });

  it.each<[string, object, string]>([
    ['an unknown option', { launcher: ['env'], colour: 'red' }, "unknown option 'colour'"],
    ['a value of another kind', { launcher: 'env' }, `option 'launcher' must be a list of words in quotes`],
    [
      'a duration that is none',
      { launcher: ['env'], killGraceMs: '5s' },
      `option 'killGraceMs' must be a whole number of milliseconds, not "5s"`,
    ],
    ['no idle time at all', { launcher: ['env'], idleTimeoutMs: 0 }, "option 'idleTimeoutMs' must be null or above 0, a whole number"],
    ['two ways to enter', { launcher: ['env'], source: '/x' }, "'launcher' and 'source' both say what is entered"],
    ['nothing to enter', {}, 'nothing says what session'],
    ['nothing at all', undefined as unknown as object, "'openSession' takes an object"],
    ['a directory that is no text', { launcher: ['env'], cwd: 5 }, "option 'cwd' must be text, not 5"],
    ['progress that cannot be told', { launcher: ['env'], progress: 'yes' }, "option 'progress' must be a function"],
    ['a signal that is none', { launcher: ['env'], signal: {} }, "option 'signal' must be an AbortSignal"],
  ])('is refused: %s', async (_, options, message) => {
    const open: (options: never) => Promise<unknown> = openSession;
    await expect(Reflect.apply(open, undefined, [options])).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringContaining(message),
    });
  });

  it('of a project or of a configuration file enters what the command line would', async () => {
    const project = realpathSync(holdfast.folder());
    writeFileSync(join(project, 'env.sh'), 'export HELD=project\n');
    writeFileSync(
      join(project, 'holdfast.toml'),
      '[session]\nsource = "env.sh"\n[sessions.other]\nsource = "env.sh"\nenv = { MORE = "1" }\n',
    );
    await within({ project }, async (session) => {
      expect(await session.baseEnv()).toMatchObject({ HELD: 'project' });
      expect(session.describe()).toMatchObject({ directory: project, owned: true });
    });
    await within({ config: join(project, 'holdfast.toml'), session: 'other' }, async (session) => {
      expect(await session.baseEnv()).toMatchObject({ HELD: 'project', MORE: '1' });
    });
  });
});

describe('a session whose inputs have changed', () => {
  const project = (): { cwd: string; change: () => void } => {
    const cwd = holdfast.folder();
    const write = (text: string): void => writeFileSync(join(cwd, 'version'), text);
    write('one');
    writeFileSync(join(cwd, 'env.sh'), 'export VERSION=$(cat version)\n');
    return { cwd, change: () => write('two') };
  };
  const version = async (session: ExecSession): Promise<string> =>
    await text(session.run({ program: 'printenv', args: ['VERSION'] }).stdout);

  it('is entered again by the next run, once, where it is to be', async () => {
    const { cwd, change } = project();
    await within({ source: 'env.sh', cwd, inputs: ['version'], onStale: 'reopen' }, async (session) => {
      const { agentPid } = session.describe();
      expect(await version(session)).toBe('one\n');
      change();
      expect(await Promise.all([version(session), version(session), version(session)])).toEqual(['two\n', 'two\n', 'two\n']);
      expect(isAlive(agentPid)).toBe(false);
      expect(isAlive(session.describe().agentPid)).toBe(true);
      expect((await session.baseEnv())?.['VERSION']).toBe('two');
    });
  });

  it('is entered again when that is asked for, and not before', async () => {
    const { cwd, change } = project();
    await within({ source: 'env.sh', cwd, inputs: ['version'] }, async (session) => {
      expect(await session.refresh()).toBe(false);
      change();
      expect(await version(session)).toBe('one\n');
      expect([await session.refresh(), await version(session)]).toEqual([true, 'two\n']);
      const { program, args, env } = session.prepare({ program: 'printenv', args: ['VERSION'] });
      expect((await holdfast.run([program, ...args], { env })).stdout.toString()).toBe('two\n');
    });
  });

  it('refuses, where that is wanted', async () => {
    const { cwd, change } = project();
    await within({ source: 'env.sh', cwd, inputs: ['version'], onStale: 'refuse' }, async (session) => {
      change();
      await expect(session.run({ program: 'true' }).outcome).rejects.toMatchObject({ code: 'STALE' });
    });
  });
});

describe('a session that somebody else opened', () => {
  it('is used, and left open', async () => {
    const theirs = await holdfast.open('theirs', { script: 'export HELD=theirs' });
    const session = await attachSession('theirs');
    expect(session.describe()).toMatchObject({ name: 'theirs', owned: false, agentPid: theirs.pid });
    expect(await text(session.run({ program: 'printenv', args: ['HELD'] }).stdout)).toBe('theirs\n');
    await session.teardown();
    expect(await theirs.output(['printenv', 'HELD'])).toBe('theirs\n');
    await expect(attachSession('nobodys')).rejects.toMatchObject({ code: 'NO_SESSION' });
  });
});

describe('a pool', () => {
  it('enters an environment once for all who ask at once', async () => {
    const counted = join(holdfast.folder(), 'entries');
    const options = { launcher: ['bash', script(`echo entered >>${counted}`)] };
    const pool = new ExecSessionPool();
    const names = await Promise.all(
      Array.from({ length: 30 }, () =>
        pool.use(
          sessionKey(options),
          () => openSession(options),
          async (session) => {
            expect(await session.run({ program: 'true', stdio: 'ignore' })).toEqual({ kind: 'exited', code: 0 });
            return session.name;
          },
        ),
      ),
    );
    await pool.teardown();
    expect([new Set(names).size, readFileSync(counted, 'utf8')]).toEqual([1, 'entered\n']);
  });
});
