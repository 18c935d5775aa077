// `nix-shell` of a shell.nix. `--run` takes one shell string; not `exec`, since nix-shell's own exit trap is to run at the end.

import { join } from 'node:path';

import { pathsInNix } from './nix-paths.js';
import type { Provider } from './provider.js';
import { inputsOf } from './relative.js';

const INPUTS = ['shell.nix', 'default.nix'];

export const nixShell: Provider = {
  name: 'nix-shell',
  inputs: INPUTS,
  enter: (directory) => ({
    launch: { style: 'enter-string', argv: ['nix-shell', '--run'] },
    inputs: inputsOf(directory, INPUTS, pathsInNix(INPUTS.map((name) => join(directory, name)))),
  }),
};
