// `nix develop` of a flake. Its shell is bash, which reads BASH_ENV: functions of the shellHook come along.

import type { Provider } from './provider.js';

/** Both are needed, and neither is on by default. */
const FEATURES = ['--extra-experimental-features', 'nix-command flakes'];

const INPUTS = ['flake.nix', 'flake.lock'];

// No installable is named: as by hand, the flake is found from the working directory, in git or not.
export const nixDevelop: Provider = {
  name: 'nix-develop',
  enter: () => ({ launch: { style: 'enter', argv: ['nix', ...FEATURES, 'develop', '--command'] }, inputs: INPUTS }),
};

export const nixPrintDevEnv: Provider = {
  name: 'nix-print-dev-env',
  enter: () => ({ launch: { style: 'source-command', argv: ['nix', ...FEATURES, 'print-dev-env'] }, inputs: INPUTS }),
};
