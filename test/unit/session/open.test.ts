// Pins DESIGN section 4 "Session life" for the opener: one agent, errors at once, nothing left. The agent is a stand-in.

import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HoldfastError } from '../../../src/errors.js';
import { killProcess, processStartTicks } from '../../../src/native/processes.js';
import { isAlive } from '../../../src/process-tree.js';
import { closeSession } from '../../../src/session/close.js';
import { LaunchError } from '../../../src/session/launch-error.js';
import { findSession, listSessions } from '../../../src/session/list.js';
import { openSession } from '../../../src/session/open.js';
import { writeRecord } from '../../../src/session/record.js';
import { eventually } from '../../harness/eventually.js';
import { bash, define, STAND_IN, useScratch } from './place.js';

async function failure(opening: Promise<unknown>): Promise<HoldfastError> {
  try {
    await opening;
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

async function until<T>(what: () => T | undefined | false): Promise<T> {
  return await eventually(() => {
    const found = what();
    if (found === undefined || found === false) throw new Error(`never came: ${what}`);
    return found;
  });
}

const numberIn = (path: string): number | undefined => (existsSync(path) && Number(readFileSync(path, 'utf8'))) || undefined;

describe('an opening that works', () => {
  it('returns when the agent serves, and leaves only what the session needs', async () => {
    const scratch = useScratch();
    const opened = await openSession(define(scratch, STAND_IN, { runtimePassEnv: ['SSH_AUTH_SOCK'] }));
    expect(opened).toMatchObject({ opened: true, socket: join(scratch.runtime, 'web.sock') });
    expect(isAlive(opened.pid)).toBe(true);
    expect(scratch.files()).toEqual(['web.json', 'web.lock', 'web.log', 'web.pass', 'web.sock']);
    expect(readFileSync(join(scratch.runtime, 'web.pass'), 'utf8')).toBe('SSH_AUTH_SOCK\n');
  });

  it('makes every file 0600 in a directory of 0700, whatever the umask', async () => {
    const scratch = useScratch();
    const umask = process.umask(0);
    try {
      await openSession(define(scratch, STAND_IN));
    } finally {
      process.umask(umask);
    }
    expect(statSync(scratch.runtime).mode & 0o777).toBe(0o700);
    for (const file of ['web.json', 'web.lock', 'web.log']) expect(statSync(join(scratch.runtime, file)).mode & 0o777, file).toBe(0o600);
  });

  it('opens nothing when the session is open with the same definition', async () => {
    const scratch = useScratch();
    const first = await openSession(define(scratch, STAND_IN));
    expect(await openSession(define(scratch, STAND_IN))).toEqual({ ...first, opened: false });
  });

  it('gives one agent to eight at once, over a stale socket', async () => {
    const scratch = useScratch();
    const first = await openSession(define(scratch, STAND_IN));
    killProcess(first.pid, 9);
    await until(() => !isAlive(first.pid));
    const born = join(scratch.work, 'born');
    const definition = define(scratch, bash(`echo x >>${born}; exec ${STAND_IN.join(' ')} "$@"`));
    const opened = await Promise.all(Array.from({ length: 8 }, () => openSession(definition)));
    expect(readFileSync(born, 'utf8')).toBe('x\n');
    expect(new Set(opened.map(({ pid }) => pid)).size).toBe(1);
    expect(opened.filter((each) => each.opened)).toHaveLength(1);
  });

  it('finds the agent of a launcher that went into the background', async () => {
    const scratch = useScratch();
    const opened = await openSession(define(scratch, bash(`(sleep 0.3; setsid ${STAND_IN.join(' ')} "$@") & exit 0`)));
    expect(isAlive(opened.pid)).toBe(true);
    await closeSession('web');
    await until(() => !isAlive(opened.pid));
  });

  it('gives the launcher no descriptor but /dev/null and the log', async () => {
    const scratch = useScratch();
    const seen = join(scratch.work, 'fds');
    await openSession(define(scratch, bash(`ls -l /proc/$$/fd >${seen}; exec ${STAND_IN.join(' ')} "$@"`)));
    const targets = readFileSync(seen, 'utf8')
      .split('\n')
      .flatMap((line) => line.split(' -> ').slice(1));
    // `ls` itself adds none: the listed process is its parent.
    expect(new Set(targets)).toEqual(new Set(['/dev/null', join(scratch.runtime, 'web.log')]));
  });

  it('starts the launcher in a session of its own, in its directory, with a scrubbed environment', async () => {
    const scratch = useScratch();
    process.env['GOFLAGS'] = '-mod=mod';
    process.env['LC_TEST9'] = 'é';
    const seen = join(scratch.work, 'seen');
    try {
      await openSession(define(scratch, bash(`{ pwd; cut -d' ' -f1,6 /proc/$$/stat; env; } >${seen}; exec ${STAND_IN.join(' ')} "$@"`)));
    } finally {
      delete process.env['GOFLAGS'];
      delete process.env['LC_TEST9'];
    }
    const [directory, ids = '', ...env] = readFileSync(seen, 'utf8').split('\n');
    expect(directory).toBe(scratch.work);
    expect(ids.split(' ')[0]).toBe(ids.split(' ')[1]);
    expect(env).toContain('LC_TEST9=é');
    expect(env.filter((line) => line.startsWith('GOFLAGS'))).toEqual([]);
  });

  it('lets a bash launcher read what it names of the caller, and exports none of it', async () => {
    const scratch = useScratch();
    // Of this process as it was started, which is what a launcher's parent shows.
    const [name = '', value] = Object.entries(process.env).find(([each]) => /^(npm_|VITEST|INIT_CWD|GO)/.test(each)) ?? [];
    const seen = join(scratch.work, 'seen');
    await openSession(define(scratch, bash(`{ printf '%s\\0' "$${name}"; env -0; } >${seen}; exec ${STAND_IN.join(' ')} "$@"`)));
    const [read, ...env] = readFileSync(seen, 'utf8').split('\0');
    expect(read).toBe(value);
    expect(env.filter((pair) => pair.startsWith(`${name}=`))).toEqual([]);
    expect(env.find((pair) => pair.startsWith('BASH_ENV='))).toMatch(/share\/bash-env\.sh$/);
  });

  it('tells what the launcher says meanwhile', async () => {
    const scratch = useScratch();
    const lines: string[] = [];
    const launcher = bash(`printf 'one\\n\\033[1mtwo\\033[0m\\n10%%\\r20%%'; sleep 0.5; exec ${STAND_IN.join(' ')} "$@"`);
    await openSession(define(scratch, launcher), { progress: (line) => lines.push(line) });
    expect(lines).toContain('20%');
  });

  it('works under a runtime directory that is 150 bytes deep, and with names of any length', async () => {
    const scratch = useScratch(`deep-${'x'.repeat(145)}`);
    const name = 'n'.repeat(300);
    const a = await openSession(define(scratch, STAND_IN, { name: `${name}a` }));
    const b = await openSession(define(scratch, STAND_IN, { name: `${name}b` }));
    expect(a.socket).not.toBe(b.socket);
    expect((await listSessions()).map((session) => session.state)).toEqual(['serving', 'serving']);
    await closeSession(`${name}a`);
    await closeSession(`${name}b`);
    expect(scratch.files()).toEqual([]);
  });
});

describe('a session that is in the way', () => {
  it('with another definition is named, with the cure', async () => {
    const scratch = useScratch();
    await openSession(define(scratch, STAND_IN));
    const error = await failure(openSession(define(scratch, STAND_IN, { env: { A: '1' } })));
    expect(error).toMatchObject({ code: 'ALREADY_OPEN', hint: "close it first: 'holdfast close web'" });
  });

  it('whose pass_env values differ is not the same', async () => {
    const scratch = useScratch();
    process.env['TOKEN9'] = 'one';
    const definition = define(scratch, STAND_IN, { passEnv: ['TOKEN9'] });
    await openSession(definition);
    process.env['TOKEN9'] = 'two';
    expect((await failure(openSession(definition))).code).toBe('ALREADY_OPEN');
    delete process.env['TOKEN9'];
  });

  it('and is frozen is never replaced: its pid and state are told', async () => {
    const scratch = useScratch();
    const { pid } = await openSession(define(scratch, STAND_IN));
    killProcess(pid, 19);
    const error = await failure(openSession(define(scratch, STAND_IN)));
    expect(error.code).toBe('AGENT_FROZEN');
    expect(error.message).toContain(`(process ${pid}) does not answer: it is stopped`);
    expect((await findSession('web')).state).toBe('frozen');
    expect(isAlive(pid)).toBe(true);
    await closeSession('web');
    expect(isAlive(pid)).toBe(false);
  });

  it('as a plain file is never removed', async () => {
    const scratch = useScratch();
    mkdirSync(scratch.runtime, { mode: 0o700 });
    writeFileSync(join(scratch.runtime, 'web.sock'), 'precious');
    const error = await failure(openSession(define(scratch, STAND_IN)));
    expect(error).toMatchObject({ code: 'RUNTIME_DIR', message: expect.stringContaining('web.sock') });
    expect(readFileSync(join(scratch.runtime, 'web.sock'), 'utf8')).toBe('precious');
    spawnSync('rm', [join(scratch.runtime, 'web.sock'), join(scratch.runtime, 'web.lock')]);
  });
});

describe('an opening that fails', () => {
  it('at once, with status and last words, when the launcher fails', async () => {
    const scratch = useScratch();
    const error = await failure(openSession(define(scratch, bash('echo one; echo two >&2; exit 7'))));
    expect(error).toBeInstanceOf(LaunchError);
    expect(error).toMatchObject({ code: 'LAUNCH_FAILED', output: ['one', 'two'] });
    expect(error.message).toBe("the launcher of session 'web' ended with status 7 without starting the agent; its last words were 'two'");
    expect(error.hint).toBe(`all that it said is in '${join(scratch.runtime, 'web.log')}'`);
    expect(scratch.files()).toEqual(['web.log']);
  });

  it('at once, when the launcher ends well and never calls back', async () => {
    const scratch = useScratch();
    const startedAt = performance.now();
    const error = await failure(openSession(define(scratch, ['true'])));
    expect(error.message).toBe("the launcher of session 'web' ended with status 0 without starting the agent, and said nothing");
    expect(error.hint).toContain('has to run the command that is given behind it');
    expect(scratch.files()).toEqual([]);
    expect(performance.now() - startedAt).toBeLessThan(2000);
  });

  it('when the launcher dies by a signal', async () => {
    const scratch = useScratch();
    expect((await failure(openSession(define(scratch, bash('kill -9 $$'))))).message).toContain('was ended by SIGKILL');
  });

  it('when the launcher is not there, or is no program', async () => {
    const scratch = useScratch();
    expect((await failure(openSession(define(scratch, ['no-such-9'])))).message).toBe(
      "cannot start the launcher 'no-such-9': not found on PATH",
    );
    expect((await failure(openSession(define(scratch, [scratch.work])))).code).toBe('LAUNCH_FAILED');
    expect(await failure(openSession(define(scratch, ['./no-such-9'])))).toMatchObject({
      message: "cannot start the launcher './no-such-9': no such file",
      hint: `the path is taken from '${scratch.work}'`,
    });
    writeFileSync(join(scratch.work, 'enter'), '#!/no/such/interpreter\n', { mode: 0o755 });
    expect((await failure(openSession(define(scratch, ['./enter'])))).message).toContain(
      'the interpreter that its first line names is missing',
    );
  });

  it('when the directory is not there', async () => {
    const scratch = useScratch();
    const error = await failure(openSession(define(scratch, STAND_IN, { directory: join(scratch.work, 'gone') })));
    expect(error).toMatchObject({ code: 'LAUNCH_FAILED', message: expect.stringContaining(`'${join(scratch.work, 'gone')}'`) });
  });

  it('when the agent says that it cannot start', async () => {
    const scratch = useScratch();
    const error = await failure(openSession(define(scratch, [...STAND_IN, '--refuse'])));
    expect(error.message).toBe("the agent of session 'web' could not start: no luck today");
    expect(scratch.files()).toEqual([]);
  });

  it('after open_timeout, and everything that hangs is ended, daemons too', async () => {
    const scratch = useScratch();
    const pids = join(scratch.work, 'pids');
    const hanging = bash(
      `setsid setsid sh -c 'echo $$ >${pids}.1; trap "" TERM; while :; do sleep 1; done' & (sleep 300 & echo $! >${pids}.2); echo stuck; sleep 301`,
    );
    const error = await failure(openSession(define(scratch, hanging, { openTimeoutMs: 700 })));
    expect(error).toMatchObject({ code: 'LAUNCH_TIMEOUT' });
    expect(error.message).toContain("within 0.7 s; its last words were 'stuck'");
    for (const file of [`${pids}.1`, `${pids}.2`]) expect(isAlive(numberIn(file) ?? process.pid)).toBe(false);
    expect(scratch.files()).toEqual(['web.log']);
  });

  it('on an interruption, and the name is free at once', async () => {
    const scratch = useScratch();
    const interruption = new AbortController();
    const p = join(scratch.work, 'p');
    const opening = failure(openSession(define(scratch, bash(`echo $$ >${p}; sleep 300; exec "$@"`)), { signal: interruption.signal }));
    const launcher = await until(() => numberIn(p));
    interruption.abort();
    expect((await opening).code).toBe('LAUNCH_INTERRUPTED');
    expect(isAlive(launcher)).toBe(false);
    expect((await openSession(define(scratch, STAND_IN))).opened).toBe(true);
  });

  it('by a kill of the opener is cleared up by the next one, which gets its own agent', async () => {
    const scratch = useScratch();
    mkdirSync(scratch.runtime, { mode: 0o700 });
    // What a killed opener leaves: its record and a launcher that is still entering.
    const slow = spawn('bash', ['-c', 'sleep 300 & sleep 300'], { detached: true, stdio: 'ignore' });
    const launcherPid = slow.pid ?? 0;
    const definition = define(scratch, STAND_IN);
    const launcherStartTicks = processStartTicks(launcherPid) ?? 0;
    const left = {
      protocol: 1,
      definition,
      declared: [],
      weak: [],
      inputs: [],
      openerPid: 1,
      openedAt: 1,
      launcherPid,
      launcherStartTicks,
    } as const;
    writeRecord(join(scratch.runtime, 'web.json'), left);
    writeFileSync(join(scratch.runtime, 'web.notify'), '');
    expect((await openSession(definition)).opened).toBe(true);
    expect(isAlive(launcherPid)).toBe(false);
  });

  it('while another process opens it, when interrupted', async () => {
    const scratch = useScratch();
    const first = new AbortController();
    const second = new AbortController();
    const waits: string[] = [];
    const slow = define(scratch, bash('sleep 300'));
    const one = failure(openSession(slow, { signal: first.signal }));
    await until(() => scratch.files().includes('web.notify'));
    const two = failure(openSession(slow, { signal: second.signal, progress: (line) => waits.push(line) }));
    await until(() => waits.length > 0);
    second.abort();
    expect((await two).code).toBe('LAUNCH_INTERRUPTED');
    first.abort();
    expect((await one).code).toBe('LAUNCH_INTERRUPTED');
  });
});

describe('names and the runtime directory', () => {
  it('refuse a name that cannot be said in a line', async () => {
    const scratch = useScratch();
    for (const name of ['', 'a\0b', 'a\nb', 'n'.repeat(4097)]) {
      expect((await failure(openSession(define(scratch, STAND_IN, { name })))).code).toBe('NAME_INVALID');
    }
  });

  it('refuse a directory that others may enter, or that is a link', async () => {
    const scratch = useScratch();
    mkdirSync(scratch.runtime);
    chmodSync(scratch.runtime, 0o750);
    expect(await failure(openSession(define(scratch, STAND_IN)))).toMatchObject({
      code: 'RUNTIME_DIR',
      message: expect.stringContaining(scratch.runtime),
    });
    chmodSync(scratch.runtime, 0o700);
    symlinkSync(scratch.runtime, join(scratch.work, 'link'));
    process.env['HOLDFAST_RUNTIME_DIR'] = join(scratch.work, 'link');
    expect((await failure(openSession(define(scratch, STAND_IN)))).code).toBe('RUNTIME_DIR');
    process.env['HOLDFAST_RUNTIME_DIR'] = scratch.runtime;
  });
});

describe('closing', () => {
  it('runs the launcher’s exit trap then and only then, and leaves nothing', async () => {
    const scratch = useScratch();
    const bye = join(scratch.work, 'bye');
    const { pid } = await openSession(define(scratch, bash(`trap 'sleep 0.2; echo bye >>${bye}' EXIT; ${STAND_IN.join(' ')} "$@"`)));
    expect(existsSync(bye)).toBe(false);
    await closeSession('web');
    expect(readFileSync(bye, 'utf8')).toBe('bye\n');
    expect(isAlive(pid)).toBe(false);
    expect(scratch.files()).toEqual([]);
  });

  it('ends what the launcher left running in its session', async () => {
    const scratch = useScratch();
    const p = join(scratch.work, 'p');
    await openSession(define(scratch, bash(`sleep 300 & echo $! >${p}; exec ${STAND_IN.join(' ')} "$@"`)));
    const left = await until(() => numberIn(p));
    await closeSession('web');
    expect(isAlive(left)).toBe(false);
  });

  it('clears what a killed agent left, and its launcher', async () => {
    const scratch = useScratch();
    const { pid } = await openSession(define(scratch, STAND_IN));
    killProcess(pid, 9);
    await until(() => !isAlive(pid));
    expect((await findSession('web')).state).toBe('dead');
    await closeSession('web');
    expect(scratch.files()).toEqual([]);
  });

  it('ends an agent that never answers', async () => {
    const scratch = useScratch();
    const { pid } = await openSession(define(scratch, [...STAND_IN, '--never-answer'], { killGraceMs: 0 }));
    await closeSession('web', { graceMs: 0 });
    expect(isAlive(pid)).toBe(false);
    expect(scratch.files()).toEqual([]);
  });

  it('of what is not open is an error that says so, and leaves nothing', async () => {
    const scratch = useScratch();
    expect((await failure(closeSession('absent9'))).message).toBe("no session 'absent9' is open");
    await openSession(define(scratch, STAND_IN));
    expect((await failure(closeSession('absent9'))).code).toBe('NO_SESSION');
    await closeSession('web');
    expect((await failure(closeSession('web'))).code).toBe('NO_SESSION');
    expect(scratch.files()).toEqual([]);
  });
});

describe('listing', () => {
  it('tells which are stale', async () => {
    const scratch = useScratch();
    const input = join(scratch.work, 'flake.lock');
    writeFileSync(input, 'one');
    await openSession(define(scratch, STAND_IN, { inputs: ['flake.lock', 'missing.nix'] }));
    expect(await listSessions()).toMatchObject([
      { name: 'web', state: 'serving', stale: false, agent: { running: 1, containment: 'group' } },
    ]);
    writeFileSync(input, 'two');
    expect(await findSession('web')).toMatchObject({ stale: true });
    writeFileSync(input, 'one');
    expect(await findSession('web')).toMatchObject({ stale: false });
    writeFileSync(join(scratch.work, 'missing.nix'), '');
    expect(await findSession('web')).toMatchObject({ stale: true });
  });

  it('is empty where nothing was ever opened', async () => {
    useScratch();
    expect(await listSessions()).toEqual([]);
    expect((await failure(findSession('web'))).code).toBe('NO_SESSION');
  });
});
