// `holdfast reopen`: enters an environment again that has changed since.

import type { Command } from 'commander';

export interface ReopenFlags {
  readonly ifStale?: true;
  readonly socket?: string;
  readonly quiet?: true;
  readonly json?: true;
}

export function addReopen(program: Command): void {
  program
    .command('reopen')
    .description('close a session once its commands have ended, and enter its environment again')
    .argument('[name]', 'the session')
    .option('--if-stale', 'leave it as it is where nothing has changed that the environment is made of')
    .option('--socket <PATH>', 'the session that this socket belongs to')
    .option('-q, --quiet', 'do not tell how far it is')
    .option('--json', 'print what was opened, as JSON')
    .addHelpText(
      'after',
      `
The session is opened as it was opened before: from the same files, as they are
now, and with the same flags. Variables that pass_env names are taken from here.

Examples:
  holdfast reopen                  the session of this project
  holdfast reopen web --if-stale   only when a file has changed`,
    )
    .action(async (name: string | undefined, flags: ReopenFlags) => {
      const { reopenCommand } = await import('./reopen-command.js');
      await reopenCommand(name, flags);
    });
}
