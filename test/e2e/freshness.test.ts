// Pins DESIGN section 4 "Freshness": a command never runs in an environment that is out of date without a word, whoever asks, and the
// environment is entered once however many do.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { programs, useHoldfast } from '../harness/holdfast.js';
import { needs } from '../harness/needs.js';
import type { Ended, RunOptions } from '../harness/running.js';
import type { Session } from '../harness/session.js';
import { Terminal } from '../harness/terminal.js';

const holdfast = useHoldfast();
const PATIENCE_MS = 60_000;

interface Project {
  readonly directory: string;
  /** How often its environment has been entered. */
  entries(): number;
  write(name: string, text: string): void;
  /** `runner-exec -- COMMAND` in it. */
  run(command: readonly string[], options?: RunOptions): Promise<Ended>;
  /** What the environment was made of, as a command sees it. */
  mark(): Promise<string>;
  adopt(): Promise<Session>;
}

/** A project whose environment is made of `input`, and whose launcher counts its entries. `settings`: further keys of its [session]. */
function makeProject(settings = '', directory = holdfast.folder('project')): Project {
  const log = join(holdfast.folder('log'), 'entries');
  const write = (name: string, text: string): void => writeFileSync(join(directory, name), text, { mode: 0o755 });
  write('input', 'one');
  write(
    'enter',
    `#!/bin/sh\n[ ! -e slow ] || sleep 0.5\necho x >>'${log}'\nexport MARK=$(cat input 2>/dev/null || echo none)\nexec "$@"\n`,
  );
  write('holdfast.toml', `[session]\nlauncher = ["./enter"]\ninputs = ["input"]\n${settings}`);
  const run = (command: readonly string[], options: RunOptions = {}): Promise<Ended> =>
    holdfast.runnerExec(['--', ...command], { cwd: directory, ...options });
  return {
    directory,
    entries: () => (existsSync(log) ? readFileSync(log, 'utf8').length / 2 : 0),
    write,
    run,
    mark: async () => {
      const { code, stdout, stderr } = await run(['printenv', 'MARK']);
      return `${code} ${stdout}${stderr}`;
    },
    adopt: () => holdfast.adopt(directory),
  };
}

const all = (count: number, project: Project): Promise<string[]> => Promise.all(Array.from({ length: count }, () => project.mark()));

describe('a project whose input changes', { timeout: PATIENCE_MS }, () => {
  it('is entered again by the next command, and only then', async () => {
    const project = makeProject();
    expect(await project.mark()).toBe('0 one\n');
    project.write('input', 'one');
    utimesSync(join(project.directory, 'input'), 1, 1);
    expect(await project.mark()).toBe('0 one\n');
    expect(project.entries()).toBe(1);
    project.write('input', 'two');
    expect(await project.mark()).toBe('0 two\n');
    expect(await project.mark()).toBe('0 two\n');
    expect(project.entries()).toBe(2);
    await project.adopt();
  });

  it('counts a coming and a going', async () => {
    const project = makeProject();
    rmSync(join(project.directory, 'input'));
    expect(await project.mark()).toBe('0 none\n');
    project.write('input', 'came');
    expect(await project.mark()).toBe('0 came\n');
    rmSync(join(project.directory, 'input'));
    expect(await project.mark()).toBe('0 none\n');
    await project.adopt();
  });

  it('is entered once by twenty commands that find it so at once', async () => {
    const project = makeProject();
    await project.mark();
    project.write('input', 'two');
    expect(await all(20, project)).toEqual(Array(20).fill('0 two\n'));
    expect(project.entries()).toBe(2);
    await project.adopt();
  });

  it('lets what runs in it end first, and new commands wait', async () => {
    const project = makeProject();
    const fifo = join(holdfast.folder(), 'fifo');
    execFileSync('mkfifo', [fifo]);
    const running = holdfast.startRunnerExec(['--', 'sh', '-c', `echo ready; read x <'${fifo}'; echo $MARK $x`], {
      cwd: project.directory,
    });
    await eventually(() => expect(`${running.stdout}`).toBe('ready\n'), PATIENCE_MS);
    project.write('input', 'two');
    const waiting = holdfast.startRunnerExec(['--', 'printenv', 'MARK'], { cwd: project.directory });
    // It has asked, and was told to open the session again.
    const opener = () => execFileSync('pgrep', ['-f', `holdfast.cjs reopen --quiet --if-stale -- ${project.directory}`]);
    await eventually(opener, PATIENCE_MS);
    expect(project.entries()).toBe(1);
    writeFileSync(fifo, 'go\n');
    expect(await running.ended).toMatchObject({ code: 0, stdout: Buffer.from('ready\none go\n') });
    expect(await waiting.ended).toMatchObject({ code: 0, stdout: Buffer.from('two\n'), stderr: Buffer.alloc(0) });
    await project.adopt();
  });

  it('serves a command of a command that runs in it, which would else wait for itself', async () => {
    const project = makeProject();
    const script = `printf two >input; '${programs.runnerExec}' -- printenv MARK; '${process.execPath}' '${programs.holdfast}' reopen; echo $?`;
    const flags = ['--pass-env', 'HOLDFAST_RUNTIME_DIR'];
    const inside = await holdfast.runnerExec([...flags, '--', 'sh', '-c', script], { cwd: project.directory });
    expect(`${inside.stdout}`).toBe('one\n1\n');
    expect(`${inside.stderr}`).toMatch(/^holdfast: session '.*' cannot be entered again by a command that runs in it\nhint: .*\n$/);
    expect(await project.mark()).toBe('0 two\n');
    await project.adopt();
  });

  it('is not left in its old environment when it cannot be entered', async () => {
    const project = makeProject();
    await project.mark();
    project.write('enter', '#!/bin/sh\necho "no entry today" >&2\nexit 3\n');
    project.write('input', 'two');
    const { code, stdout, stderr } = await project.run(['echo', 'ran']);
    expect({ code, stdout: `${stdout}` }).toEqual({ code: 125, stdout: '' });
    expect(`${stderr}`).toMatch(/^runner-exec: cannot open session '.*' again: .* its last words were 'no entry today'; hint: .*\n$/);
    await holdfast.holdfast(['close', project.directory]);
  });

  it('is left open where its launcher is not to be found', async () => {
    const bin = holdfast.folder('bin');
    writeFileSync(join(bin, 'mise'), '#!/bin/sh\nshift 2\nexec "$@"\n', { mode: 0o755 });
    const directory = holdfast.folder('project');
    writeFileSync(join(directory, 'mise.toml'), '');
    const env = { PATH: `${bin}:${holdfast.env['PATH']}` };
    expect(await holdfast.runnerExec(['--', 'true'], { cwd: directory, env })).toMatchObject({ code: 0 });
    const session = await holdfast.adopt(directory);
    writeFileSync(join(directory, 'mise.toml'), 'changed');
    // Where a real one may be is left out too.
    const without = { PATH: [dirname(process.execPath), '/usr/bin', '/bin'].join(':') };
    const { code, stderr } = await holdfast.runnerExec(['--', 'true'], { cwd: directory, env: without });
    expect({ code, stderr: `${stderr}` }).toMatchObject({
      code: 125,
      stderr: expect.stringMatching(/'mise': not found on PATH; hint: .* is as it was/),
    });
    expect(await session.status()).toMatchObject({ pid: session.pid, stale: true });
    expect(await holdfast.runnerExec(['--', 'true'], { cwd: directory, env })).toMatchObject({ code: 0 });
    expect(await session.status()).toMatchObject({ stale: false });
  });

  it('is entered again from its file as it is now', async () => {
    const project = makeProject();
    await project.mark();
    project.write('holdfast.toml', '[session]\nlauncher = ["env", "MARK=from the file"]\n');
    expect(await project.mark()).toBe('0 from the file\n');
    project.write('holdfast.toml', '[session]\nlaunchr = []\n');
    const { code, stderr } = await project.run(['true']);
    expect(code).toBe(125);
    expect(`${stderr}`).toMatch(
      /^runner-exec: cannot open session '.*' again: .*holdfast\.toml:2: unknown key 'launchr' in \[session\]; hint: .*\n$/,
    );
    project.write('holdfast.toml', '[session]\nlauncher = ["env", "MARK=mended"]\n');
    expect(await project.mark()).toBe('0 mended\n');
    await project.adopt();
  });

  it('has a directory for an input: what is in it counts, and what comes into it', async () => {
    const project = makeProject();
    mkdirSync(join(project.directory, 'tree/deep'), { recursive: true });
    project.write('tree/deep/a', 'a');
    project.write('holdfast.toml', '[session]\nlauncher = ["./enter"]\ninputs = ["tree"]\n');
    await project.mark();
    project.write('tree/deep/b', 'b');
    await project.mark();
    project.write('tree/deep/b', 'changed');
    await project.mark();
    await project.mark();
    expect(project.entries()).toBe(3);
    await project.adopt();
  });

  it('takes a lock file as the entry leaves it', async () => {
    const project = makeProject();
    project.write(
      'holdfast.toml',
      '[session]\nlauncher = ["sh", "-c", "echo x >>my.lock; exec ./enter \\"$@\\"", "sh"]\ninputs = ["my.lock"]\n',
    );
    await project.mark();
    await project.mark();
    expect(project.entries()).toBe(1);
    project.write('my.lock', 'other');
    await project.mark();
    expect(project.entries()).toBe(2);
    await project.adopt();
  });

  it('is entered again by the client in Node as well', async () => {
    const project = makeProject();
    await project.mark();
    project.write('input', 'two');
    const options = { cwd: project.directory };
    const ended = await holdfast.holdfast(['__runner-exec', '--', 'printenv', 'MARK'], options);
    expect(ended).toMatchObject({ code: 0, stdout: Buffer.from('two\n'), stderr: Buffer.alloc(0) });
    await project.adopt();
  });
});

describe('on_stale', { timeout: PATIENCE_MS }, () => {
  it('"refuse" names the files and the cure, which works', async () => {
    const project = makeProject('on_stale = "refuse"\n');
    await project.mark();
    project.write('input', 'two');
    const { code, stdout, stderr } = await project.run(['echo', 'ran']);
    expect({ code, stdout: `${stdout}` }).toEqual({ code: 125, stdout: '' });
    const { directory } = project;
    expect(`${stderr}`).toBe(
      `runner-exec: session '${directory}' refused: it is stale: '${directory}/input' changed since it was entered; hint: 'holdfast reopen ${directory}' enters it again\n`,
    );
    const cured = await holdfast.holdfast(['reopen', directory, '--json']);
    expect({ code: cured.code, stderr: `${cured.stderr}` }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(`${cured.stdout}`)).toMatchObject({ name: directory, opened: true, pid: expect.any(Number), stale: [] });
    expect(await project.mark()).toBe('0 two\n');
    await project.adopt();
  });

  it('"warn" says it once for each change, and the command is not disturbed', async () => {
    const project = makeProject('on_stale = "warn"\n');
    await project.mark();
    const { directory } = project;
    project.write('input', 'two');
    const said = `runner-exec: session '${directory}' is stale: '${directory}/input' changed since it was entered; hint: 'holdfast reopen ${directory}' enters it again\n`;
    expect(await project.mark()).toBe(`0 one\n${said}`);
    expect(await project.mark()).toBe('0 one\n');
    rmSync(join(directory, 'input'));
    expect(await project.mark()).toContain("input' is gone since");
    expect(await project.mark()).toBe('0 one\n');
    // A person has not seen it yet. The command does not wait until it is said.
    const toPerson = /is gone since it was entered\r\nhint: .*\r\n/;
    for (const isSaid of [true, false]) {
      const terminal = new Terminal([programs.runnerExec, '--', 'printenv', 'MARK'], { cwd: directory, env: holdfast.env });
      try {
        const { text } = await terminal.ended();
        expect([toPerson.test(text), text.replace(/runner-exec: session .*\r\n/, '').replace(/hint: .*\r\n/, '')]).toEqual([
          isSaid,
          'one\r\n',
        ]);
      } finally {
        terminal.close();
      }
    }
    const node = await holdfast.holdfast(['__runner-exec', '--', 'printenv', 'MARK'], { cwd: directory });
    expect(`${node.stdout}${node.stderr}`).toBe('one\n');
    await project.adopt();
  });

  it('is "warn" for a session that was opened by name', async () => {
    const input = join(holdfast.folder(), 'input');
    writeFileSync(input, 'one');
    const session = await holdfast.open('named', { flags: ['--input', input] });
    writeFileSync(input, 'two');
    const first = await session.exec(['echo', 'ran']);
    expect(first).toMatchObject({ code: 0, stdout: Buffer.from('ran\n') });
    expect(`${first.stderr}`).toMatch(/^runner-exec: session 'named' is stale: .*\n$/);
    expect(await session.output(['echo', 'ran'])).toBe('ran\n');
    expect(await session.status()).toMatchObject({ stale: true, changes: [{ path: input, how: 'changed' }] });
  });
});

describe('a session that was opened by name', { timeout: PATIENCE_MS }, () => {
  it('is opened again as it was: launcher, flags and directory', async () => {
    const folder = holdfast.folder();
    const input = join(folder, 'input');
    writeFileSync(input, 'one');
    const flags = ['--input', 'input', '--on-stale', 'reopen', '--env', 'FLAG=kept'];
    await holdfast.open('named', { script: `export MARK=$(cat '${input}') WHERE=$PWD`, flags, cwd: folder });
    writeFileSync(input, 'two');
    const { stdout, stderr } = await holdfast.runnerExec(['--session', 'named', '--', 'sh', '-c', 'echo $MARK $FLAG $WHERE']);
    expect(`${stdout}${stderr}`).toBe(`two kept ${folder}\n`);
    await holdfast.adopt('named');
  });

  it('is opened again from its file, also for a client that knows only its socket', async () => {
    const file = join(holdfast.folder(), 'sessions.toml');
    const declare = (mark: string): void =>
      writeFileSync(file, `[sessions.named]\nlauncher = ["env", "MARK=${mark}"]\non_stale = "reopen"\n`);
    declare('one');
    expect(await holdfast.holdfast(['open', 'named', '--config', file])).toMatchObject({ code: 0 });
    declare('two');
    const socket = join(holdfast.runtimeDirectory, 'named.sock');
    const elsewhere = { env: { HOLDFAST_RUNTIME_DIR: join(holdfast.directory, 'tmp') } };
    const ended = await holdfast.runnerExec(['--socket', socket, '--', 'printenv', 'MARK'], elsewhere);
    expect(ended).toMatchObject({ code: 0, stdout: Buffer.from('two\n'), stderr: Buffer.alloc(0) });
    await holdfast.adopt('named');
  });

  it('is waited for while another client opens it again', async () => {
    const folder = holdfast.folder();
    const input = join(folder, 'input');
    writeFileSync(input, 'one');
    const flags = ['--input', input, '--on-stale', 'reopen'];
    await holdfast.open('slow', { script: `[ ! -e '${folder}/slow' ] || sleep 1; export MARK=$(cat '${input}')`, flags });
    writeFileSync(join(folder, 'slow'), '');
    writeFileSync(input, 'two');
    const client = () => holdfast.startRunnerExec(['--session', 'slow', '--', 'printenv', 'MARK']);
    const first = client();
    await eventually(() => expect(existsSync(join(holdfast.runtimeDirectory, 'slow.sock'))).toBe(false), PATIENCE_MS);
    const second = client();
    for (const each of [first, second]) {
      expect(await each.ended).toMatchObject({ code: 0, stdout: Buffer.from('two\n'), stderr: Buffer.alloc(0) });
    }
    await holdfast.adopt('slow');
  });
});

describe('projects', { timeout: PATIENCE_MS }, () => {
  it('opened at once by twenty commands each are entered once each, and each is its own', async () => {
    const projects = ['left', 'right'].map((mark) => {
      const project = makeProject();
      project.write('input', mark);
      return project;
    });
    const marks = await Promise.all(projects.map((project) => all(20, project)));
    expect(marks).toEqual([Array(20).fill('0 left\n'), Array(20).fill('0 right\n')]);
    expect(projects.map((project) => project.entries())).toEqual([1, 1]);
    for (const project of projects) await project.adopt();
  });

  it('that are deleted and made again at the same place are others', async () => {
    const project = makeProject();
    expect(await project.mark()).toBe('0 one\n');
    const files = ['input', 'enter', 'holdfast.toml'].map((name) => [name, readFileSync(join(project.directory, name), 'utf8')] as const);
    rmSync(project.directory, { recursive: true });
    mkdirSync(project.directory);
    for (const [name, text] of files) project.write(name, text);
    expect(await project.mark()).toBe('0 one\n');
    expect(project.entries()).toBe(2);
    await project.adopt();
  });

  it('that are renamed are entered at their new place, whatever takes the old one', async () => {
    const project = makeProject();
    await project.mark();
    const moved = join(holdfast.folder(), 'moved');
    renameSync(project.directory, moved);
    expect(`${(await holdfast.runnerExec(['--', 'sh', '-c', 'echo $MARK $PWD'], { cwd: moved })).stdout}`).toBe(`one ${moved}\n`);
    await holdfast.adopt(moved);
    mkdirSync(project.directory);
    const other = makeProject('', project.directory);
    other.write('input', 'other');
    expect(await other.mark()).toBe('0 other\n');
    await other.adopt();
  });

  it('that are gone take their session along, once nothing runs in it', async () => {
    const project = makeProject();
    await project.mark();
    const session = await project.adopt();
    rmSync(project.directory, { recursive: true });
    // It looks every ten seconds.
    const files = ['sock', 'json', 'log', 'lock'].map((suffix) => session.socket.replace(/sock$/, suffix));
    await eventually(() => expect(files.filter(existsSync)).toEqual([]), PATIENCE_MS / 2);
    await eventually(() => expect(session.processes()).toEqual([]), PATIENCE_MS / 2);
  });

  it('of two branches never share an environment', async (t) => {
    needs(t, 'git');
    const project = makeProject();
    const git = (...args: string[]): void => {
      execFileSync('git', ['-C', project.directory, '-c', 'user.name=n', '-c', 'user.email=e', ...args], { stdio: 'pipe' });
    };
    git('init', '-q', '-b', 'main');
    git('add', '.');
    git('commit', '-qm', 'one');
    git('switch', '-qc', 'branch');
    project.write('input', 'branch');
    git('commit', '-qam', 'two');
    expect(await project.mark()).toBe('0 branch\n');
    git('switch', '-q', 'main');
    expect(await project.mark()).toBe('0 one\n');
    const tree = join(holdfast.folder(), 'tree');
    git('worktree', 'add', '-q', tree, 'branch');
    const mark = async (cwd: string): Promise<string> => `${(await holdfast.runnerExec(['--', 'printenv', 'MARK'], { cwd })).stdout}`;
    expect(await Promise.all([mark(tree), mark(project.directory)])).toEqual(['branch\n', 'one\n']);
    await holdfast.adopt(tree);
    await project.adopt();
  });

  it('are entered by a stronger file when one comes', async () => {
    const directory = holdfast.folder('project');
    const bin = holdfast.folder('bin');
    for (const tool of ['devenv', 'mise'])
      writeFileSync(join(bin, tool), `#!/bin/sh\nexport MARK=${tool}\nshift 2\nexec "$@"\n`, { mode: 0o755 });
    const env = { PATH: `${bin}:${holdfast.env['PATH']}` };
    const mark = async (): Promise<string> => `${(await holdfast.runnerExec(['--', 'printenv', 'MARK'], { cwd: directory, env })).stdout}`;
    writeFileSync(join(directory, 'mise.toml'), '');
    expect(await mark()).toBe('mise\n');
    writeFileSync(join(directory, 'devenv.nix'), '');
    expect(await mark()).toBe('devenv\n');
    rmSync(join(directory, 'devenv.nix'));
    expect(await mark()).toBe('mise\n');
    await holdfast.adopt(directory);
  });
});
