// Every provider, by name and by the file that gives it away.

import type { ProjectMarker } from '../../client/locate.js';
import { HoldfastError } from '../../errors.js';
import { devbox } from './devbox.js';
import { devenv, devenvPrintDevEnv } from './devenv.js';
import { direnv } from './direnv.js';
import { flox } from './flox.js';
import { mise } from './mise.js';
import { nixDevelop, nixPrintDevEnv } from './nix-develop.js';
import { nixShell } from './nix-shell.js';
import { pixi } from './pixi.js';
import type { Entry, Provider } from './provider.js';

const PROVIDERS: readonly Provider[] = [devenv, devenvPrintDevEnv, nixDevelop, nixPrintDevEnv, nixShell, direnv, devbox, flox, mise, pixi];

export const PROVIDER_NAMES: readonly string[] = PROVIDERS.map(({ name }) => name);

/** `undefined`: the file says which environment it is, but not how to enter it. */
const OF_MARKER: Readonly<Record<Exclude<ProjectMarker, 'holdfast.toml'>, Provider | undefined>> = {
  'devenv.nix': devenv,
  'flake.nix': nixDevelop,
  'shell.nix': nixShell,
  '.envrc': direnv,
  'devbox.json': devbox,
  '.flox': flox,
  'mise.toml': mise,
  '.mise.toml': mise,
  'pixi.toml': pixi,
  // Which environment, made and kept by which of conda, mamba and micromamba, and where: the file does not tell.
  'environment.yml': undefined,
};

/** @throws {HoldfastError} `CONFIG_INVALID` for a name that is no provider's. */
export function enterProvider(name: string, directory: string): Entry {
  const provider = PROVIDERS.find((known) => known.name === name);
  if (provider !== undefined) return provider.enter(directory);
  throw new HoldfastError('CONFIG_INVALID', `unknown provider '${name}'`, { hint: `the providers are ${PROVIDER_NAMES.join(', ')}` });
}

/**
 * The environment that a marker file in `directory` stands for.
 *
 * @throws {HoldfastError} `CONFIG_INVALID` where the file does not tell how to enter it.
 */
export function findProvider(directory: string, marker: Exclude<ProjectMarker, 'holdfast.toml'>): Entry & { readonly provider: string } {
  const provider = OF_MARKER[marker];
  if (provider !== undefined) return { provider: provider.name, ...provider.enter(directory) };
  throw new HoldfastError('CONFIG_INVALID', `'${directory}/${marker}' does not tell how its environment is entered`, {
    hint: `write a holdfast.toml beside it, for example: [session] source_command = ["micromamba", "shell", "activate", "--shell", "bash", "NAME"]`,
  });
}
