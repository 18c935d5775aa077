// flox, in place: bash code to evaluate. Its `-- COMMAND` form leaves out the [profile] scripts, whose functions are wanted.

import type { Provider } from './provider.js';

const INPUTS = ['.flox/env.json', '.flox/env/manifest.toml', '.flox/env/manifest.lock'];

export const flox: Provider = {
  name: 'flox',
  inputs: INPUTS,
  enter: () => ({ launch: { style: 'source-command', argv: ['flox', 'activate'] }, inputs: INPUTS }),
};
