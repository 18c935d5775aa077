// `devbox run -- COMMAND`: any command, in the shell of the nearest devbox.json.

import type { Provider } from './provider.js';

export const devbox: Provider = {
  name: 'devbox',
  enter: () => ({ launch: { style: 'enter', argv: ['devbox', 'run', '--'] }, inputs: ['devbox.json', 'devbox.lock'] }),
};
