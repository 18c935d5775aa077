// `nix-shell` of a shell.nix. `--run` takes one shell string; not `exec`, since nix-shell's own exit trap is to run at the end.

import type { Provider } from './provider.js';

export const nixShell: Provider = {
  name: 'nix-shell',
  enter: () => ({ launch: { style: 'enter-string', argv: ['nix-shell', '--run'] }, inputs: ['shell.nix', 'default.nix'] }),
};
