// `nix develop` of a flake. Its shell is bash, which reads BASH_ENV: functions of the shellHook come along.

import { join, resolve } from 'node:path';

import { pathsInNix } from './nix-paths.js';
import type { Entry, Provider } from './provider.js';
import { inputsOf, kindOf, readText } from './relative.js';

/** Both are needed, and neither is on by default. */
const FEATURES = ['--extra-experimental-features', 'nix-command flakes'];

const INPUTS = ['flake.nix', 'flake.lock'];

// No installable is named: as by hand, the flake is found from the working directory, in git or not.
export const nixDevelop: Provider = {
  name: 'nix-develop',
  inputs: INPUTS,
  enter: (directory) => enterBy(directory, { style: 'enter', argv: ['nix', ...FEATURES, 'develop', '--command'] }),
};

export const nixPrintDevEnv: Provider = {
  name: 'nix-print-dev-env',
  inputs: INPUTS,
  enter: (directory) => enterBy(directory, { style: 'source-command', argv: ['nix', ...FEATURES, 'print-dev-env'] }),
};

function enterBy(directory: string, launch: Entry['launch']): Entry {
  return { launch, inputs: inputsOf(directory, INPUTS, filesOf(directory, new Set())) };
}

/** The flake's own code, and the flakes that it takes from beside it. */
function filesOf(directory: string, seen: Set<string>): string[] {
  const flake = join(directory, 'flake.nix');
  if (seen.has(directory) || kindOf(flake) !== 'file') return [];
  seen.add(directory);
  const local = localInputs(readText(flake)).flatMap((path) => filesOf(resolve(directory, path), seen));
  return [...pathsInNix([flake]), ...(directory === [...seen][0] ? [] : [join(directory, 'flake.lock')]), ...local];
}

/** `url = "path:./tools"`, `url = "./tools"`; without what follows a `?`. */
export function localInputs(flake: string): string[] {
  return [...flake.matchAll(/\burl\s*=\s*"(?:path:)?(\.{1,2}(?:\/[^"?]*)?)(?:\?[^"]*)?"/g)].map(([, path = '']) => path);
}
