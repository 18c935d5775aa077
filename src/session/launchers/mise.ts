// `mise exec -- COMMAND`: the tools and variables of mise.toml.

import type { Provider } from './provider.js';

export const mise: Provider = {
  name: 'mise',
  enter: () => ({
    launch: { style: 'enter', argv: ['mise', 'exec', '--'] },
    inputs: ['mise.toml', '.mise.toml', 'mise.lock', 'mise.local.toml', '.mise.local.toml', '.tool-versions'],
  }),
};
