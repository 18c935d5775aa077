// Every provider, by name and by the file that gives it away.

import type { ProjectMarker } from '../../client/locate.js';
import { HoldfastError } from '../../errors.js';
import { conda } from './conda.js';
import { devbox } from './devbox.js';
import { devenv, devenvPrintDevEnv } from './devenv.js';
import { direnv } from './direnv.js';
import { flox } from './flox.js';
import { guix } from './guix.js';
import { mise } from './mise.js';
import { nixDevelop, nixPrintDevEnv } from './nix-develop.js';
import { nixShell } from './nix-shell.js';
import { pixi } from './pixi.js';
import type { Entry, Provider } from './provider.js';
import { venv } from './venv.js';

const PROVIDERS: readonly Provider[] = [
  devenv,
  devenvPrintDevEnv,
  nixDevelop,
  nixPrintDevEnv,
  nixShell,
  direnv,
  devbox,
  flox,
  mise,
  pixi,
  guix,
  conda,
  venv,
];

export const PROVIDER_NAMES: readonly string[] = PROVIDERS.map(({ name }) => name);

const OF_MARKER: Readonly<Record<Exclude<ProjectMarker, 'holdfast.toml'>, Provider>> = {
  'devenv.nix': devenv,
  'flake.nix': nixDevelop,
  'shell.nix': nixShell,
  '.envrc': direnv,
  'devbox.json': devbox,
  '.flox/env.json': flox,
  'mise.toml': mise,
  '.mise.toml': mise,
  'pixi.toml': pixi,
  'pixi.lock': pixi,
  'manifest.scm': guix,
  'guix.scm': guix,
  '.conda/conda-meta': conda,
  'environment.yml': conda,
  '.venv/bin/activate': venv,
  'venv/bin/activate': venv,
};

/** The inputs that a provider's projects have or may have. @throws as enterProvider. */
export function providerInputs(name: string): readonly string[] {
  return knownProvider(name).inputs;
}

/** @throws {HoldfastError} `CONFIG_INVALID` for a name that is no provider's, and as the provider's `enter`. */
export function enterProvider(name: string, directory: string): Entry {
  return knownProvider(name).enter(directory);
}

/** The provider of the project that a marker file makes of its directory. */
export function providerOf(marker: Exclude<ProjectMarker, 'holdfast.toml'>): string {
  return OF_MARKER[marker].name;
}

function knownProvider(name: string): Provider {
  const provider = PROVIDERS.find((known) => known.name === name);
  if (provider !== undefined) return provider;
  throw new HoldfastError('CONFIG_INVALID', `unknown provider '${name}'`, { hint: `the providers are ${PROVIDER_NAMES.join(', ')}` });
}
