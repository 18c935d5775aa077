import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { importsOf } from '../../../../src/session/launchers/devenv.js';
import { localInputs } from '../../../../src/session/launchers/nix-develop.js';
import { pathsInNix, relativePaths } from '../../../../src/session/launchers/nix-paths.js';
import { enterProvider } from '../../../../src/session/launchers/providers.js';

function project(files: Record<string, string>): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-nix-paths-')));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  return directory;
}

describe('relative paths in Nix code', () => {
  it.each([
    ['{ imports = [ ./a.nix ../b/c.nix (import ./d) ]; }', ['./a.nix', '../b/c.nix', './d']],
    ['import ./x-y_z+1.nix { inherit pkgs; }', ['./x-y_z+1.nix']],
    ['readFile ./VERSION;src=./src;', ['./VERSION', './src']],
    ['# ./comment.nix\n/* ./block.nix\n ./too */ ./real.nix', ['./real.nix']],
    ['"./in-a-string" + ./outside', ['./outside']],
    ["''\n  source ./in-a-hook\n  ''${./escaped} ''' ./still\n'' ./after", ['./after']],
    ["\"${./put-in.sh} ./not\" ''cat ${../in}''", ['./put-in.sh', '../in']],
    ['a/./b /etc/../x ~/./y <nixpkgs/./z> https://x/../y', []],
    ['./. + "/x"', []],
    ['"\\"./no" ./yes', ['./yes']],
  ])('%j', (code, paths) => {
    expect(relativePaths(code)).toEqual(paths);
  });

  it('are followed from file to file, round and round but once', () => {
    const directory = project({
      'a.nix': 'import ./b.nix + import ./dir + readFile ./text',
      'b.nix': 'import ./a.nix + ./missing.nix',
      'dir/default.nix': 'import ../c.nix',
      'c.nix': '',
      text: './d.nix',
      'd.nix': '',
    });
    const found = [...pathsInNix([join(directory, 'a.nix')])].map((path) => relative(directory, path));
    expect(found).toEqual(['a.nix', 'b.nix', 'dir/default.nix', 'text', 'c.nix']);
  });

  it('end somewhere', () => {
    const many = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`${i}.nix`, `./${i + 1}.nix`]));
    expect(pathsInNix([join(project(many), '0.nix')]).size).toBe(256);
  });
});

describe('imports of devenv.yaml', () => {
  it.each([
    [
      'imports:\n  - ./frontend\n  - ../shared # ours\n  - input/dir\n  - "./quoted"\nallowUnfree: true\n',
      ['./frontend', '../shared', './quoted'],
    ],
    ['inputs:\n  x:\n    url: path:./x\nimports:\n- ./a\n\n# note\n- ./b\n', ['./a', './b']],
    ["imports: [./a, '../b', c]\n", ['./a', '../b']],
    ['#imports:\n# - ./backend\n', []],
    ['imports:\n', []],
    ['', []],
  ])('%j', (yaml, paths) => {
    expect(importsOf(yaml)).toEqual(paths);
  });

  it('count with all that they are made of', () => {
    const directory = project({
      'devenv.nix': '{ imports = [ ./more.nix ]; }',
      'more.nix': '',
      'devenv.yaml': 'inputs:\n  tools:\n    url: path:./tools\nimports:\n  - ./other\n',
      'tools/flake.nix': '',
      'other/devenv.nix': '{ imports = [ ./deep.nix ]; }',
      'other/devenv.yaml': 'imports:\n  - ../third\n  - ..\n',
      'other/deep.nix': '',
      'third/devenv.nix': '',
    });
    const more = enterProvider('devenv', directory).inputs.slice(5);
    expect(more.sort()).toEqual([
      'more.nix',
      'other/deep.nix',
      'other/devenv.nix',
      'other/devenv.yaml',
      'third/devenv.nix',
      'tools/flake.nix',
    ]);
  });
});

describe('local inputs of a flake', () => {
  it('are read in their two forms', () => {
    const flake = 'inputs.a.url = "path:./tools?dir=x"; inputs = { b = { url = "../b"; }; c.url = "github:x/y"; d.url = "path:/abs"; };';
    expect(localInputs(flake)).toEqual(['./tools', '../b']);
  });

  it('count with their locks, and a flake that is its own', () => {
    const directory = project({
      'flake.nix': '{ inputs.t.url = "path:./tools"; inputs.self.url = "path:./."; outputs = import ./out.nix; }',
      'out.nix': '',
      'tools/flake.nix': '{ outputs = import ./out.nix; }',
      'tools/out.nix': '',
    });
    expect(enterProvider('nix-develop', directory).inputs).toEqual([
      'flake.nix',
      'flake.lock',
      'out.nix',
      'tools/flake.nix',
      'tools/out.nix',
      'tools/flake.lock',
    ]);
  });
});
