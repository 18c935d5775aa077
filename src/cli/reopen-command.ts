// What `holdfast reopen` does: the session's record says how it was opened, and it is opened like that again.

import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';

import { chooseOpening } from '../config/choose.js';
import { findOrigin } from '../config/origin.js';
import { HoldfastError } from '../errors.js';
import type { SessionDefinition } from '../session/definition.js';
import type { SessionOrigin } from '../session/open.js';
import { readOpened } from '../session/opened.js';
import { findRecord } from '../session/record.js';
import { reopenSession } from '../session/reopen.js';
import { showEntering } from './entering.js';
import type { ReopenFlags } from './reopen.js';
import { selectName } from './selection.js';

export async function reopenCommand(given: string | undefined, { ifStale, socket, quiet }: ReopenFlags): Promise<void> {
  if (given !== undefined && socket !== undefined) {
    throw new HoldfastError('USAGE', "both a name and '--socket' are given", { hint: 'keep one of them' });
  }
  const name = socket === undefined ? selectName(given) : nameOfSocket(socket);
  const { definition, origin } = chooseAgain(name);
  await showEntering({ name, quiet: quiet === true }, (options) =>
    reopenSession(definition, { ...options, ifStale: ifStale === true, ...(origin === undefined ? {} : { origin }) }),
  );
}

/** As it was opened, from what its files say now; as it is, where a program opened it. */
function chooseAgain(name: string): { definition: SessionDefinition; origin?: SessionOrigin } {
  const { definition, origin } = readOpened(name).record;
  const request = findOrigin(origin);
  if (request === undefined) return { definition };
  const chosen = chooseOpening(request);
  if (chosen.definition.name === name) return chosen;
  throw new HoldfastError(
    'NO_SESSION',
    `session '${name}' cannot be opened as it was: its files speak of '${chosen.definition.name}' now`,
    {
      hint: `'holdfast close ${name}', then open it anew`,
    },
  );
}

/** The record lies beside the socket. Its directory becomes the runtime directory of this process. */
function nameOfSocket(socket: string): string {
  const directory = dirname(resolve(socket));
  const record = `${directory}/${basename(socket).replace(/\.sock$/, '')}.json`;
  if (!existsSync(directory) || !readdirSync(directory).includes(basename(record))) {
    throw new HoldfastError('NO_SESSION', `'${socket}' is not the socket of an open session`, {
      hint: "'holdfast list' shows the sessions that are open",
    });
  }
  process.env['HOLDFAST_RUNTIME_DIR'] = directory;
  const found = findRecord(record);
  if (found === undefined) throw new HoldfastError('NO_SESSION', `the session of '${socket}' has just been closed`);
  return found.definition.name;
}
