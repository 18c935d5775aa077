// `holdfast list`: the sessions of this user.

import type { Command } from 'commander';

import type { SessionSummary } from '../session/list.js';
import { formatSpan, formatTable } from './table.js';

export function addList(program: Command): void {
  program
    .command('list')
    .alias('ls')
    .description('list the sessions that are open')
    .option('--json', 'print JSON')
    .option('--names', 'print names only, one a line')
    .addHelpText(
      'after',
      `
STATE is opening, serving, stopping, frozen (alive, but it does not answer) or
dead (its agent is gone; opening or closing it tidies up). A stale session is
one that was entered before a file changed that the environment is made of.`,
    )
    .action(list);
}

async function list(options: { json?: true; names?: true }): Promise<void> {
  const { listSessions } = await import('../session/list.js');
  const sessions = await listSessions();
  if (options.json) process.stdout.write(`${JSON.stringify(sessions.map(flatten), undefined, 2)}\n`);
  else if (options.names) process.stdout.write(sessions.map(({ name }) => `${name}\n`).join(''));
  else if (sessions.length > 0)
    process.stdout.write(formatTable(['NAME', 'MODE', 'STATE', 'PID', 'OPEN', 'RUNNING', 'RUNS'], sessions.map(row)));
}

/** The same members as `status --json` has, as far as the session tells them. */
function flatten({ agent, ...facts }: SessionSummary): object {
  return { ...facts, ...agent };
}

function row({ name, mode, state, stale, openedAt, agent }: SessionSummary): string[] {
  const open = formatSpan(agent?.uptimeMs ?? Date.now() - openedAt);
  return [
    name,
    mode,
    stale ? `${state}, stale` : state,
    String(agent?.pid ?? '-'),
    open,
    String(agent?.running ?? '-'),
    String(agent?.runs ?? '-'),
  ];
}
