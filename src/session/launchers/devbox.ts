// devbox, in place: bash code to evaluate, with the init_hook at its end. `devbox run` would run the hook in an `sh` that may be any
// shell, and lose its functions there.

import type { Provider } from './provider.js';

const INPUTS = ['devbox.json', 'devbox.lock'];

export const devbox: Provider = {
  name: 'devbox',
  inputs: INPUTS,
  enter: () => ({ launch: { style: 'source-command', argv: ['devbox', 'shellenv', '--init-hook'] }, inputs: INPUTS }),
};
