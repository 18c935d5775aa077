// `holdfast list`: the sessions of this user.

import type { Command } from 'commander';

import type { AgentFacts, SessionSummary } from '../session/list.js';
import { visibleText } from './shell-bytes.js';
import { type Style, styleFor } from './style.js';
import { formatBytes, formatSpan, formatTable } from './table.js';

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
one that was entered before something changed that the environment is made of;
'holdfast status NAME' says what. MEMORY is that of the agent, and of what runs.`,
    )
    .action(list);
}

async function list(options: { json?: true; names?: true }): Promise<void> {
  const { listSessions } = await import('../session/list.js');
  const sessions = await listSessions();
  if (options.json) process.stdout.write(`${JSON.stringify(sessions.map(flatten), undefined, 2)}\n`);
  else if (options.names) process.stdout.write(sessions.map(({ name }) => `${name}\n`).join(''));
  else if (sessions.length > 0) process.stdout.write(formatSessions(sessions, styleFor(process.stdout)));
  // Somebody who looks at nothing wonders whether it worked.
  else if (process.stdout.isTTY) process.stderr.write('no session is open\n');
}

/** The same members as `status --json` has, as far as the session tells them. */
function flatten({ agent, ...facts }: SessionSummary): object {
  return { ...facts, ...agent };
}

const HEADING = ['NAME', 'MODE', 'STATE', 'PID', 'UPTIME', 'RUNNING', 'RUNS', 'MEMORY'];

export function formatSessions(sessions: readonly SessionSummary[], style: Style): string {
  return formatTable(
    HEADING.map((cell) => style.bold(cell)),
    sessions.map((session) => row(session, style)),
  );
}

function row({ name, mode, state, stale, openedAt, agent }: SessionSummary, style: Style): string[] {
  return [
    visibleText(name),
    mode,
    formatState(state, stale, style),
    String(agent?.pid ?? '-'),
    formatSpan(agent?.uptimeMs ?? Date.now() - openedAt),
    String(agent?.running ?? '-'),
    String(agent?.runs ?? '-'),
    agent === undefined ? '-' : formatMemory(agent),
  ];
}

/** In the colour of how well it is. */
export function formatState(state: SessionSummary['state'], stale: boolean, style: Style): string {
  const word = stale ? `${state}, stale` : state;
  if (state === 'dead' || state === 'frozen') return style.red(word);
  return state === 'serving' && !stale ? style.green(word) : style.yellow(word);
}

/** The agent's own, and what runs in it. */
export function formatMemory({ rssBytes, commandsRssBytes }: Pick<AgentFacts, 'rssBytes' | 'commandsRssBytes'>): string {
  return commandsRssBytes === 0 ? formatBytes(rssBytes) : `${formatBytes(rssBytes)} + ${formatBytes(commandsRssBytes)}`;
}
