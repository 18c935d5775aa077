// Looks a program up as a shell would.

import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The first executable file of that name on the PATH. */
export function findProgram(name: string, path: string = process.env['PATH'] ?? ''): string | undefined {
  for (const directory of path.split(delimiter)) {
    const candidate = join(directory === '' ? '.' : directory, name);
    try {
      accessSync(candidate, constants.X_OK);
      if (statSync(candidate).isFile()) return candidate;
    } catch {
      // Not here: the next directory.
    }
  }
  return undefined;
}
