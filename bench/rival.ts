// Another way to run a command in something that is already there. Each has a file in bench/rivals/; one that is not installed
// here says so (Absent) and is left out.

import type { Place } from './place.js';

export interface Rival {
  name: string;
  /** Runs `true` its way. */
  argv: readonly string[];
  env?: Readonly<Record<string, string>>;
  /** Ends what `start` started. */
  end?: () => Promise<void>;
}

export interface RivalKind {
  name: string;
  /** @throws {Absent} */
  start(place: Place): Promise<Rival>;
}
