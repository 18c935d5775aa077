// `holdfast snapshot list|clear`: the variables that mode "snapshot" keeps.

import type { Command } from 'commander';

import type { KeptSnapshot } from '../session/kept-snapshots.js';
import { printable } from './progress.js';
import { selectName } from './selection.js';
import { formatSpan, formatTable, shellWord } from './table.js';

export function addSnapshot(program: Command): void {
  const snapshot = program
    .command('snapshot')
    .description('list or remove the variables that sessions of mode "snapshot" were opened with')
    .addHelpText(
      'after',
      `
They are in $XDG_CACHE_HOME/holdfast, else ~/.cache/holdfast.

Examples:
  holdfast snapshot list
  holdfast snapshot clear                   those of the project around
  holdfast snapshot clear web               those made for session 'web'
  holdfast snapshot clear 67a366aa          the one whose key begins so
  holdfast snapshot clear --all`,
    );
  snapshot
    .command('list')
    .description('list the snapshots that are kept')
    .option('--json', 'print JSON')
    .addHelpText('after', LIST_HELP)
    .action(list);
  snapshot
    .command('clear')
    .description('remove snapshots: the next opening enters again; open sessions stay as they are')
    .argument('[name]', 'a session, the directory of a project, or the beginning of a key')
    .option('--all', 'all of them')
    .action(clear);
}

const LIST_HELP = `
STATE is fresh, or why it is not used any more: stale (an input has changed since
it was taken), old (of another format), damaged, or foreign (somebody else's, a
link, or open to others). What is not used is made anew at the next opening, and
removed once nobody used it for 30 days.`;

async function list(options: { json?: true }): Promise<void> {
  const { keptSnapshots } = await import('../session/kept-snapshots.js');
  const kept = keptSnapshots();
  if (options.json) process.stdout.write(`${JSON.stringify(kept, undefined, 2)}\n`);
  else if (kept.length > 0)
    process.stdout.write(formatTable(['KEY', 'PROJECT', 'SESSION', 'STATE', 'AGE', 'UNUSED', 'SIZE', 'LAUNCHER'], kept.map(row)));
}

function row({ key, state, bytes, usedAt, facts }: KeptSnapshot): string[] {
  const now = Date.now();
  const size = `${Math.ceil(bytes / 1024)}K`;
  const unused = formatSpan(Math.max(0, now - usedAt));
  if (facts === undefined) return [key.slice(0, 12), '-', '-', state, '-', unused, size, '-'];
  const launcher = facts.launcher.map(shellWord).join(' ');
  // A project's session has its directory for a name.
  const session = facts.name === facts.directory ? '-' : printable(facts.name);
  return [
    key.slice(0, 12),
    printable(facts.directory),
    session,
    state,
    formatSpan(Math.max(0, now - facts.takenAt)),
    unused,
    size,
    launcher,
  ];
}

async function clear(given: string | undefined, options: { all?: true }): Promise<void> {
  const { clearSnapshots } = await import('../session/kept-snapshots.js');
  if (options.all && given !== undefined) {
    const { HoldfastError } = await import('../errors.js');
    throw new HoldfastError('USAGE', `both '${given}' and '--all' are given`, { hint: 'keep one' });
  }
  clearSnapshots(options.all ? 'all' : { name: selectName(given) });
}
