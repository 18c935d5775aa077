// What Holdfast knows about a tool that enters environments.

import type { Launch } from '../definition.js';

export interface Entry {
  readonly launch: Launch;
  /** Files that the environment is made of; relative ones are in the project's directory. */
  readonly inputs: readonly string[];
}

export interface Provider {
  /** As in `provider = "nix-develop"`. */
  readonly name: string;
  /** The inputs that every project of this kind has, or may have. */
  readonly inputs: readonly string[];
  /**
   * How to enter the environment of the project in `directory`, which is the launcher's working directory.
   *
   * @throws {HoldfastError} `CONFIG_INVALID` where the project does not tell.
   */
  enter(directory: string): Entry;
}
