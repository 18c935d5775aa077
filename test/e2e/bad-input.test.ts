// Whatever is wrong, it is said in one line with its cure, the status says whose failure it is, and nothing is left behind: the
// harness looks after each test. docs/errors.md has the statuses.

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { programs, useHoldfast } from '../harness/holdfast.js';
import { isAlive } from '../harness/processes.js';
import type { Ended, RunOptions } from '../harness/running.js';

const holdfast = useHoldfast();

/** @param message a pattern for what stands between the program's name and the hint. */
function expectOneLine({ code, stdout, stderr }: Ended, status: number, message: string): void {
  expect(`${stderr}`).toMatch(new RegExp(`^runner-exec: ${message}; hint: [^\\n]{10,}\\n$`));
  expect({ code, stdout: `${stdout}` }).toEqual({ code: status, stdout: '' });
}

/** The tool has its hint on a line of its own. */
function expectCause({ code, stdout, stderr }: Ended, status: number, message: string): void {
  expect(`${stderr}`).toMatch(new RegExp(`^holdfast: ${message}\\n(  [^\\n]*\\n)*hint: [^\\n]{10,}\\n$`));
  expect({ code, stdout: `${stdout}` }).toEqual({ code: status, stdout: '' });
}

function project(toml: string): string {
  const directory = holdfast.folder('project');
  writeFileSync(join(directory, 'holdfast.toml'), toml);
  return directory;
}

describe('runner-exec without a session to run in', () => {
  it('names the session that is not open, and how to open it', async () => {
    const ended = await holdfast.runnerExec(['--session', 'absent', '--', 'true']);
    expectOneLine(ended, 125, "session 'absent' is not open");
    expect(`${ended.stderr}`).toContain("'holdfast open absent -- LAUNCHER...'");
    expectOneLine(await holdfast.runnerExec(['--', 'true'], { env: { HOLDFAST_SESSION: 'absent' } }), 125, "session 'absent' is not open");
  });

  it('names what was killed as one that is not served any more', async () => {
    const session = await holdfast.open('killed');
    process.kill(session.pid, 'SIGKILL');
    await eventually(async () => expectOneLine(await session.exec(['true']), 125, "session 'killed' is not served any more"));
  });

  it('says what makes a directory a project', async () => {
    const ended = await holdfast.runnerExec(['--', 'true'], { cwd: holdfast.folder() });
    expectOneLine(ended, 125, "no session was named, and no project was found from '.*/folder-\\d+' upwards");
    expect(`${ended.stderr}`).toMatch(/--session NAME.*holdfast\.toml.*runner-exec --help/);
  });

  it.for([
    ['a socket that is not there', ['--socket', '/no/such/socket'], "session '/no/such/socket' is not open"],
    ['a socket name of 200 bytes', ['--socket', 's'.repeat(200)], "cannot connect to session 's+': its path is too long"],
    ['a path that leads nowhere', ['--session', './none'], "there is no directory './none'"],
    ['a session name of 5000 bytes', ['--session', 'n'.repeat(5000)], "session 'n+…?'? ?.*"],
  ] as const)('refuses %s', async ([, args, message]) => {
    expectOneLine(await holdfast.runnerExec([...args, '--', 'true']), 125, message);
  });

  it('refuses a runtime directory whose path is too long', async () => {
    const env = { HOLDFAST_RUNTIME_DIR: '/x'.repeat(3000) };
    expectOneLine(
      await holdfast.runnerExec(['--session', 'a', '--', 'true'], { env }),
      125,
      'the path of the runtime directory is too long',
    );
    expectCause(
      await holdfast.holdfast(['open', 'a', '--', 'env'], { env }),
      1,
      "cannot use the runtime directory '.*': Filename too long",
    );
  });

  it('says what is wrong with the project that it would open', async () => {
    const broken = project('[session]\nlauncher = ["env"]\nlaunchr = 1\n');
    const ended = await holdfast.runnerExec(['--', 'true'], { cwd: broken });
    expectOneLine(
      ended,
      125,
      `cannot open the session of '${broken}': ${broken}/holdfast\\.toml:3: unknown key 'launchr' in \\[session\\]`,
    );
    expect(`${ended.stderr}`).toContain("did you mean 'launcher'?");

    const failing = project('[session]\nlauncher = ["sh", "-c", "echo first; echo cannot reach the store; exit 3"]\n');
    expectOneLine(
      await holdfast.runnerExec(['--', 'true'], { cwd: failing }),
      125,
      `cannot open the session of '${failing}': the launcher .* ended with status 3 without starting the agent; its last words were 'cannot reach the store'`,
    );
    // One that an environment.yml marks, but does not describe.
    const marked = holdfast.folder('project');
    writeFileSync(join(marked, 'environment.yml'), 'dependencies: [python]\n');
    expectOneLine(
      await holdfast.runnerExec(['--', 'true'], { cwd: marked }),
      125,
      `cannot open the session of '${marked}': .*environment\\.yml' does not tell which environment it is`,
    );
  });
});

describe('runner-exec with a command that cannot be run', () => {
  it('tells program, interpreter and directory apart', async () => {
    const session = await holdfast.open('s');
    const cwd = holdfast.folder();
    const file = (name: string, text: string, mode = 0o755): void => writeFileSync(join(cwd, name), text, { mode });
    file('orphan', '#!/no/such/interpreter\n');
    file('plain', 'text', 0o644);
    file('not-a-program', '\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\0');
    symlinkSync('loop', join(cwd, 'loop'));
    mkdirSync(join(cwd, 'folder'));
    const cases: [command: string, status: number, message: string, flags?: string[]][] = [
      ['no-such-program', 127, "cannot run 'no-such-program': not found on the PATH of session 's'"],
      ['./no-such-program', 127, "cannot run './no-such-program': no such file"],
      ['plain/below', 127, "cannot run 'plain/below': no such file"],
      ['./orphan', 127, "cannot run './orphan': its interpreter '/no/such/interpreter' is missing"],
      ['./plain', 126, "cannot run './plain': permission denied"],
      ['cd', 127, "cannot run 'cd': not found on the PATH of session 's'"],
      ['', 127, "cannot run '': a program needs a name"],
      ['true', 125, `cannot enter the directory '${cwd}/gone': No such file or directory`, ['--cwd', `${cwd}/gone`]],
      ['true', 125, `cannot enter the directory '${cwd}/plain': Not a directory`, ['--cwd', `${cwd}/plain`]],
      ['true', 125, "cannot use the directory '/proc/self/fd': .*", ['--cwd', '/proc/self/fd']],
      ['true', 125, "cannot set the limit 'nofile' of 'true': .*", ['--limit', 'nofile=9999999:9999999']],
    ];
    for (const [command, status, message, flags = []] of cases) {
      expectOneLine(await session.exec([command], { cwd, flags }), status, message);
    }
    // These need no cure to be said.
    for (const [command, message] of [
      ['./folder', "cannot run './folder': is a directory"],
      ['./loop', "cannot run './loop': Symbolic link loop"],
    ] as const) {
      const { code, stderr } = await session.exec([command], { cwd });
      expect(`${code} ${stderr}`).toBe(`126 runner-exec: ${message}\n`);
    }
    expect(`${(await session.exec(['cd'], { cwd })).stderr}`).toContain("it is a shell builtin: run it as sh -c 'cd ...'");
  });

  it('refuses misuse before anything is run', async () => {
    const cases: [args: string[], message: string][] = [
      [[], 'no command to run'],
      [['--session', 's'], 'no command to run'],
      [['--session', 's', '--'], 'no command to run'],
      [['--sesion', 's', '--', 'true'], "unknown option '--sesion'"],
      [['-x', '--', 'true'], "unknown option '-x'"],
      [['--session', '', '--', 'true'], "bad value '' of '--session': it is empty"],
      [['--exact=1', '--', 'true'], "bad value '1' of '--exact': this option takes none"],
      [['--env', 'X', '--', 'true'], "bad value 'X' of '--env': it has no '='"],
      [['-e=X', '--', 'true'], "bad value '=X' of '--env': it has no name"],
      [['--pass-env', 'A=1', '--', 'true'], "bad value 'A=1' of '--pass-env': it takes a name alone"],
      [['--path-prepend', 'a:b', '--', 'true'], "bad value 'a:b' of '--path-prepend': .*"],
      [['--fd', '3', '--', 'true'], 'cannot pass descriptor 3: it is not open'],
      [['--fd', 'x', '--', 'true'], "bad value 'x' of '--fd': it is not the number of a descriptor"],
      [['--limit', 'foo=1', '--', 'true'], "bad value 'foo=1' of '--limit': no such limit"],
      [['--nice', '20', '--', 'true'], "bad value '20' of '--nice': it is not a number from -20 to 19"],
      [['--timeout', 'soon', '--', 'true'], "bad value 'soon' of '--timeout': it is not a duration"],
      [['--detach', '--pty', '--', 'true'], "'--detach' and '--pty' exclude each other"],
      [['--cwd'], "option '--cwd' needs a value"],
    ];
    for (const [args, message] of cases) expectOneLine(await holdfast.runnerExec(args), 125, message);
  });
});

describe('holdfast open', () => {
  async function expectFailure(args: readonly string[], status: number, message: string, options: RunOptions = {}): Promise<string> {
    const ended = await holdfast.holdfast(['open', ...args], options);
    expectCause(ended, status, message);
    return `${ended.stderr}`;
  }

  it('tells a launcher that fails: its status, and its last words', async () => {
    expect(
      await expectFailure(['x', '--', 'sh', '-c', 'echo one; echo two >&2; exit 3'], 1, 'the launcher .* ended with status 3 .*'),
    ).toMatch(/\n {2}one\n {2}two\nhint: all that it said is in '.*\/x\.log'\n$/);
    await expectFailure(['x', '--', 'sh', '-c', 'kill -9 $$'], 1, "the launcher of session 'x' was ended by SIGKILL .*, and said nothing");
    await expectFailure(['x', '--', 'no-such-launcher'], 1, "cannot start the launcher 'no-such-launcher': not found on PATH");
    await expectFailure(['x', '--', holdfast.folder()], 1, "cannot start the launcher '.*': EACCES");
    await expectFailure(['x', '--source-command', 'false'], 1, "the launcher .*status 1 .*'false' failed with status 1'");
  });

  it('tells one that ends without calling back, at once', async () => {
    await expectFailure(
      ['x', '--', 'true'],
      1,
      "the launcher of session 'x' ended with status 0 without starting the agent, and said nothing",
    );
    const ends = holdfast.program('env.sh', 'exit 0\n');
    expect(await expectFailure(['x', '--source', ends], 1, 'the launcher .* ended with status 0 .*, and said nothing')).toContain(
      'hint: a script that is sourced must not end its shell',
    );
    const torn = holdfast.program('env.sh', 'export A=1\nif then\n');
    expect(
      await expectFailure(['x', '--source', torn], 1, "the launcher .* status 2 .*line 2: syntax error near unexpected token `then''"),
    ).toContain('hint: correct the script');
    const printed = ['x', '--source-command', 'echo', '--source-command', 'A=1; if then'];
    expect(await expectFailure(printed, 1, 'the launcher .* status 2 .*syntax error .*')).toContain('hint: correct the script');
    // It runs the shim, and the shim's node is not there to be run.
    const broken = holdfast.program('launcher', '#!/bin/sh\nshift\nexec "$0.missing" "$@"\n');
    await expectFailure(['x', '--', broken], 1, "the launcher of session 'x' ended with status 127 .*");
  });

  it('ends one that hangs, with all that it started, at open_timeout', async () => {
    const pids = join(holdfast.folder(), 'pids');
    const launcher = holdfast.program('launcher', `#!/bin/sh\nsetsid sleep 600 &\necho $$ $! >'${pids}'\necho fetching\nwait\n`);
    // Long enough for a busy machine to get as far as the pids.
    await expectFailure(
      ['x', '--open-timeout', '1500ms', '--', launcher],
      1,
      "the launcher .* within 1.5 s; its last words were 'fetching'",
    );
    for (const pid of readFileSync(pids, 'utf8').split(' ').map(Number)) expect(isAlive(pid)).toBe(false);
    expect(await holdfast.holdfast(['list'])).toMatchObject({ code: 0, stdout: Buffer.alloc(0) });
  });

  it('names the file and the line of what it cannot read', async () => {
    const config = (text: string): string => join(project(text), 'holdfast.toml');
    await expectFailure(['x', '--config', '/no/such.toml'], 1, "cannot read '/no/such.toml': .*no such file or directory");
    await expectFailure(['x', '--config', holdfast.folder()], 1, "cannot read '.*': .*");
    const bad: [text: string, message: string][] = [
      ['[session\n', '1:9: not valid TOML: .*'],
      ['[session]\n\nlauncher = "env"\n', "3: 'launcher' must be a list of words .*"],
      ['[session]\nlauncher = ["env"]\nidle_timeout = "soon"\n', "3: 'idle_timeout' must be .*"],
      ['[session]\nlauncher = ["env"]\nsource = "x.sh"\n', "3: 'launcher' and 'source' both say what is entered in .session."],
      ['[sesion]\n', "1: unknown .*'sesion'.*"],
    ];
    for (const [text, message] of bad) {
      const path = config(text);
      await expectFailure(['x', '--config', path], 1, `${path}:${message}`);
    }
    await expectFailure(['x', '--source', '/no/such.sh'], 1, "cannot read the script '/no/such.sh': .*");
    await expectFailure(['x', '--source', holdfast.folder()], 1, "cannot read the script '.*': it is no regular file");
  });

  it('refuses misuse with 2, and what is merely absent with 1', async () => {
    await expectFailure([], 1, "no session is named, and '.*' is in no project", { cwd: holdfast.folder() });
    await expectFailure(['x'], 1, "nothing says what session 'x' enters: .*", { cwd: holdfast.folder() });
    const misuse: [args: string[], message: string][] = [
      [['x', '--project', '/no/such', '--', 'env'], "'/no/such' is not a directory"],
      [['', '--', 'env'], "the session name '' is empty"],
      [['a\nb', '--', 'env'], "the session name 'a\\\\nb' has a line break in it"],
      [['n'.repeat(5000), '--', 'env'], "the session name 'n+…' is 5000 bytes long, 4096 is the limit"],
      [['x', '--mode', 'odd', '--', 'env'], "'--mode' must be one of .*"],
      [['x', '--mode', 'host', '--', 'env'], '\'launcher\' has no meaning with mode "host" .*'],
      [['x', '--idle-timeout', 'soon', '--', 'env'], "'--idle-timeout' must be a duration, .*"],
      [['x', '--max-queue=-1', '--', 'env'], "'--max-queue' must be a whole number .*"],
      [['x', '--nonsense', '--', 'env'], "unknown option '--nonsense'"],
      [['x', 'y', '--', 'env'], 'too many arguments .*'],
    ];
    for (const [args, message] of misuse) await expectFailure(args, 2, message);
  });
});

describe('the other commands', () => {
  it('say that a session is not open, and misuse with 2', async () => {
    for (const command of ['close', 'status', 'explain', 'jobs', 'logs']) {
      expectCause(await holdfast.holdfast([command, 'absent']), 1, ".*session '?absent'? (is not open|is open|has no log.*)");
    }
    const misuse: [args: string[], message: string][] = [
      [['opne'], "unknown command 'opne'"],
      [['close'], 'no session is named'],
      [['close', '--all', 'x'], "both '--all' and names are given"],
      [['list', 'x'], "too many arguments for 'list'.*"],
      [['status', '--jsn'], "unknown option '--jsn'"],
    ];
    for (const [args, message] of misuse) expectCause(await holdfast.holdfast(args), 2, message);
  });

  it('fail where what they print has no room, and end with a reader that has gone', async () => {
    for (const args of ['--version', '--help', 'completion bash']) {
      expectCause(
        await holdfast.run(['sh', '-c', `'${programs.holdfast}' ${args} >/dev/full`]),
        1,
        'cannot write to standard output: ENOSPC.*',
      );
      const gone = `rm -f gone; mkfifo gone; (exec 3<gone) & exec 4>gone; wait; exec '${programs.holdfast}' ${args} >&4`;
      expect(await holdfast.run(['bash', '-c', gone], { cwd: holdfast.folder() })).toMatchObject({
        signal: 'SIGPIPE',
        stderr: Buffer.alloc(0),
      });
    }
  });

  it('without a word prints how it is used, and fails with 2', async () => {
    const { code, stderr } = await holdfast.holdfast([]);
    expect(code).toBe(2);
    expect(`${stderr}`).toMatch(/^Usage: holdfast [\s\S]*\nholdfast: no command is given\nhint: .*\n$/);
  });
});
