// Real environments held open: what a command sees in them is what it would see after entering them by hand.

import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { makeNixProject, type NixProject } from '../fixtures/nix-project.js';
import { eventually } from '../harness/eventually.js';
import { programs, useHoldfast } from '../harness/holdfast.js';
import { needs } from '../harness/needs.js';
import type { RunOptions } from '../harness/running.js';
import type { Session } from '../harness/session.js';
import { Terminal } from '../harness/terminal.js';

const holdfast = useHoldfast();
const devenvFolder = join(dirname(fileURLToPath(import.meta.url)), '../fixtures/devenv-stand-in');

/** `holdfast open ARGS…`, silent, and its session taken in. `name`: what the session is called. */
async function openAs(name: string, args: readonly string[], options: RunOptions = {}): Promise<Session> {
  const { code, stdout, stderr } = await holdfast.holdfast(['open', ...args], options);
  expect({ code, stdout: `${stdout}`, stderr: `${stderr}` }).toEqual({ code: 0, stdout: '', stderr: '' });
  return await holdfast.adopt(name);
}

/** A folder with these files. */
function project(files: Record<string, string>): string {
  const directory = holdfast.folder('project');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  return directory;
}

function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true }).map(String).sort();
}

describe('a nix flake', () => {
  let made: NixProject | undefined;
  const nix = (): NixProject => (made ??= makeNixProject(holdfast.folder('nix')));
  afterAll(() => made?.remove());

  it('is entered by its project, with variables and functions of its hook', async (t) => {
    needs(t, 'nix');
    const { directory, env } = nix();
    const before = filesIn(directory);
    const first = await holdfast.runnerExec(['--', 'sh', '-c', 'echo $GREETING $HOOKVAR'], { cwd: directory, env });
    expect(first).toMatchObject({ code: 0, stdout: Buffer.from('from-derivation from-hook\n'), stderr: Buffer.alloc(0) });

    const session = await holdfast.adopt(directory);
    // Not exported by the hook: by hand they live in the shell alone.
    expect(await session.output(['bash', '-c', 'greet you; declare -F my-build'])).toBe('greet:you:from-hook\nmy-build\n');
    expect(await session.exec(['bash', '-c', 'my-build a "b c"'])).toMatchObject({ code: 3, stdout: Buffer.from('my-build:a b c\n') });
    expect(await session.exec(['sh', '-c', 'exit 9'])).toMatchObject({ code: 9 });
    expect(filesIn(directory)).toEqual(before);
  });

  it('gives its commands the variables that it gives by hand', async (t) => {
    needs(t, 'nix');
    const { directory, env } = nix();
    const session = await openAs(directory, [], { cwd: directory, env });
    const byHand = await holdfast.run(['nix', 'develop', '--command', 'env', '-0'], {
      cwd: directory,
      env: { ...env, HOLDFAST_RUNTIME_DIR: undefined },
    });
    // What differs by nature: where nix has its temporary files, and that functions are exported.
    const comparable = (block: string): string[] =>
      block
        .split('\0')
        .filter((pair) => !/^((NIX_BUILD_TOP|TMP|TEMP|TMPDIR|TEMPDIR|_|PWD|OLDPWD)=|BASH_FUNC_)/.test(pair))
        .sort();
    const banner = 'welcome to tiny-dev\n';
    expect(byHand.stdout.toString()).toContain(banner);
    expect(comparable(await session.output(['env', '-0']))).toEqual(comparable(byHand.stdout.toString().replace(banner, '')));
  });

  it.for(['nix-develop', 'nix-print-dev-env', 'nix-shell'])("is entered by the provider '%s'", async (provider, t) => {
    needs(t, 'nix');
    const { directory, env } = nix();
    const session = await openAs('nix', ['nix', '--provider', provider], { cwd: directory, env });
    expect(await session.output(['bash', '-c', 'greet $GREETING; type -t my-build'])).toBe('greet:from-derivation:from-hook\nfunction\n');
    const { stdout } = await holdfast.holdfast(['logs', 'nix']);
    expect(`${stdout}`).toContain('welcome to tiny-dev\n');
  });
});

describe('direnv', () => {
  const envrc = 'export FROM_ENVRC=yes\nhello() { echo "hello $1"; }\nexport -f hello\necho "loading things" >&2\n';

  it('holds what an allowed .envrc exports', async (t) => {
    needs(t, 'direnv');
    const directory = project({ '.envrc': envrc });
    expect(await holdfast.run(['direnv', 'allow', directory])).toMatchObject({ code: 0 });
    const first = await holdfast.runnerExec(['--', 'printenv', 'FROM_ENVRC'], { cwd: directory });
    expect(first).toMatchObject({ code: 0, stdout: Buffer.from('yes\n'), stderr: Buffer.alloc(0) });
    const session = await holdfast.adopt(directory);
    expect(await session.output(['bash', '-c', 'hello you'])).toBe('hello you\n');
  });

  it('that has not allowed the .envrc is an error that says how to', async (t) => {
    needs(t, 'direnv');
    const directory = project({ '.envrc': envrc });
    const { code, stdout, stderr } = await holdfast.runnerExec(['--', 'true'], { cwd: directory });
    expect({ code, stdout: `${stdout}` }).toEqual({ code: 125, stdout: '' });
    expect(`${stderr}`).toMatch(/^runner-exec: cannot open the session of '.*\.envrc is blocked\. Run `direnv allow` .*; hint: .*\n$/);
  });
});

describe('a sourced script', () => {
  it('may break node for the whole environment: the agent is not touched', async () => {
    const directory = project({ 'lib/libstdc++.so.6': 'no library', 'lib/libdl.so.2': 'nor this', 'lib/libm.so.6': 'nor that' });
    writeFileSync(
      join(directory, 'env.sh'),
      `export LD_LIBRARY_PATH=${directory}/lib NODE_OPTIONS=--no-such-option LD_PRELOAD=/no/such/preload.so\nplain() { echo plain; }\n`,
    );
    const session = await openAs('sdk', ['sdk', '--source', join(directory, 'env.sh')]);
    const { stdout, stderr } = await session.exec(['printenv', 'LD_LIBRARY_PATH', 'NODE_OPTIONS', 'LD_PRELOAD']);
    expect(`${stdout}`).toBe(`${directory}/lib\n--no-such-option\n/no/such/preload.so\n`);
    // The dynamic loader's own words, which come by hand as well.
    expect(`${stderr}`).toMatch(/^(ERROR: ld\.so: .*preload\.so.*\n)+$/);
    expect(await session.exec(['node', '--version'])).toMatchObject({ code: 127 });
    expect(await session.exec(['bash', '-c', 'plain'])).toMatchObject({ code: 0, stdout: Buffer.from('plain\n') });
    expect(await session.status()).toMatchObject({ state: 'serving' });
  });

  it('sees its own path, and its status is not judged', async () => {
    const directory = project({ 'env.sh': 'export WHERE=${BASH_SOURCE[0]} COUNT=$#\nfalse\n' });
    const session = await openAs('sdk', ['sdk', '--source', 'env.sh'], { cwd: directory });
    expect(await session.output(['sh', '-c', 'echo $WHERE $COUNT'])).toBe(`${directory}/env.sh 0\n`);
  });
});

// devenv itself is not to be had in CI: test/fixtures/devenv-stand-in has its shape.
describe('devenv', () => {
  const nixFile = `{
  env.GREETING = "from devenv";
  enterShell = ''
    export HOOKVAR=from-hook
    greet() { echo "greet:$1:$HOOKVAR"; }
    odd() { printf '%s\\n' "it's odd"; }
  '';
}
`;
  const env = (): Record<string, string> => ({ PATH: `${devenvFolder}:${holdfast.env.PATH}` });

  it.for(['devenv', 'devenv-print-dev-env'])("is entered by the provider '%s'", async (provider) => {
    const directory = project({ 'devenv.nix': nixFile });
    const session = await openAs('dev', ['dev', '--provider', provider], { cwd: directory, env: env() });
    expect(await session.output(['bash', '-c', 'echo $GREETING $DEVENV_ROOT; greet you; odd'])).toBe(
      `from devenv ${directory}\ngreet:you:from-hook\nit's odd\n`,
    );
    expect((await session.output(['printenv', 'PATH'])).split(':')[0]).toBe(`${directory}/.devenv/profile/bin`);
  });

  it('is entered by the first command, which shows the entry on a terminal', async () => {
    const directory = project({ 'devenv.nix': `# slow entry: 0.5\n${nixFile}` });
    const before = filesIn(directory);
    const terminal = new Terminal([programs.runnerExec, '--', 'printenv', 'GREETING'], {
      cwd: directory,
      env: { ...holdfast.env, ...env() },
    });
    try {
      await terminal.sees(/holdfast: entering '.*project-\d+' \d+\.\d s\S*: • Building shell \.\.\./);
      const { code, text } = await terminal.ended();
      expect(code).toBe(0);
      // The line of progress is wiped before the command writes.
      expect(text).toMatch(/\r\x1b\[Kfrom devenv\r\n$/);
    } finally {
      terminal.close();
    }
    await holdfast.adopt(directory);
    expect(filesIn(directory)).toEqual(before);
  });

  it('that refuses is an error with its last words, and leaves nothing', async () => {
    const directory = project({ 'devenv.nix': nixFile });
    const broken = holdfast.program('devenv', '#!/bin/sh\necho evaluating >&2\necho "error: unexpected }" >&2\nexit 1\n');
    const { code, stderr } = await holdfast.runnerExec(['--', 'true'], {
      cwd: directory,
      env: { PATH: `${dirname(broken)}:${holdfast.env.PATH}` },
    });
    expect(code).toBe(125);
    expect(`${stderr}`).toMatch(/^runner-exec: .*ended with status 1 .*unexpected \}.*; hint: .*\n$/);
  });
});

describe('a launcher', () => {
  it('may print, trap and be strict; none of it reaches a command', async () => {
    const session = await holdfast.open('loud', {
      script: "set -euo pipefail\ntrap 'echo ret' RETURN\ntrap 'echo err' ERR\nPS4=noise; echo banner; echo banner >&2; export MARK=in",
    });
    expect(await session.exec(['printenv', 'MARK'])).toMatchObject({ code: 0, stdout: Buffer.from('in\n'), stderr: Buffer.alloc(0) });
    const { stdout } = await holdfast.holdfast(['logs', 'loud']);
    expect(`${stdout}`).toMatch(/^banner\nbanner\n/);
  });

  it('sees no variable of its caller, and gives its own as bytes', async () => {
    const session = await holdfast.open('bytes', {
      script: `export RAW=$'\\xff\\xfe=\\n' EMPTY= MULTI=$'one\\nTWO=x\\n'`,
      env: { GOFLAGS: '-mod=mod', NODE_OPTIONS: '--no-warnings', SECRET: 's' },
    });
    const { stdout } = await session.exec(['env', '-0']);
    const pairs = stdout.toString('latin1').split('\0');
    expect(pairs).toEqual(expect.arrayContaining(['RAW=\xff\xfe=\n', 'EMPTY=', 'MULTI=one\nTWO=x\n']));
    expect(
      pairs.filter((pair) => /^(GOFLAGS|NODE_OPTIONS|SECRET|HOLDFAST_\w+|BASH_ENV|NOTIFY_SOCKET|TWO|SHLVL=.*\d\d)=/.test(pair)),
    ).toEqual([]);
  });

  it('hands on functions of any name and body, unexported', async () => {
    const bodies = {
      'my-fn': 'echo hyphen',
      'a.b:c+d@e,f': 'echo "$#"',
      größe: 'echo groß',
      '%': 'echo percent',
      heredoc: 'cat <<E\nPATH=nowhere\n}\n_private () {\nE',
      quotes: `echo "it's" '"' \\$x $'a\\tb' "\${v:-'}'}"`,
      subshell: '( exit 7 )',
      branches: 'case $1 in a) echo A;; *) echo other;; esac',
      redirected: '{ echo to stderr; } >&2',
    };
    const definitions = Object.entries(bodies).map(([name, body]) => `function ${name} {\n${body}\n}\n`);
    const declarations = Object.keys(bodies).map((name) => `declare -f -- '${name}'; `);
    const declared = join(holdfast.folder(), 'declared');
    const session = await holdfast.open('functions', {
      script: `shopt -s extglob\n${definitions.join('')}glob() { [[ $1 == @(a|b) ]] && echo match; }\n{ ${declarations.join('')} } >'${declared}'`,
    });
    expect(await session.output(['bash', '-c', declarations.join('')])).toBe(readFileSync(declared, 'utf8'));
    expect(await session.output(['bash', '-c', 'a.b:c+d@e,f 1 2; heredoc | head -n1; glob b; subshell; echo $?'])).toBe(
      '2\nPATH=nowhere\nmatch\n7\n',
    );
    // A shell that knows nothing of such names is not disturbed by them.
    expect(await session.output(['dash', '-c', 'echo fine'])).toBe('fine\n');
  });
});

function toml(mark: string): string {
  return `[session]\nlauncher = ["env", "MARK=${mark}"]\n`;
}

describe('a project', () => {
  it('is the nearest one: a nested project wins', async () => {
    const outer = project({
      'holdfast.toml': toml('outer'),
      'sub/other/file': '',
      'sub/inner/holdfast.toml': toml('inner'),
      'sub/inner/deep/file': '',
    });
    const mark = async (cwd: string): Promise<string> => {
      const { code, stdout, stderr } = await holdfast.runnerExec(['--', 'sh', '-c', 'echo $MARK $PWD'], { cwd });
      return `${code} ${stdout}${stderr}`;
    };
    expect(await mark(`${outer}/sub/other`)).toBe(`0 outer ${outer}/sub/other\n`);
    expect(await mark(`${outer}/sub/inner/deep`)).toBe(`0 inner ${outer}/sub/inner/deep\n`);
    await holdfast.adopt(outer);
    await holdfast.adopt(`${outer}/sub/inner`);
  });

  it('is entered once by eight first commands at once', async () => {
    const log = join(holdfast.folder(), 'entered');
    const directory = project({ 'holdfast.toml': '[session]\nlauncher = ["./enter"]\n' });
    copyFileSync(holdfast.program('enter', `#!/bin/sh\necho entered >>'${log}'\nexec "$@"\n`), join(directory, 'enter'));
    const all = await Promise.all(Array.from({ length: 8 }, (_, i) => holdfast.runnerExec(['--', 'echo', `${i}`], { cwd: directory })));
    expect(all.map(({ code, stdout, stderr }) => `${code} ${stdout}${stderr}`)).toEqual(all.map((_, i) => `0 ${i}\n`));
    await holdfast.adopt(directory);
    expect(readFileSync(log, 'utf8')).toBe('entered\n');
  });

  it('is entered when HOLDFAST_SESSION is empty, and not when it names another', async () => {
    const directory = project({ 'holdfast.toml': toml('here') });
    await holdfast.open('other', { script: 'export MARK=other' });
    const mark = async (env: Record<string, string> = {}): Promise<string> =>
      `${(await holdfast.runnerExec(['--', 'printenv', 'MARK'], { cwd: directory, env })).stdout}`;
    expect(await mark()).toBe('here\n');
    expect(await mark({ HOLDFAST_SESSION: 'other' })).toBe('other\n');
    expect(await mark({ HOLDFAST_SESSION: '' })).toBe('here\n');
    await holdfast.adopt(directory);
  });
});

describe('a run inside a run', () => {
  it('is served like any other, in the same session and in another', async () => {
    const outer = await holdfast.open('outer', { script: 'export MARK=outer' });
    await holdfast.open('inner', { script: 'export MARK=inner' });
    const inside = (session: string): string => `'${programs.runnerExec}' --session ${session} -- sh -c 'echo $MARK; cat; exit 4'`;
    for (const name of ['outer', 'inner']) {
      const ended = await outer.exec(['sh', '-c', `echo $MARK; echo text | ${inside(name)}; echo $?`], {
        flags: ['--pass-env', 'HOLDFAST_RUNTIME_DIR'],
      });
      expect(ended).toMatchObject({ code: 0, stdout: Buffer.from(`outer\n${name}\ntext\n4\n`), stderr: Buffer.alloc(0) });
    }
  });

  it('that opens a session of its own: that belongs to the outer one, and ends with it', async () => {
    const outer = await holdfast.open('outer');
    const directory = project({ 'holdfast.toml': toml('nested') });
    const flags = ['--pass-env', 'HOLDFAST_RUNTIME_DIR'];
    const nested = await outer.exec([programs.runnerExec, '--', 'printenv', 'MARK'], { cwd: directory, flags });
    expect(nested).toMatchObject({ code: 0, stdout: Buffer.from('nested\n'), stderr: Buffer.alloc(0) });
    const session = await holdfast.adopt(directory);
    expect(await session.output(['printenv', 'MARK'])).toBe('nested\n');

    await outer.close();

    await eventually(() => expect(session.processes()).toEqual([]));
    const again = await holdfast.runnerExec(['--', 'printenv', 'MARK'], { cwd: directory });
    expect(again).toMatchObject({ code: 0, stdout: Buffer.from('nested\n'), stderr: Buffer.alloc(0) });
    await holdfast.adopt(directory);
  });
});
