// A conda environment, through whichever of micromamba, conda and mamba is there: an environment in the project's own directory, else
// the one that environment.yml names. Each prints the code of `activate`, with the scripts of the packages in it.

import { join } from 'node:path';

import { HoldfastError } from '../../errors.js';
import type { Launch } from '../definition.js';
import { findProgram } from '../find-program.js';
import type { Provider } from './provider.js';
import { kindOf, readText } from './relative.js';

/** Where `conda create --prefix`, as its manual has it, and editors put an environment. */
const PREFIXES = ['.conda', 'env', 'envs'];
const INPUTS = [
  'environment.yml',
  'conda-lock.yml',
  ...PREFIXES.flatMap((prefix) => [`${prefix}/conda-meta/state`, `${prefix}/etc/conda/activate.d`]),
];

const ACTIVATE: Readonly<Record<string, readonly string[]>> = {
  micromamba: ['shell', 'activate', '--shell', 'bash'],
  conda: ['shell.posix', 'activate'],
  mamba: ['shell', 'activate', '--shell', 'bash'],
};

export const conda: Provider = {
  name: 'conda',
  inputs: INPUTS,
  enter: (directory) => ({ launch: activation(environmentOf(directory)), inputs: INPUTS }),
};

/** A prefix is told from a name by its slash. */
function environmentOf(directory: string): string {
  const prefix = PREFIXES.map((each) => join(directory, each)).find((each) => kindOf(join(each, 'conda-meta')) === 'directory');
  if (prefix !== undefined) return prefix;
  const [, key, value = ''] =
    /^(prefix|name):[ \t]*['"]?([^'"#\n]*?)['"]?[ \t]*(?:#.*)?$/m.exec(readText(join(directory, 'environment.yml'))) ?? [];
  if (value !== '' && (key === 'name' || value.startsWith('/'))) return value;
  throw new HoldfastError('CONFIG_INVALID', `'${directory}/environment.yml' does not tell which environment it is`, {
    hint: `give it a 'name:', or make the environment here: 'conda env create --prefix ./.conda'`,
  });
}

function activation(environment: string): Launch {
  const tool = Object.keys(ACTIVATE).find((name) => findProgram(name) !== undefined);
  if (tool !== undefined) return { style: 'source-command', argv: [tool, ...(ACTIVATE[tool] ?? []), environment] };
  throw new HoldfastError('LAUNCH_FAILED', `none of ${Object.keys(ACTIVATE).join(', ')} is on the PATH`, {
    hint: `install one, or put it on the PATH: the environment '${environment}' is entered with it`,
  });
}
