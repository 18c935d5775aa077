// The programs that projects are entered with. One that is not there is no fault, unless the project here needs it.

import type { ProjectMarker } from '../client/locate.js';
import { findProgram } from '../session/find-program.js';
import { providerOf } from '../session/launchers/providers.js';
import type { Check } from './check.js';

/** By the name of a provider; of several programs, one is enough. */
const PROGRAMS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  devenv: ['devenv'],
  'nix-develop': ['nix'],
  'nix-shell': ['nix-shell'],
  direnv: ['direnv'],
  devbox: ['devbox'],
  flox: ['flox'],
  mise: ['mise'],
  pixi: ['pixi'],
  guix: ['guix'],
  conda: ['micromamba', 'conda', 'mamba'],
};

/** @param marker of the project around, if there is one. @returns the tools that are here or should be, and in one line the others. */
export function checkTools(marker: ProjectMarker | undefined, path?: string): Check[] {
  const needed = marker === undefined || marker === 'holdfast.toml' ? undefined : providerOf(marker);
  const absent: string[] = [];
  const checks: Check[] = [];
  for (const [provider, programs] of Object.entries(PROGRAMS)) {
    const found = programs.map((program) => findProgram(program, path)).find((each) => each !== undefined);
    const name = programs.join(' or ');
    if (found !== undefined) checks.push({ name: found.split('/').at(-1) ?? name, state: 'ok', detail: `'${found}'` });
    else if (provider !== needed) absent.push(programs[0]);
    else
      checks.push({
        name: programs[0],
        state: 'warn',
        detail: `${name} is not on the PATH`,
        cure: `install ${name}: the project here is entered with it`,
      });
  }
  if (absent.length > 0)
    checks.push({ name: 'other tools', state: 'ok', detail: `not installed, and not needed here: ${absent.join(', ')}` });
  return checks;
}
