// A project of every kind, with no word of configuration: its environment is entered by the first command, its functions are there as
// docs/config.md says, and when one of its inputs is edited, the next command enters it again. Tools that are to be had are real; the
// others are stand-ins with the command lines that their manuals give.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeNixProject, type NixProject } from '../fixtures/nix-project.js';
import { useHoldfast } from '../harness/holdfast.js';
import { needs } from '../harness/needs.js';

const holdfast = useHoldfast();
const PATIENCE_MS = 60_000;
const fixtures = join(import.meta.dirname, '../fixtures');

interface Kind {
  readonly files: Readonly<Record<string, string>>;
  /** Each made 'one' of some GREETING into 'two'. */
  readonly edits: readonly (readonly [file: string, text: string])[];
  /** `hello` is a function that nobody exported: does it arrive? */
  readonly functions: boolean;
}

const devenvNix = (greeting: string): string =>
  `{ ... }: {\n  imports = [ ./nix/more.nix ];\n  env.GREETING = "${greeting}";\n  enterShell = ''\n    hello() { echo "hello $GREETING"; }\n  '';\n}\n`;
const conda = (greeting: string): string => `export GREETING=${greeting}\nhello() { echo "hello $GREETING"; }\n`;

const STAND_INS: Readonly<Record<string, Kind>> = {
  devenv: {
    files: { 'devenv.nix': devenvNix('one'), 'nix/more.nix': '{ }', 'devenv.yaml': 'imports:\n  - ./other\n', 'other/devenv.nix': '{ }' },
    edits: [
      ['devenv.nix', devenvNix('two')],
      ['nix/more.nix', '{ env.MORE = "1"; }'],
      ['other/devenv.nix', '{ env.OTHER = "1"; }'],
    ],
    functions: true,
  },
  devbox: {
    files: { 'devbox.json': '{\n  "env": {\n    "GREETING": "one"\n  },\n  "init_hook": ["hello() { echo hello $GREETING; }"]\n}\n' },
    edits: [['devbox.json', '{\n  "env": {\n    "GREETING": "two"\n  }\n}\n']],
    functions: true,
  },
  flox: {
    files: {
      '.flox/env.json': '{}',
      '.flox/env/manifest.toml': '[vars]\nGREETING = "one"\n[profile]\nbash = \'hello() { echo hello $GREETING; }\'\n',
    },
    edits: [['.flox/env/manifest.toml', '[vars]\nGREETING = "two"\n[profile]\n']],
    functions: true,
  },
  mise: {
    files: { 'mise.toml': '[env]\nGREETING = "one"\n' },
    edits: [['mise.toml', '[env]\nGREETING = "two"\n']],
    functions: false,
  },
  pixi: {
    files: {
      'pixi.toml': '[activation.env]\nGREETING = "one"\n[activation]\nscripts = ["on.sh"]\n',
      'on.sh': 'hello() { echo "hello $GREETING"; }\n',
    },
    edits: [['pixi.toml', '[activation.env]\nGREETING = "two"\n']],
    functions: true,
  },
  guix: {
    files: { 'manifest.scm': '; GREETING=one\n(specifications->manifest (list "hello"))\n' },
    edits: [['manifest.scm', '; GREETING=two\n(specifications->manifest (list))\n']],
    functions: false,
  },
  conda: {
    files: { '.conda/conda-meta/history': '', '.conda/etc/conda/activate.d/on.sh': conda('one') },
    edits: [['.conda/etc/conda/activate.d/on.sh', conda('two')]],
    functions: true,
  },
};

function write(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
}

/** Stand-ins of these tools in front of PATH, and the tools alone. */
function withTools(...tools: string[]): Record<string, string> {
  const bin = holdfast.folder('bin');
  for (const tool of tools) {
    const folder = tool === 'devenv' ? 'devenv-stand-in' : 'stand-ins';
    symlinkSync(join(fixtures, folder, tool), join(bin, tool));
  }
  return { PATH: `${bin}:${holdfast.env['PATH']}` };
}

async function seen(cwd: string, env: Record<string, string>, script = 'echo $GREETING'): Promise<string> {
  const { code, stdout, stderr } = await holdfast.runnerExec(['--', 'bash', '-c', script], { cwd, env });
  return `${code} ${stdout}${stderr}`;
}

/** What an entry leaves in the agent: its pid. Another one means another entry. */
async function agentOf(directory: string): Promise<number> {
  return (await holdfast.adopt(directory)).pid;
}

/** The whole life of a project. @param inside where in it commands are run. */
async function live(directory: string, { edits, functions }: Kind, env: Record<string, string>, inside = directory): Promise<void> {
  const before = readdirSync(directory, { recursive: true }).sort();
  expect(await seen(inside, env)).toBe('0 one\n');
  expect(await seen(inside, env, 'hello 2>/dev/null || echo none')).toBe(functions ? '0 hello one\n' : '0 none\n');
  expect(readdirSync(directory, { recursive: true }).sort()).toEqual(before);
  for (const [file, text] of edits) {
    const agent = await agentOf(directory);
    write(directory, { [file]: text });
    expect(await seen(inside, env), file).toBe('0 two\n');
    expect(await agentOf(directory), file).not.toBe(agent);
  }
  const agent = await agentOf(directory);
  expect(await seen(inside, env)).toBe('0 two\n');
  expect(await agentOf(directory)).toBe(agent);
}

describe('a project of', { timeout: PATIENCE_MS }, () => {
  it.for(Object.keys(STAND_INS))('%s (a stand-in) is entered by the first command, and again after an edit', async (name) => {
    const kind = STAND_INS[name];
    if (kind === undefined) throw new Error(`no kind ${name}`);
    const directory = holdfast.folder('project');
    write(directory, { ...kind.files, 'deep/below/file': '' });
    const env = withTools(name === 'conda' ? 'micromamba' : name);
    await live(directory, kind, env, join(directory, 'deep/below'));
  });

  it('a package that is developed with guix names its guix.scm', async () => {
    const directory = holdfast.folder('project');
    write(directory, { 'guix.scm': '; GREETING=one\n' });
    await live(directory, { files: {}, edits: [['guix.scm', '; GREETING=two\n']], functions: false }, withTools('guix'));
  });

  it('conda names its environment in environment.yml', async () => {
    const directory = holdfast.folder('project');
    const prefix = join(holdfast.env['HOME'] ?? '', 'micromamba/envs');
    write(prefix, { 'left/conda-meta/x': '', 'left/etc/conda/activate.d/on.sh': conda('one') });
    write(prefix, { 'right/conda-meta/x': '', 'right/etc/conda/activate.d/on.sh': conda('two') });
    write(directory, { 'environment.yml': 'name: left\ndependencies: []\n' });
    const edits = [['environment.yml', 'name: "right"  # moved\n']] as const;
    await live(directory, { files: {}, edits, functions: true }, withTools('micromamba'));
    rmSync(prefix, { recursive: true });
  });

  it('mise itself is entered by the first command, and again after an edit', async (t) => {
    needs(t, 'mise');
    const directory = holdfast.folder('project');
    write(directory, { 'mise.toml': '[env]\nGREETING = "one"\n' });
    await live(directory, { files: {}, edits: [['mise.toml', '[env]\nGREETING = "two"\n']], functions: false }, { MISE_OFFLINE: '1' });
  });

  it('direnv is entered once it is allowed, and again when what it sources or watches changes', async (t) => {
    needs(t, 'direnv');
    const directory = holdfast.folder('project');
    write(directory, {
      '.envrc':
        'source_env sub/.envrc\nname=more; watch_file "$name.txt"\nexport GREETING=$(cat more.txt)\nhello() { echo "hello $GREETING"; }\n',
      'sub/.envrc': 'export SUB=1\n',
      'more.txt': 'one\n',
    });
    for (const each of [directory, join(directory, 'sub')]) await holdfast.run(['direnv', 'allow', each]);
    // By a name that only direnv knows, since a variable makes it.
    const edits = [['more.txt', 'two\n']] as const;
    await live(directory, { files: {}, edits, functions: false }, {});
    const agent = await agentOf(directory);
    write(directory, { 'sub/.envrc': 'export SUB=2\n' });
    await holdfast.run(['direnv', 'allow', join(directory, 'sub')]);
    expect(await seen(directory, {}, 'echo $SUB')).toBe('0 2\n');
    expect(await agentOf(directory)).not.toBe(agent);
    await holdfast.run(['direnv', 'deny', directory]);
    const denied = await holdfast.runnerExec(['--', 'true'], { cwd: directory });
    expect(denied.code).toBe(125);
    expect(`${denied.stderr}`).toContain(`; hint: once you have read that file: 'direnv allow ${directory}'; all that it said is in '`);
    await holdfast.run(['direnv', 'allow', directory]);
    expect(await seen(directory, {})).toBe('0 two\n');
    await agentOf(directory);
  });

  it('a Python virtual environment is entered by its own script', async (t) => {
    needs(t, 'python3');
    const directory = holdfast.folder('project');
    execFileSync('python3', ['-m', 'venv', '--without-pip', join(directory, '.venv')]);
    const { stdout } = await holdfast.runnerExec(['--', 'sh', '-c', 'echo $VIRTUAL_ENV; command -v python'], { cwd: directory });
    expect(`${stdout}`).toBe(`${directory}/.venv\n${directory}/.venv/bin/python\n`);
    expect(await seen(directory, {}, 'type -t deactivate')).toBe('0 function\n');
    const agent = await agentOf(directory);
    execFileSync('python3', ['-m', 'venv', '--without-pip', '--clear', '--prompt', 'other', join(directory, '.venv')]);
    expect(await seen(directory, {}, 'echo $VIRTUAL_ENV_PROMPT')).toMatch(/^0 .*other/);
    expect(await agentOf(directory)).not.toBe(agent);
  });
});

describe('a project of nix', { timeout: PATIENCE_MS }, () => {
  let made: NixProject[] = [];
  afterAll(() => {
    for (const each of made) each.remove();
    made = [];
  });

  it.for(['flake.nix', 'shell.nix'])('%s is entered by the first command, and again when the shell.nix changes', async (marker, t) => {
    needs(t, 'nix');
    const { directory, env, remove } = makeNixProject(holdfast.folder('nix'));
    made.push({ directory, env, remove });
    if (marker === 'shell.nix') rmSync(join(directory, 'flake.nix'));
    const shell = (greeting: string): string =>
      `derivation {\n  name = "tiny-dev"; system = "x86_64-linux"; outputs = [ "out" ];\n  builder = "/bin/bash"; args = [ "-c" "echo > $out" ];\n` +
      `  stdenv = ./stdenv; PATH = "/usr/local/bin:/usr/bin:/bin"; GREETING = "${greeting}";\n  shellHook = ''\n    hello() { echo "hello $GREETING"; }\n  '';\n}\n`;
    write(directory, { 'shell.nix': shell('one') });
    await live(directory, { files: {}, edits: [['shell.nix', shell('two')]], functions: true }, env);
  });
});

describe('an environment that cannot be entered', { timeout: PATIENCE_MS }, () => {
  const failed = async (files: Record<string, string>, ...tools: string[]): Promise<string> => {
    const directory = holdfast.folder('project');
    write(directory, files);
    const { code, stderr } = await holdfast.runnerExec(['--', 'true'], { cwd: directory, env: withTools(...tools) });
    expect(code).toBe(125);
    await holdfast.run(['rm', '-f', ...readdirSync(holdfast.runtimeDirectory).map((name) => join(holdfast.runtimeDirectory, name))]);
    return `${stderr}`;
  };

  it('says how to cure it, where its tool says what is wrong', async () => {
    expect(await failed({ 'mise.toml': '# untrusted\n' }, 'mise')).toMatch(
      /; hint: once you have read that file: 'mise trust \/.*'; all that it said/,
    );
    expect(await failed({ 'environment.yml': 'name: lost\n' }, 'micromamba')).toMatch(
      /prefix does not exist.*; hint: make the environment first: 'conda env create --file environment.yml'; all/,
    );
    expect(await failed({ 'environment.yml': 'dependencies: []\n' }, 'micromamba')).toMatch(
      /environment\.yml' does not tell which environment it is; hint: give it a 'name:'/,
    );
    expect(await failed({ 'environment.yml': 'name: here\n' })).toMatch(
      /none of micromamba, conda, mamba is on the PATH; hint: install one/,
    );
    expect(await failed({ 'pixi.toml': '' })).toMatch(/; hint: install 'pixi', or put it on the PATH; all that it said/);
    expect(await failed({ 'guix.scm': '' })).toMatch(/cannot start the launcher 'guix': not found on PATH; hint: install it/);
  });
});
