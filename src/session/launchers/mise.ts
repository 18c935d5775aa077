// `mise exec -- COMMAND`: the tools and variables of mise.toml.

import type { Provider } from './provider.js';

const INPUTS = ['mise.toml', '.mise.toml', 'mise.lock', 'mise.local.toml', '.mise.local.toml', '.tool-versions'];

export const mise: Provider = {
  name: 'mise',
  inputs: INPUTS,
  enter: () => ({ launch: { style: 'enter', argv: ['mise', 'exec', '--'] }, inputs: INPUTS }),
};
