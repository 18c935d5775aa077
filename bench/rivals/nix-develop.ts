// `nix develop --command` on the smallest flake there is, evaluated and built before: the floor of entering a nix shell.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Absent, findProgram, succeeds } from '../../test/engines/site.js';
import type { RivalKind } from '../rival.js';

const SHELL = `derivation {
  name = "tiny-dev"; system = builtins.currentSystem or "x86_64-linux"; outputs = [ "out" ];
  builder = "/bin/bash"; args = [ "-c" "echo > $out" ];
  stdenv = ./stdenv; PATH = "/usr/local/bin:/usr/bin:/bin";
}
`;
const BASH = `derivation { name = "bash-interactive"; system = "x86_64-linux"; outputs = [ "out" ]; builder = "/bin/bash";
  PATH = "/usr/bin:/bin"; args = [ "-c" "mkdir -p $out/bin; ln -s /bin/bash $out/bin/bash; :" ]; }`;

export const nixDevelop: RivalKind = {
  name: 'nix develop --command',
  async start(place) {
    const nix = findProgram(place, 'nix');
    const folder = join(place.scratch, 'nix');
    for (const each of ['nixpkgs', 'project/stdenv']) mkdirSync(join(folder, each), { recursive: true });
    // A package set with the one thing that nix looks for in it, so that nothing is fetched.
    writeFileSync(join(folder, 'nixpkgs/flake.nix'), `{ outputs = { self }: { legacyPackages.x86_64-linux.bashInteractive = ${BASH}; }; }`);
    const registry = join(folder, 'registry.json');
    const from = { type: 'indirect', id: 'nixpkgs' };
    writeFileSync(registry, JSON.stringify({ version: 2, flakes: [{ from, to: { type: 'path', path: join(folder, 'nixpkgs') } }] }));
    writeFileSync(join(folder, 'project/shell.nix'), SHELL);
    writeFileSync(join(folder, 'project/flake.nix'), '{ outputs = { self }: { devShells.x86_64-linux.default = import ./shell.nix; }; }');
    writeFileSync(join(folder, 'project/stdenv/setup'), 'runHook() { eval "${!1:-}"; }\n');
    const settings = ['experimental-features = nix-command flakes', 'substituters =', 'sandbox = false', 'build-users-group ='];
    const env = { NIX_CONFIG: [...settings, `flake-registry = ${registry}`].join('\n') };
    const argv = [nix, 'develop', `path:${join(folder, 'project')}`, '--command', '/bin/true'];
    if (!(await succeeds(nix, argv.slice(1), { ...place.env, ...env }))) throw new Absent("'nix develop' does not work here");
    return { name: this.name, argv, env };
  },
};
