// Where a detached job's output is: a file beside the session's own. The agent makes and removes it; whoever finds the session
// dead removes what is left.

import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** No dot is in an id, so the files of a session `a` and those of one that is called `a.b` are never taken for each other. */
const ID = /^[0-9a-z]+-[0-9]+$/;
const SUFFIX = '.job';

/** @param stem what the session's files begin with. */
export function jobFile(stem: string, id: string): string {
  return `${stem}.${id}${SUFFIX}`;
}

/** Those that are there now. */
export function findJobFiles(stem: string): string[] {
  const directory = dirname(stem);
  const prefix = `${basename(stem)}.`;
  return readdirSync(directory)
    .filter((name) => name.startsWith(prefix) && name.endsWith(SUFFIX) && ID.test(name.slice(prefix.length, -SUFFIX.length)))
    .map((name) => join(directory, name));
}
