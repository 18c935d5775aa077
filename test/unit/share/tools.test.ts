// Pins the entry through real tools, and through the devenv stand-in: functions that nobody exported reach the shim.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { launchArgv } from '../../../src/session/launch-command.js';
import { enterProvider } from '../../../src/session/launchers/providers.js';
import { needs } from '../../harness/needs.js';
import { type Entered, launchEnvironment, run, SHIM, scratch, share } from './entry.js';

function through(provider: string, directory: string, env: Record<string, string> = {}): Entered {
  const { launch } = enterProvider(provider, directory);
  return run(
    launchArgv(launch, directory, SHIM, share),
    launch.style.startsWith('source') ? env : { ...launchEnvironment(), ...env },
    directory,
  );
}

describe('devenv (stand-in)', () => {
  const path = `${fileURLToPath(new URL('../../fixtures/devenv-stand-in', import.meta.url))}:/usr/bin:/bin`;
  const project = (): string => {
    const directory = scratch();
    writeFileSync(
      join(directory, 'devenv.nix'),
      `{ pkgs, ... }: {\n  env.GREETING = "it is devenv";\n  enterShell = ''\n    greet() { echo "hi '$1' $GREETING"; }\n    my-fn() { echo hyphen; }\n  '';\n}\n`,
    );
    return directory;
  };

  it.each(['devenv', 'devenv-print-dev-env'])('%s gives variables and functions', (provider) => {
    const directory = project();
    const entered = through(provider, directory, { PATH: path });
    expect(entered.environment).toMatchObject({ GREETING: 'it is devenv', DEVENV_ROOT: directory });
    expect(entered.bash('greet you; my-fn')).toBe("hi 'you' it is devenv\nhyphen\n");
    expect(entered.stderr).toContain('Building shell in 0s\n');
  });

  it.each(['devenv', 'devenv-print-dev-env'])('%s fails where there is no project', (provider) => {
    const entered = through(provider, scratch(), { PATH: path });
    expect(entered).toMatchObject({ status: 1, environment: undefined });
    expect(entered.stderr).toContain('devenv.nix does not exist');
  });
});

describe('direnv', () => {
  it('gives variables, and the functions that .envrc exports', (test) => {
    needs(test, 'direnv');
    const directory = scratch();
    writeFileSync(join(directory, '.envrc'), 'export A=1\ngreet() { echo "hi $1"; }\nexport -f greet\nunseen() { :; }\n');
    const home = { HOME: directory, DIRENV_LOG_FORMAT: '' };
    const before = through('direnv', directory, home);
    expect(before).toMatchObject({ status: 1, environment: undefined });
    expect(before.stderr).toContain('direnv allow');
    spawnSync('direnv', ['allow', directory], { env: { PATH: process.env['PATH'] ?? '', ...home } });
    const entered = through('direnv', directory, home);
    expect(entered.environment).toMatchObject({ A: '1' });
    expect(entered.bash('greet you')).toBe('hi you\n');
    // Its own library of functions is no part of the environment.
    expect(Object.keys(entered.environment ?? {}).filter((name) => name.startsWith('BASH_FUNC_'))).toEqual(['BASH_FUNC_greet%%']);
  });
});

describe('nix', () => {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-nix-'));
  const world = nixWorld(directory);
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it.for(['nix-develop', 'nix-print-dev-env', 'nix-shell'])('%s gives what the shellHook makes, exported or not', (provider, test) => {
    needs(test, 'nix');
    const entered = through(provider, world.project, world.env);
    expect(entered.environment, entered.stderr).toMatchObject({ GREETING: 'from-derivation', HOOKVAR: 'from-hook' });
    expect(entered.bash('greet x; my-fn; tricky')).toBe('greet:x:from-hook\nhyphen\nPATH=nowhere\n}\n\n_private () {\n');
  });

  it.for(['nix-develop', 'nix-shell'])('%s fails with its own words where there is no project', (provider, test) => {
    needs(test, 'nix');
    const entered = through(provider, scratch(), world.env);
    expect(entered.environment).toBeUndefined();
    expect(entered.stderr).toMatch(/flake\.nix|shell\.nix|default\.nix/);
  });
});

/** A flake that needs neither network nor nixpkgs; a sealed one stands in for those. */
function nixWorld(directory: string): { env: Record<string, string>; project: string } {
  const project = join(directory, 'proj');
  const nixpkgs = join(directory, 'nixpkgs');
  mkdirSync(join(project, 'stdenv'), { recursive: true });
  mkdirSync(nixpkgs);
  const registry = { version: 2, flakes: [{ from: { type: 'indirect', id: 'nixpkgs' }, to: { type: 'path', path: nixpkgs } }] };
  writeFileSync(join(directory, 'registry.json'), JSON.stringify(registry));
  // Nix 2.8 loses a builder that ends in an external program: hence the final `:`.
  const bash =
    'derivation { name = "bash-interactive"; system = "x86_64-linux"; outputs = [ "out" ]; builder = "/bin/bash"; PATH = "/usr/bin:/bin"; args = [ "-c" "mkdir -p $out/bin; ln -s /bin/bash $out/bin/bash; :" ]; }';
  writeFileSync(join(nixpkgs, 'flake.nix'), `{ outputs = { self }: { legacyPackages.x86_64-linux.bashInteractive = ${bash}; }; }`);
  writeFileSync(join(nixpkgs, 'default.nix'), `{ ... }: { bashInteractive = ${bash}; }`);
  writeFileSync(
    join(project, 'shell.nix'),
    `derivation {
  name = "tiny-dev"; system = "x86_64-linux"; outputs = [ "out" ];
  builder = "/bin/bash"; args = [ "-c" "echo > $out" ];
  stdenv = ./stdenv; PATH = "/usr/local/bin:/usr/bin:/bin"; GREETING = "from-derivation";
  shellHook = ''
    export HOOKVAR=from-hook
    greet() { echo "greet:$1:$HOOKVAR"; }
    my-fn() { echo hyphen; }
    tricky() {
cat <<X
PATH=nowhere
}

_private () {
X
}
  '';
}
`,
  );
  writeFileSync(join(project, 'flake.nix'), '{ outputs = { self }: { devShells.x86_64-linux.default = import ./shell.nix; }; }');
  writeFileSync(join(project, 'stdenv', 'setup'), 'runHook() { eval "${!1:-}"; }');
  const config = `substituters =\nsandbox = false\nbuild-users-group =\nflake-registry = ${directory}/registry.json`;
  return { project, env: { NIX_CONFIG: config, NIX_PATH: `nixpkgs=${nixpkgs}`, HOME: directory } };
}
