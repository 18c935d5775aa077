// A session that is open already, while files that its environment is made of have changed: `on_stale`.

import { setTimeout as sleep } from 'node:timers/promises';

import { HoldfastError } from '../errors.js';
import { closeSession } from '../session/close.js';
import type { SessionDefinition } from '../session/definition.js';
import { changedInputs } from '../session/freshness.js';
import { type OpenedSession, type OpenOptions, openSession } from '../session/open.js';
import { readOpened } from '../session/opened.js';
import { sessionStatus } from './session-status.js';

const DRAIN_POLL_MS = 200;

/**
 * Opens a session, or does with a stale one what its definition says: reopening waits for the commands that run in it.
 *
 * @throws {HoldfastError} `STALE`, and as `openSession`.
 */
export async function openFresh(definition: SessionDefinition, options: OpenOptions): Promise<OpenedSession> {
  const opened = await openSession(definition, options);
  if (opened.opened) return opened;
  const changed = changedInputs(readOpened(definition.name).record);
  if (changed.length === 0) return opened;
  const what = `session '${definition.name}' is stale: ${changed.map((path) => `'${path}'`).join(', ')} changed since it was entered`;
  switch (definition.onStale) {
    case 'warn':
      process.stderr.write(`holdfast: ${what}\nhint: 'holdfast close ${definition.name}', then open it again\n`);
      return opened;
    case 'refuse':
      throw new HoldfastError('STALE', what, { hint: `'holdfast close ${definition.name}', then open it again` });
    case 'reopen':
      await drain(definition.name, options);
      await closeSession(definition.name);
      return openSession(definition, options);
  }
}

/** Returns when nothing runs or waits in the session. */
async function drain(name: string, { progress, signal }: OpenOptions): Promise<void> {
  const startedAt = performance.now();
  for (;;) {
    const { running, queued } = await sessionStatus(name);
    if (running + queued === 0) return;
    progress?.(`it is stale: waiting for the end of ${running + queued} commands in it`, performance.now() - startedAt);
    // Rejects when interrupted: the session stays as it is.
    await sleep(DRAIN_POLL_MS, undefined, signal === undefined ? {} : { signal });
  }
}
