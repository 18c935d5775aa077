// `holdfast open` of a session that is open already, while what its environment was made of has changed: `on_stale`.

import { HoldfastError } from '../errors.js';
import { findLiveAgent } from '../session/agent-probe.js';
import type { SessionDefinition } from '../session/definition.js';
import { changesText } from '../session/freshness.js';
import { type OpenedSession, type OpenOptions, openSession } from '../session/open.js';
import { reopenSession } from '../session/reopen.js';
import { describeFailure } from './ending.js';

/**
 * Opens a session, or does with a stale one what its definition says: reopening waits for the commands that run in it.
 *
 * @throws {HoldfastError} `STALE`, and as `openSession`.
 */
export async function openFresh(definition: SessionDefinition, options: OpenOptions): Promise<OpenedSession> {
  const { name } = definition;
  let opened: OpenedSession;
  try {
    opened = await openSession(definition, options);
  } catch (error) {
    if (!(await isOutdated(definition, error))) throw error;
    return reopenSession(name, () => ({ definition }), { ...options, ifStale: true });
  }
  if (opened.stale.length === 0) return opened;
  const what = `session '${name}' is stale: ${changesText(opened.stale)} since it was entered`;
  const stale = new HoldfastError('STALE', what, { hint: `'holdfast reopen ${name}' enters it again` });
  switch (definition.onStale) {
    case 'warn':
      process.stderr.write(describeFailure(stale));
      return opened;
    case 'refuse':
      throw stale;
    case 'reopen':
      return reopenSession(name, () => ({ definition }), { ...options, ifStale: true });
  }
}

/** A definition is made of files, too: where one of those has changed, another definition is what that leads to, and no mistake. */
async function isOutdated({ name, onStale }: SessionDefinition, error: unknown): Promise<boolean> {
  if (onStale !== 'reopen' || !(error instanceof HoldfastError) || error.code !== 'ALREADY_OPEN') return false;
  const live = await findLiveAgent(name);
  return live === undefined || live.stale.length > 0;
}
