// devenv, in its two forms: a shell that runs a command, and bash code to evaluate.

import type { Provider } from './provider.js';

const INPUTS = ['devenv.nix', 'devenv.yaml', 'devenv.lock', 'devenv.local.nix', 'devenv.local.yaml'];

export const devenv: Provider = {
  name: 'devenv',
  enter: () => ({ launch: { style: 'enter', argv: ['devenv', 'shell', '--'] }, inputs: INPUTS }),
};

export const devenvPrintDevEnv: Provider = {
  name: 'devenv-print-dev-env',
  enter: () => ({ launch: { style: 'source-command', argv: ['devenv', 'print-dev-env'] }, inputs: INPUTS }),
};
