// `direnv exec` of an .envrc that the user has allowed. It carries variables, and functions that the .envrc exports.

import type { Provider } from './provider.js';

export const direnv: Provider = {
  name: 'direnv',
  enter: (directory) => ({ launch: { style: 'enter', argv: ['direnv', 'exec', directory] }, inputs: ['.envrc', '.env', '.tool-versions'] }),
};
