// The library as it is shipped, in the test's own process.

import type * as Holdfast from '../../src/index.js';
import { type Holdfast as Fixture, programs } from './holdfast.js';

/** The built bundle; its types are the sources'. */
export const library: typeof Holdfast = await import(programs.library);

/** Has this process see what the fixture's programs see: its runtime directory, its home, and nothing else of the test runner's. */
export function becomeProgram(holdfast: Fixture): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, holdfast.env);
}
