// pixi's activation script. `pixi run` would parse the command with a shell of its own.

import type { Provider } from './provider.js';

const INPUTS = ['pixi.toml', 'pyproject.toml', 'pixi.lock'];

export const pixi: Provider = {
  name: 'pixi',
  inputs: INPUTS,
  enter: () => ({
    launch: { style: 'source-command', argv: ['pixi', 'shell-hook', '--shell', 'bash', '--change-ps1', 'false'] },
    inputs: INPUTS,
  }),
};
