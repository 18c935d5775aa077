// `holdfast status`: how one session is.

import type { Command } from 'commander';

import { HoldfastError } from '../errors.js';
import { changesText } from '../session/freshness.js';
import { formatState } from './list.js';
import { selectName } from './selection.js';
import { visibleText } from './shell-bytes.js';
import { styleFor } from './style.js';
import { formatBytes, formatFacts, formatSpan } from './table.js';

export function addStatus(program: Command): void {
  program
    .command('status')
    .description('tell how a session is: its agent, what runs in it, whether it is stale')
    .argument('[name]', 'the session')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Fails when the session is not open.

Examples:
  holdfast status web
  holdfast status --json | jq .pid          the agent of this project's session`,
    )
    .action(status);
}

async function status(given: string | undefined, options: { json?: true }): Promise<void> {
  const name = selectName(given);
  const { sessionStatus } = await import('./session-status.js');
  const { fingerprintSession } = await import('../session/session-fingerprint.js');
  const { formatIdentity } = await import('../session/identity.js');
  const found = await sessionStatus(name);
  const marks = await fingerprintSession(name).catch(unlessOlder);
  if (options.json) {
    process.stdout.write(
      `${JSON.stringify({ ...found, ...(marks === undefined ? {} : { fingerprint: marks.fingerprint, identity: marks.identity }) }, undefined, 2)}\n`,
    );
    return;
  }
  const style = styleFor(process.stdout);
  process.stdout.write(
    formatFacts([
      ['session', style.bold(visibleText(found.name))],
      ['mode', found.mode],
      ['state', formatState(found.state, found.stale, style)],
      ...found.changes.map(
        (change, i) => [i === 0 ? 'since it was entered' : '', style.yellow(visibleText(changesText([change])))] as const,
      ),
      ['agent', String(found.pid)],
      ['socket', visibleText(found.socket)],
      ['directory', visibleText(found.directory)],
      ['log', visibleText(found.log)],
      ['open for', formatSpan(found.uptimeMs)],
      ['commands', `${found.running} running, ${found.queued} waiting, ${found.runs} in all`],
      ['functions', found.functions.count === 0 ? 'none' : `${found.functions.count}, ${found.functions.bytes} bytes in every command`],
      ['containment', found.containment],
      ...(marks === undefined ? [] : [['identity', formatIdentity(marks.identity)] as const, ['fingerprint', marks.fingerprint] as const]),
      [
        'memory',
        found.running === 0
          ? formatBytes(found.rssBytes)
          : `${formatBytes(found.rssBytes)}, and ${formatBytes(found.commandsRssBytes)} of what runs in it`,
      ],
    ]),
  );
}

/** An agent of an older version does not tell what it was entered with; how it is can be told all the same. */
function unlessOlder(error: unknown): undefined {
  if (error instanceof HoldfastError && error.code === 'PROTOCOL') return undefined;
  throw error;
}
