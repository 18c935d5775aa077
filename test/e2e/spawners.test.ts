// A prepared command in the hands of those who spawn: what each of them offers works on it as on any other child. DESIGN section 7.

import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { ExecaError, execa } from 'execa';
import { spawn as spawnPty } from 'node-pty';
import { x } from 'tinyexec';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { CommandSpec, ExecSession, PreparedCommand } from '../../src/index.js';
import { eventually } from '../harness/eventually.js';
import { useHoldfast } from '../harness/holdfast.js';
import { becomeProgram, library } from '../harness/library.js';
import { isAlive } from '../harness/processes.js';

const holdfast = useHoldfast();
const PATIENCE_MS = 30_000;
let session: ExecSession;

beforeAll(async () => {
  becomeProgram(holdfast);
});

/** In each test a session of its own, so that each proves that nothing is left. */
async function inSession<T>(work: () => Promise<T>): Promise<T> {
  session = await library.openSession({
    launcher: ['bash', holdfast.program('enter.sh', 'export HELD=yes\nexec "$@"\n')],
    killGraceMs: 300,
  });
  try {
    return await work();
  } finally {
    await session.teardown();
  }
}

afterAll(async () => await session.teardown());

function shell(script: string, more: Partial<CommandSpec> = {}): PreparedCommand {
  return session.prepare({ program: 'sh', args: ['-c', script], ...more });
}

function options({ env, cwd }: PreparedCommand): { env: Record<string, string>; cwd: string } {
  return { env, cwd };
}

/** The pid that a command has said, on the first line of a file. */
async function pidIn(path: string): Promise<number> {
  return await eventually(() => {
    const line = readFileSync(path, 'utf8');
    if (!line.endsWith('\n')) throw new Error(`nothing is said in '${path}'`);
    return Number(line);
  }, PATIENCE_MS);
}

function saidIn(): string {
  const path = join(holdfast.folder(), 'pid');
  writeFileSync(path, '');
  return path;
}

/** Ends only when it is killed: it, and what it has started in a session of its own. */
const stubborn = (path: string): string => `setsid sh -c 'trap "" TERM; while :; do sleep 0.05; done' & echo $! >${path}; exec sleep 600`;

describe('child_process', () => {
  it('spawn: its descriptors, its directory, its variables and its exit code', async () => {
    await inSession(async () => {
      const prepared = shell('cat; echo "$HELD $OWN" >&2; pwd; exit 9', { env: { OWN: 'a\nb' }, cwd: '/usr' });
      const child = spawn(prepared.program, prepared.args, options(prepared));
      child.stdin.end('typed ');
      const [out, err, [code, signal]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
      expect([out, err, code, signal]).toEqual(['typed /usr\n', 'yes a\nb\n', 9, null]);
    });
  });

  it('spawn: files and further descriptors by number', async () => {
    await inSession(async () => {
      const folder = holdfast.folder();
      const out = openSync(join(folder, 'out'), 'w');
      const { program, args, ...prepared } = session.prepare({ program: 'sh', args: ['-c', 'echo to a file; echo five >&5'] });
      const passing = ['--fd', '5', ...args];
      const child = spawn(program, passing, { ...prepared, stdio: ['ignore', out, 'inherit', 'ignore', 'ignore', 'pipe'] });
      const five: unknown = Reflect.get(child.stdio, 5);
      if (!(five instanceof Readable)) throw new Error('no fifth descriptor');
      expect([await text(five), ...(await once(child, 'close'))]).toEqual(['five\n', 0, null]);
      expect(readFileSync(join(folder, 'out'), 'utf8')).toBe('to a file\n');
      closeSync(out);
    });
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGUSR1'] as const)('kill: %s reaches the command, and is its end', async (signal) => {
    await inSession(async () => {
      const prepared = shell('echo ready; exec sleep 600');
      const child = spawn(prepared.program, prepared.args, { ...options(prepared), stdio: ['ignore', 'pipe', 'inherit'] });
      await once(child.stdout, 'data');
      child.kill(signal);
      expect(await once(child, 'close')).toEqual([null, signal]);
    });
  });

  it('kill: SIGKILL of the client takes all that the command started', async () => {
    await inSession(async () => {
      const said = saidIn();
      const prepared = shell(stubborn(said));
      const child = spawn(prepared.program, prepared.args, { ...options(prepared), stdio: 'ignore' });
      const pid = await pidIn(said);
      child.kill('SIGKILL');
      expect(await once(child, 'close')).toEqual([null, 'SIGKILL']);
      await eventually(() => expect(isAlive(pid)).toBe(false), PATIENCE_MS);
    });
  });

  it('signal: an abort ends the command', async () => {
    await inSession(async () => {
      const controller = new AbortController();
      const said = saidIn();
      const prepared = shell(`echo $$ >${said}; exec sleep 600`);
      const child = spawn(prepared.program, prepared.args, { ...options(prepared), stdio: 'ignore', signal: controller.signal });
      const failed = once(child, 'error');
      const pid = await pidIn(said);
      controller.abort();
      expect(await failed).toMatchObject([{ name: 'AbortError' }]);
      await eventually(() => expect(isAlive(pid)).toBe(false), PATIENCE_MS);
      await ended(child);
    });
  });

  it('execFile and spawnSync: output, exit code, timeout', async () => {
    await inSession(async () => {
      const good = shell('echo $HELD');
      expect((await promisify(execFile)(good.program, good.args, options(good))).stdout).toBe('yes\n');
      const bad = shell('echo no >&2; exit 5');
      await expect(promisify(execFile)(bad.program, bad.args, options(bad))).rejects.toMatchObject({ code: 5, stderr: 'no\n' });
      const slow = shell('exec sleep 600');
      expect(spawnSync(slow.program, slow.args, { ...options(slow), timeout: 500 })).toMatchObject({ signal: 'SIGTERM', status: null });
      expect(spawnSync(good.program, good.args, { ...options(good), encoding: 'utf8' }).stdout).toBe('yes\n');
    });
  });

  it('a program that is not there is 127, with a word', async () => {
    await inSession(async () => {
      const prepared = session.prepare({ program: 'no-such-program' });
      const { status, stderr } = spawnSync(prepared.program, prepared.args, { ...options(prepared), encoding: 'utf8' });
      expect([status, stderr]).toEqual([127, expect.stringContaining("cannot run 'no-such-program': not found on the PATH")]);
    });
  });
});

describe('execa', () => {
  it('gives output, input, lines and the exit code', async () => {
    await inSession(async () => {
      const prepared = shell('cat; echo $HELD; exit 3');
      const result = await execa(prepared.program, prepared.args, { ...options(prepared), extendEnv: false, input: 'in ', reject: false });
      expect([result.stdout, result.exitCode, result.failed]).toEqual(['in yes', 3, true]);
      const lines: string[] = [];
      const counted = shell('seq 3');
      for await (const line of execa(counted.program, counted.args, options(counted))) lines.push(line);
      expect(lines).toEqual(['1', '2', '3']);
    });
  });

  it('ends by timeout, by abort and by force', async () => {
    await inSession(async () => {
      const slow = shell('exec sleep 600');
      await expect(execa(slow.program, slow.args, { ...options(slow), timeout: 500 })).rejects.toMatchObject({
        timedOut: true,
        signal: 'SIGTERM',
      });
      const controller = new AbortController();
      const aborted = execa(slow.program, slow.args, { ...options(slow), cancelSignal: controller.signal });
      setImmediate(() => controller.abort());
      await expect(aborted).rejects.toMatchObject({ isCanceled: true });
      const said = saidIn();
      const deaf = shell(`trap "" TERM; ${stubborn(said)}`);
      const forced = execa(deaf.program, deaf.args, { ...options(deaf), forceKillAfterDelay: 200 });
      const pid = await pidIn(said);
      forced.kill();
      const error = await forced.catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(ExecaError);
      expect(error).toMatchObject({ isForcefullyTerminated: true, signal: 'SIGKILL' });
      await eventually(() => expect(isAlive(pid)).toBe(false), PATIENCE_MS);
    });
  });

  it('pipes one command into another', async () => {
    await inSession(async () => {
      const [first, second] = [shell('seq 5'), session.prepare({ program: 'tail', args: ['-n', '1'] })];
      const { stdout } = await execa(first.program, first.args, options(first)).pipe(second.program, second.args, options(second));
      expect(stdout).toBe('5');
    });
  });
});

describe('tinyexec', () => {
  it('gives output and the exit code, and ends by abort and by kill', async () => {
    await inSession(async () => {
      const prepared = shell('echo "$HELD $OWN"; exit 4', { env: { OWN: 'mine' } });
      const result = await x(prepared.program, prepared.args, { nodeOptions: options(prepared) });
      expect([result.stdout, result.exitCode]).toEqual(['yes mine\n', 4]);
      const said = saidIn();
      const slow = shell(`echo $$ >${said}; exec sleep 600`);
      const controller = new AbortController();
      const running = x(slow.program, slow.args, { nodeOptions: options(slow), signal: controller.signal });
      const pid = await pidIn(said);
      controller.abort();
      await running;
      expect(running.aborted).toBe(true);
      await eventually(() => expect(isAlive(pid)).toBe(false), PATIENCE_MS);
      writeFileSync(said, '');
      const killed = x(slow.program, slow.args, { nodeOptions: options(slow) });
      await pidIn(said);
      killed.kill('SIGTERM');
      await killed;
      expect(killed.killed).toBe(true);
    });
  });
});

describe('node-pty', () => {
  it('has the command on its terminal: size, resize, Ctrl-C, exit code, signal', async () => {
    await inSession(async () => {
      const prepared = shell(
        'trap "echo interrupted; exit 6" INT; trap "stty size" WINCH; tty </dev/tty; stty size; echo $TERM; while :; do sleep 0.05; done',
      );
      const pty = new Pty(prepared);
      await pty.sees(/\/dev\/tty\r\n24 80\r\nxterm-ours\r\n/);
      pty.terminal.resize(100, 30);
      await pty.sees(/30 100/);
      pty.terminal.write('\x03');
      await pty.sees(/interrupted/);
      expect(await pty.exited).toEqual({ exitCode: 6, signal: 0 });
      const slow = new Pty(shell('echo ready; exec sleep 600'));
      await slow.sees(/ready/);
      slow.terminal.kill('SIGTERM');
      expect(await slow.exited).toMatchObject({ signal: 15 });
    });
  });

  it('that hangs up takes the command with it', async () => {
    await inSession(async () => {
      const said = saidIn();
      const pty = new Pty(shell(`echo $$ >${said}; exec sleep 600`));
      const pid = await pidIn(said);
      pty.terminal.kill();
      await pty.exited;
      await eventually(() => expect(isAlive(pid)).toBe(false), PATIENCE_MS);
    });
  });
});

class Pty {
  readonly terminal: ReturnType<typeof spawnPty>;
  readonly exited: Promise<{ exitCode: number; signal?: number | undefined }>;
  #text = '';

  constructor({ program, args, env, cwd }: PreparedCommand) {
    this.terminal = spawnPty(program, args, { name: 'xterm-ours', cols: 80, rows: 24, env, cwd });
    this.terminal.onData((data) => {
      this.#text += data;
    });
    this.exited = new Promise((resolve) => this.terminal.onExit(resolve));
  }

  async sees(what: RegExp): Promise<void> {
    await eventually(() => {
      if (!what.test(this.#text)) throw new Error(`no ${what} in ${JSON.stringify(this.#text)}`);
    }, PATIENCE_MS);
  }
}

async function ended(child: ChildProcess): Promise<void> {
  await eventually(() => {
    if (child.exitCode === null && child.signalCode === null) throw new Error(`process ${child.pid} runs`);
  }, PATIENCE_MS);
}
