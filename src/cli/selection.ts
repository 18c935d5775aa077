// Which session a command with an optional NAME means: NAME, else $HOLDFAST_SESSION, else the project around the working directory.
// '.' and paths that begin with './' or '../' name the project around that directory. So they do for `runner-exec --session`.

import { isUtf8 } from 'node:buffer';
import { realpathSync } from 'node:fs';

import { physicalDirectory, type Selection, selectSession } from '../client/locate.js';
import { HoldfastError } from '../errors.js';

/** None of these commands has a `--session`. */
const naming = "give its NAME ('holdfast list' shows the open ones)";

/** @throws {HoldfastError} `NO_PROJECT` when nothing says which. */
export function selectName(name: string | undefined): string {
  const environmentSession = process.env['HOLDFAST_SESSION'];
  if (name !== undefined && isPath(name)) return nameOf(selectSession({ directory: () => physical(name), naming }));
  return nameOf(
    selectSession({
      session: name === undefined ? undefined : Buffer.from(name),
      environmentSession: environmentSession === undefined ? undefined : Buffer.from(environmentSession),
      directory: physicalDirectory,
      naming,
    }),
  );
}

/** The name to open: as selectName(), so that whoever closes it finds it; without one it is for the opening to say. @throws as selectName. */
export function openedName(name: string | undefined): string | undefined {
  return name === undefined || !isPath(name) ? name : selectName(name);
}

/** Of `runner-exec --session`, likewise. @throws as selectName. */
export function selectAround(path: Buffer): Selection {
  return selectSession({ directory: () => physical(path) });
}

export function isPath(name: string): boolean {
  return /^\.\.?(\/|$)/.test(name);
}

function physical(path: string | Buffer): Buffer {
  try {
    return realpathSync(path, 'buffer');
  } catch (cause) {
    throw new HoldfastError('NO_PROJECT', `there is no directory '${path}'`, {
      hint: "'holdfast list' shows the sessions that are open",
      cause,
    });
  }
}

function nameOf(selection: Selection): string {
  switch (selection.kind) {
    case 'session':
      return selection.name.toString();
    case 'project':
      return directoryName(selection.directory);
    case 'socket':
      throw new Error('no socket was offered for selection');
  }
}

/** A project's name is its directory. */
export function directoryName(directory: Buffer): string {
  if (isUtf8(directory)) return directory.toString();
  throw new HoldfastError('NAME_INVALID', `the name of the project '${directory}' is not UTF-8`, {
    hint: "open it under a name of its own: 'holdfast open NAME -- LAUNCHER...'",
  });
}
