// A Python virtual environment, by its own script: `. .venv/bin/activate`.

import { join } from 'node:path';

import type { Provider } from './provider.js';
import { kindOf } from './relative.js';

const PLACES = ['.venv', 'venv'];
const INPUTS = PLACES.flatMap((place) => [`${place}/bin/activate`, `${place}/pyvenv.cfg`]);

export const venv: Provider = {
  name: 'venv',
  inputs: INPUTS,
  enter: (directory) => {
    const place = PLACES.find((each) => kindOf(join(directory, each, 'bin/activate')) === 'file') ?? PLACES[0];
    return { launch: { style: 'source', script: join(directory, `${place}/bin/activate`) }, inputs: INPUTS };
  },
};
