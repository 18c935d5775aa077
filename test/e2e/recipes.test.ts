// docs/recipes.md, done as it says: each recipe's files are written into a project, and the tool that they are for is run there.

import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { programs, useHoldfast } from '../harness/holdfast.js';
import { needs } from '../harness/needs.js';
import { readRecipes, writeRecipe } from '../harness/recipe.js';
import type { Ended, Running, RunOptions } from '../harness/running.js';
import { Terminal } from '../harness/terminal.js';

const holdfast = useHoldfast();
const server = join(dirname(fileURLToPath(import.meta.url)), '../fixtures/toolchain-server.py');
const bin = holdfast.folder('bin');
symlinkSync(programs.runnerExec, join(bin, 'runner-exec'));
symlinkSync(programs.holdfast, join(bin, 'holdfast'));
const PATH = `${bin}:${holdfast.env.PATH}`;
const done = new Set<string>();

interface Project {
  readonly directory: string;
  readonly files: Map<string, string>;
  run(command: string, options?: RunOptions): Promise<{ code: number | null; out: string; err: string }>;
  start(argv: readonly [string, ...string[]], options?: RunOptions): Running;
}

/** A project with an environment that is told apart from the caller's by TOOLCHAIN and a program, and with one recipe's files. */
function project(title: string): Project {
  done.add(title);
  const directory = holdfast.folder('project');
  mkdirSync(join(directory, 'tools'));
  copyFileSync(server, join(directory, 'tools/toolchain-server'));
  writeFileSync(join(directory, 'env.sh'), 'export TOOLCHAIN=held PATH="$PWD/tools:$PATH"\n');
  writeFileSync(join(directory, 'holdfast.toml'), '[session]\nsource = "env.sh"\n');
  const files = writeRecipe(title, directory);
  const env = {
    PATH,
    CALLER: 'yes',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b',
  };
  const withDefaults = (options: RunOptions): RunOptions => ({ cwd: directory, ...options, env: { ...env, ...options.env } });
  return {
    directory,
    files,
    start: (argv, options = {}) => holdfast.start(argv, withDefaults(options)),
    async run(command, options = {}) {
      const ended: Ended = await holdfast.run(['bash', '-c', command], withDefaults(options));
      return { code: ended.code, out: `${ended.stdout}`, err: `${ended.stderr}` };
    },
  };
}

/** The session that the recipe has opened: closed, and looked after, at the end of the test. */
const adopt = async ({ directory }: Project): Promise<unknown> => await holdfast.adopt(directory);

describe('build tools', () => {
  it('GNU make runs its lines inside, and shares its slots', async (t) => {
    const made = project('GNU make');
    needs(t, 'make');
    const { code, out, err } = await made.run('make -j2');
    expect({ code, err, lines: out.trim().split('\n').sort() }).toEqual({
      code: 0,
      err: '',
      lines: ['one built with held', 'two built with held'],
    });
    writeFileSync(
      join(made.directory, 'Makefile'),
      `${made.files.get('Makefile')}fails:\n\t@false | true\nbelow:\n\t@$(MAKE) --no-print-directory all\n`,
    );
    // A make below that finds no slots says so.
    expect(await made.run('make -j2 below')).toMatchObject({ code: 0, err: '' });
    expect(await made.run('make fails')).toMatchObject({ code: 2, err: expect.stringContaining('[Makefile:8: fails] Error 1') });
    await adopt(made);
  });

  it('just runs its recipes inside', async (t) => {
    const made = project('just');
    needs(t, 'just');
    expect(await made.run('just build app')).toEqual({ code: 0, out: 'app built with held\n', err: 'echo "app built with $TOOLCHAIN"\n' });
    await adopt(made);
  });

  it('ninja runs a rule inside, and all of itself', async (t) => {
    const made = project('ninja');
    needs(t, 'ninja');
    writeFileSync(join(made.directory, 'in.txt'), 'in\n');
    expect(await made.run('ninja && cat out.txt')).toMatchObject({ code: 0, out: expect.stringMatching(/from in with held\n$/) });
    writeFileSync(join(made.directory, 'build.ninja'), 'rule r\n  command = echo "all $$TOOLCHAIN" >$out\nbuild x: r\n');
    expect(await made.run('runner-exec -- ninja && cat x')).toMatchObject({ code: 0, out: expect.stringMatching(/all held\n$/) });
    await adopt(made);
  });

  it('npm runs scripts inside, with the programs and variables that it gives them', async () => {
    const made = project('npm scripts');
    mkdirSync(join(made.directory, 'node_modules/.bin'), { recursive: true });
    writeFileSync(join(made.directory, 'node_modules/.bin/tool'), '#!/bin/sh\necho "tool with $TOOLCHAIN"\n', { mode: 0o755 });
    const scripts = { build: 'tool && echo "$npm_lifecycle_event $CALLER"', fail: 'exit 7' };
    writeFileSync(join(made.directory, 'package.json'), JSON.stringify({ name: 'x', version: '1.0.0', scripts }));
    expect(await made.run('npm run --silent build')).toEqual({ code: 0, out: 'tool with held\nbuild yes\n', err: '' });
    expect(await made.run('npm run --silent fail')).toMatchObject({ code: 7 });
    await adopt(made);
  });
});

describe('git', () => {
  it('runs hooks inside, with the index of the commit that is made', async (t) => {
    const made = project('Git hooks');
    needs(t, 'git');
    const set = 'git init -q . && git config core.hooksPath .githooks && echo 1 >a && echo 1 >b && git add a b';
    expect(await made.run(`${set} && git commit -qm first`)).toEqual({
      code: 0,
      out: '',
      err: 'checked a with held\nchecked b with held\n',
    });
    expect(await made.run('echo 2 >a; echo 2 >b; git commit -qm second -a')).toMatchObject({
      code: 0,
      err: 'checked a with held\nchecked b with held\n',
    });
    expect(await made.run('echo 3 >a; echo 3 >b; git commit -qm third b')).toMatchObject({ code: 0, err: 'checked b with held\n' });
    expect(await made.run('git log --oneline | wc -l')).toMatchObject({ out: '3\n' });
    await adopt(made);
  });
});

describe('GitHub Actions', () => {
  it('runs the steps of a job inside, and takes their outputs', async () => {
    const made = project('GitHub Actions');
    const workflow = made.files.get('.github/workflows/test.yml') ?? '';
    const shell = /^ {8}shell: (.*)$/m.exec(workflow)?.[1] ?? '';
    const script = /run: \|\n((?: {10}.*\n?)+)/.exec(workflow)?.[1]?.replace(/^ {10}/gm, '') ?? '';
    writeFileSync(join(made.directory, 'step.sh'), script);
    // As the runner does: split at blanks, the script's file in its place, no shell in between.
    const [program = '', ...args] = shell.split(' ').map((word) => word.replace('{0}', join(made.directory, 'step.sh')));
    const output = join(made.directory, 'output');
    const ended = await made.start([program, ...args], { env: { GITHUB_OUTPUT: output } }).ended;
    expect({ code: ended.code, out: `${ended.stdout}`, err: `${ended.stderr}` }).toEqual({ code: 0, out: 'tested with held\n', err: '' });
    expect(readFileSync(output, 'utf8')).toBe('result=held\n');
    await adopt(made);
  });
});

describe('editors', () => {
  it('talk to a language server inside, over their own pipes, and take it along when they go', async (t) => {
    const made = project("An editor's language server");
    needs(t, 'python3');
    const config = JSON.parse(JSON.stringify(parse(made.files.get('languages.toml') ?? '')));
    const { command, args } = config['language-server']['toolchain-server'];
    const running = made.start([command, ...args], { stdin: 'open' });
    const editor = new Editor(running);
    expect(await editor.ask('initialize', { processId: null })).toMatchObject({
      serverInfo: { version: 'held', arguments: ['--stdio'], root: made.directory },
    });
    const text = 'x'.repeat(100_000);
    expect(await editor.ask('textDocument/hover', { text })).toEqual({ contents: text + text });
    expect(await editor.ask('shutdown', {})).toBeNull();
    editor.tell('exit');
    expect(await running.ended).toMatchObject({ code: 0, stderr: Buffer.alloc(0) });

    const crashing = made.start([command, ...args], { stdin: 'open' });
    expect(await new Editor(crashing).ask('initialize', {})).toMatchObject({ serverInfo: { name: 'toolchain-server' } });
    crashing.kill('SIGKILL');
    await crashing.exited;
    const session = await holdfast.adopt(made.directory);
    await expect.poll(async () => (await session.status())['running'], { timeout: 20_000 }).toBe(0);
  });

  it('VS Code opens a terminal inside, with job control', async () => {
    const made = project('A terminal in VS Code');
    const settings = JSON.parse(made.files.get('.vscode/settings.json') ?? '');
    const profile = settings['terminal.integrated.profiles.linux'][settings['terminal.integrated.defaultProfile.linux']];
    expect(Object.keys(profile)).toEqual(['path', 'args']);
    // A session of its own first: the terminal's first words are those of its opening.
    await made.run('runner-exec -- true');
    const terminal = new Terminal([join(bin, profile.path), ...profile.args], {
      env: { ...holdfast.env, PATH, TERM: 'xterm-256color' },
      cwd: made.directory,
    });
    try {
      terminal.type('echo "[$TOOLCHAIN $TERM $(tty)]"\r');
      await terminal.sees(`[held xterm-256color ${terminal.device}]`, 20_000);
      terminal.type(`sh -c 'echo "has $((1 + 1)) begun"; exec sleep 60'\r`);
      await terminal.sees('has 2 begun', 20_000);
      terminal.type('\x1a');
      await terminal.sees('Stopped', 20_000);
      terminal.type('kill %1; wait; stty size; exit 3\r');
      await terminal.sees('24 80', 20_000);
      expect(await terminal.exited).toMatchObject({ code: 3 });
    } finally {
      terminal.close();
    }
    await adopt(made);
  });
});

describe('a coding agent', () => {
  it('runs commands as text, and is told how they ended', async () => {
    const made = project('A coding agent');
    const agent = (COMMAND: string, change = (text: string): string => text): ReturnType<Project['run']> =>
      made.run(change(made.files.get('run') ?? ''), { env: { COMMAND } });
    const command = 'set -e\necho "with $TOOLCHAIN"\ncat <<END\n\'quoted\' "$((1 + 1))"\nEND\nexit 9\n';
    expect(await agent(command)).toEqual({ code: 9, out: 'with held\n\'quoted\' "2"\n', err: '' });
    const report = JSON.parse(readFileSync(join(made.directory, '.last-run.json'), 'utf8'));
    expect(report.outcome).toEqual({ kind: 'exited', code: 9 });
    const late = await agent('echo early; sleep 60', (text) => text.replace('10m', '500ms'));
    expect(late).toMatchObject({ code: 124, out: 'early\n', err: expect.stringContaining('did not end within 500ms') });
    await adopt(made);
  });
});

describe('by other ways', () => {
  it('tools run inside by their own names', async (t) => {
    const made = project('Tools by their own names');
    needs(t, 'python3');
    const script = `${made.files.get('setup')}${made.files.get('use')}`;
    expect(await made.run(script)).toEqual({ code: 0, out: expect.stringMatching(/toolchain-server of held\n$/), err: '' });
    expect(existsSync(join(holdfast.env.HOME ?? '', '.holdfast/shims/toolchain-server'))).toBe(true);
    await adopt(made);
  });

  it('xargs runs commands inside, side by side', async () => {
    const made = project('In parallel');
    expect(await made.run(made.files.get('parallel') ?? '')).toEqual({
      code: 0,
      out: 'one with held\nthree with held\ntwo with held\n',
      err: '',
    });
    await adopt(made);
  });

  it('a trace shows where the time of a build went', async (t) => {
    const made = project('Where the time goes');
    needs(t, 'make');
    writeRecipe('GNU make', made.directory);
    await made.run('runner-exec -- true');
    const { code, out } = await made.run(made.files.get('trace') ?? '');
    expect(code).toBe(0);
    expect(out.match(/exit 0 +bash -euo pipefail -c 'echo "/g)).toHaveLength(2);
    expect(JSON.parse(readFileSync(join(made.directory, 'trace.json'), 'utf8')).traceEvents.length).toBeGreaterThan(4);
    await adopt(made);
  });
});

it('every recipe of docs/recipes.md is tried here', () => {
  expect([...done].sort()).toEqual([...readRecipes().keys()].sort());
});

/** The editor's side of JSON-RPC with Content-Length. */
class Editor {
  readonly #running: Running;
  #id = 0;
  #read = 0;

  constructor(running: Running) {
    this.#running = running;
  }

  tell(method: string, more: object = {}): void {
    const body = JSON.stringify({ jsonrpc: '2.0', method, ...more });
    this.#running.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  async ask(method: string, params: object): Promise<unknown> {
    this.tell(method, { id: ++this.#id, params });
    const answer = await expect
      .poll(() => this.#next(), { timeout: 20_000 })
      .toBeDefined()
      .then(() => this.#take());
    expect(answer).toMatchObject({ jsonrpc: '2.0', id: this.#id });
    return answer.result;
  }

  /** Where the next whole message lies. */
  #next(): { from: number; to: number } | undefined {
    const bytes = this.#running.stdout.subarray(this.#read);
    const end = bytes.indexOf('\r\n\r\n');
    if (end === -1) return undefined;
    const length = Number(/Content-Length: (\d+)/i.exec(bytes.toString('latin1', 0, end))?.[1]);
    return bytes.length < end + 4 + length ? undefined : { from: this.#read + end + 4, to: this.#read + end + 4 + length };
  }

  #take(): { id: number; result: unknown } {
    const place = this.#next();
    if (place === undefined) throw new Error('no message');
    this.#read = place.to;
    return JSON.parse(this.#running.stdout.toString('utf8', place.from, place.to));
  }
}
