// `holdfast close`: leaves environments, with all that runs in them.

import type { Command } from 'commander';

import { HoldfastError } from '../errors.js';
import { describeFailure, SilentFailure } from './ending.js';
import { selectName } from './selection.js';

export function addClose(program: Command): void {
  program
    .command('close')
    .description('close sessions: what runs in them is ended, then the environment is left')
    .argument('[name...]', 'the sessions')
    .option('--all', 'every session of yours')
    .addHelpText(
      'after',
      `
Running commands get SIGTERM, and SIGKILL after the session's kill_grace. Then
the launcher's own exit trap runs.

Examples:
  holdfast close web
  holdfast close .             the session of the project around
  holdfast close --all`,
    )
    .action(close);
}

async function close(names: readonly string[], options: { all?: true }): Promise<void> {
  if (options.all && names.length > 0) {
    throw new HoldfastError('USAGE', "both '--all' and names are given", { hint: 'keep one of them' });
  }
  if (!options.all && names.length === 0) {
    throw new HoldfastError('USAGE', 'no session is named', {
      hint: "name it ('.': that of the project here), or say --all; 'holdfast list' shows the sessions",
    });
  }
  const { closeSession } = await import('../session/close.js');
  const { listSessions } = await import('../session/list.js');
  const wanted = options.all ? (await listSessions()).map((session) => session.name) : [...new Set(names.map(selectName))];
  // Side by side: each may take as long as its commands need to end.
  const results = await Promise.allSettled(wanted.map((name) => closeSession(name)));
  const failures = results
    .flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    .filter((failure) => !options.all || !isGone(failure));
  if (failures.length === 1) throw failures[0];
  for (const failure of failures) process.stderr.write(describeFailure(failure));
  if (failures.length > 0) throw new SilentFailure();
}

/** With --all, one that closed by itself in the meantime is what was wanted. */
function isGone(failure: unknown): boolean {
  return failure instanceof HoldfastError && failure.code === 'NO_SESSION';
}
