// What Holdfast knows about a tool that enters environments.

import type { Launch } from '../definition.js';

export interface Entry {
  readonly launch: Launch;
  /** Files that the environment is made of, relative to the project's directory. */
  readonly inputs: readonly string[];
}

export interface Provider {
  /** As in `provider = "nix-develop"`. */
  readonly name: string;
  /** How to enter the environment of the project in `directory`, which is the launcher's working directory. */
  enter(directory: string): Entry;
}
