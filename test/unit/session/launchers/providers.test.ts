import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PROJECT_MARKERS } from '../../../../src/client/locate.js';
import { findCure } from '../../../../src/session/launch-cure.js';
import { enterProvider, PROVIDER_NAMES, providerInputs, providerOf } from '../../../../src/session/launchers/providers.js';
import { toldInputs } from '../../../../src/session/told-inputs.js';

function project(files: Record<string, string>): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-providers-')));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text, { mode: 0o755 });
  }
  return directory;
}

/** With a PATH on which only these programs are. */
function withPrograms(...names: string[]): void {
  const before = process.env['PATH'];
  process.env['PATH'] = project(Object.fromEntries(names.map((name) => [name, '#!/bin/sh\n'])));
  onTestFinished(() => {
    process.env['PATH'] = before;
  });
}

describe('providers', () => {
  it('know how each known file is entered', () => {
    for (const marker of PROJECT_MARKERS) {
      if (marker !== 'holdfast.toml') expect(PROVIDER_NAMES, marker).toContain(providerOf(marker));
    }
    const launch = (name: string): unknown => enterProvider(name, '/p').launch;
    expect(launch('nix-shell')).toEqual({ style: 'enter-string', argv: ['nix-shell', '--run'] });
    expect(launch('direnv')).toEqual({ style: 'enter', argv: ['direnv', 'exec', '/p'] });
    expect(launch('devenv')).toEqual({ style: 'enter', argv: ['devenv', 'shell', '--'] });
    expect(launch('guix')).toEqual({ style: 'enter', argv: ['guix', 'shell', '-D', '-f', 'guix.scm', '--'] });
    expect(launch('venv')).toEqual({ style: 'source', script: '/p/.venv/bin/activate' });
    for (const name of PROVIDER_NAMES) expect(providerInputs(name).length, name).toBeGreaterThan(0);
  });

  it('that are unknown are refused with the list of those that are known', () => {
    expect(() => enterProvider('vagrant', '/p')).toThrow("unknown provider 'vagrant'");
  });

  it('of Guix and Python choose by what is there', () => {
    expect(enterProvider('guix', project({ 'manifest.scm': '', 'guix.scm': '' })).launch).toMatchObject({
      argv: ['guix', 'shell', '-m', 'manifest.scm', '--'],
    });
    const directory = project({ 'venv/bin/activate': '' });
    expect(enterProvider('venv', directory).launch).toEqual({ style: 'source', script: `${directory}/venv/bin/activate` });
  });
});

describe('conda', () => {
  const argv = (directory: string): unknown => {
    const { launch } = enterProvider('conda', directory);
    return 'argv' in launch ? launch.argv : undefined;
  };

  it('is entered by the first of its tools that is there', () => {
    const directory = project({ 'environment.yml': 'name: web # ours\nchannels: [x]\n' });
    withPrograms('mamba');
    expect(argv(directory)).toEqual(['mamba', 'shell', 'activate', '--shell', 'bash', 'web']);
    withPrograms('mamba', 'conda');
    expect(argv(directory)).toEqual(['conda', 'shell.posix', 'activate', 'web']);
    withPrograms('mamba', 'conda', 'micromamba');
    expect(argv(directory)).toEqual(['micromamba', 'shell', 'activate', '--shell', 'bash', 'web']);
    withPrograms();
    expect(() => argv(directory)).toThrow('none of micromamba, conda, mamba is on the PATH');
  });

  it.each([
    ['name: "a b"\n', 'a b'],
    ["channels:\n  - name: no\nname: 'yes'\n", 'yes'],
    ['prefix: /opt/env\n', '/opt/env'],
    ['# name: no\nprefix: relative\n', undefined],
    ['dependencies: []\n', undefined],
  ])('takes its environment from %j', (yaml, name) => {
    withPrograms('conda');
    const directory = project({ 'environment.yml': yaml });
    if (name === undefined) expect(() => argv(directory)).toThrow('does not tell which environment it is');
    else expect(argv(directory)).toEqual(['conda', 'shell.posix', 'activate', name]);
  });

  it('takes the environment in the project first', () => {
    withPrograms('conda');
    const directory = project({ 'environment.yml': 'name: web', 'env/conda-meta/history': '' });
    expect(argv(directory)).toEqual(['conda', 'shell.posix', 'activate', `${directory}/env`]);
  });
});

describe('direnv', () => {
  it('is known to depend on what its file names in plain words', () => {
    const top = project({
      '.envrc': 'export TOP=1',
      'p/.envrc':
        'source_up\n  source_env ./sub\nsource_env_if_exists "../other/.envrc"\ndotenv\ndotenv_if_exists .env.local\nwatch_file a b/c "$x" *.nix\n# watch_file no\necho watch_file no\n',
      'p/sub/.envrc': 'watch_file deep\nsource_env ..\n',
    });
    expect(enterProvider('direnv', join(top, 'p')).inputs).toEqual([
      '.envrc',
      '.env',
      '.tool-versions',
      join(top, '.envrc'),
      'sub/.envrc',
      'sub/deep',
      join(top, 'other/.envrc'),
      '.env.local',
      'a',
      'b/c',
    ]);
  });

  const told = (list: unknown): string[] =>
    toldInputs(new Map([['DIRENV_WATCHES', deflateSync(JSON.stringify(list)).toString('base64url')]]));

  it('tells once it is entered, in the words of old and new versions', () => {
    expect(told([{ Path: '/p/.envrc', Modtime: 1, Exists: true }, { Path: '/p/gone' }])).toEqual(['/p/.envrc', '/p/gone']);
    expect(told([{ path: '/p/é', modtime: 1, exists: true }, { path: 'relative' }])).toEqual(['/p/é']);
  });

  it('that tells nonsense is not believed', () => {
    for (const list of [{}, [1], [{ Modtime: 1 }], 'x']) expect(told(list)).toEqual([]);
    for (const text of ['', '!', 'eJw', Buffer.from('x').toString('base64url')]) {
      expect(toldInputs(new Map([['DIRENV_WATCHES', text]])), text).toEqual([]);
    }
    const huge = deflateSync(Buffer.alloc(64 * 1024 * 1024)).toString('base64url');
    expect(toldInputs(new Map([['DIRENV_WATCHES', huge]]))).toEqual([]);
    expect(toldInputs(new Map())).toEqual([]);
  });
});

describe('a cure', () => {
  it.each([
    [
      'direnv: error /p q/.envrc is blocked. Run `direnv allow` to approve its content',
      "once you have read that file: 'direnv allow /p q'",
    ],
    ['mise ERROR Config files in /p are not trusted.', "once you have read that file: 'mise trust /p'"],
    ['error: Path \'flake.nix\' in the repository "/p" is not tracked by Git.', "nix sees only what git knows: 'git add flake.nix'"],
    [
      'EnvironmentNameNotFound: Could not find conda environment: x',
      "make the environment first: 'conda env create --file environment.yml'",
    ],
    ['/x/source-command.bash: line 5: pixi: command not found', "install 'pixi', or put it on the PATH"],
    ["/p/env.sh: line 2: syntax error near unexpected token `$'{\\r''", 'its lines end in CR LF: save it with LF alone'],
    ['/p/env.sh: line 3: syntax error: unexpected end of file', 'correct the script: bash cannot read it to its end'],
    [
      '/x/enter.bash: line 10: /x/runner-exec: Argument list too long',
      'a variable is over 128 KiB, or all of them are too much for the kernel: unset what is not needed',
    ],
    ['error: attribute missing', undefined],
  ])('for %j', (said, cure) => {
    expect(findCure(['first', said, 'last'])).toBe(cure);
  });
});
