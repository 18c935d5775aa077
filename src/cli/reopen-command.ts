// What `holdfast reopen` does: the session's record says how it was opened, and it is opened like that again.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';

import { chooseOpening, type OpenRequest } from '../config/choose.js';
import { findOrigin } from '../config/origin.js';
import { HoldfastError } from '../errors.js';
import { findRecord, type SessionRecord } from '../session/record.js';
import { type Reopening, reopenSession } from '../session/reopen.js';
import { showEntering } from './entering.js';
import type { ReopenFlags } from './reopen.js';
import { selectName } from './selection.js';

export async function reopenCommand(given: string | undefined, { ifStale, socket, quiet, json }: ReopenFlags): Promise<void> {
  if (given !== undefined && socket !== undefined) {
    throw new HoldfastError('USAGE', "both a name and '--socket' are given", { hint: 'keep one of them' });
  }
  const name = socket === undefined ? selectName(given) : nameOfSocket(socket);
  const choose = (record: SessionRecord | undefined): Reopening => chooseAgain(name, record);
  await showEntering({ name, quiet: quiet === true, json: json === true }, (options) =>
    reopenSession(name, choose, { ...options, ifStale: ifStale === true }),
  );
}

/** As it was opened, from what its files say now; as it is, where a program opened it; and a project's from its directory. */
function chooseAgain(name: string, record: SessionRecord | undefined): Reopening {
  const request = record === undefined ? projectOf(name) : findOrigin(record.origin);
  if (request === undefined) {
    if (record !== undefined) return { definition: record.definition };
    throw new HoldfastError('NO_SESSION', `session '${name}' is not open`, {
      hint: `start it with 'holdfast open ${name} -- LAUNCHER...'; 'holdfast list' shows what is open`,
    });
  }
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

/** Nobody need have opened it before. */
function projectOf(name: string): OpenRequest | undefined {
  const isDirectory = name.startsWith('/') && statSync(name, { throwIfNoEntry: false })?.isDirectory();
  return isDirectory === true ? { name: undefined, config: undefined, project: name, settings: {} } : undefined;
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
