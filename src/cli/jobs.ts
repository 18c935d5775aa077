// `holdfast jobs`: what was started with `runner-exec --detach`.

import type { Command } from 'commander';

import { selectName } from './selection.js';
import { formatTable, shellWord } from './table.js';

export function addJobs(program: Command): void {
  program
    .command('jobs')
    .description('list the background jobs of a session')
    .argument('[name]', 'the session')
    .option('-a, --all', 'ended jobs too (they are remembered for an hour)')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  runner-exec --session web --detach -- npm start     start one: prints its id
  holdfast jobs web
  holdfast job logs web ID`,
    )
    .action(jobs);
}

async function jobs(given: string | undefined, options: { all?: true; json?: true }): Promise<void> {
  const name = selectName(given);
  const { listJobs } = await import('./job-control.js');
  const all = await listJobs(name);
  const shown = options.all ? all : all.filter((job) => job.state === 'running');
  if (options.json) {
    process.stdout.write(`${JSON.stringify(shown, undefined, 2)}\n`);
    return;
  }
  if (shown.length === 0) return;
  const rows = shown.map((job) => [job.id, job.state, String(job.pid), job.command.map(shellWord).join(' ')]);
  process.stdout.write(formatTable(['ID', 'STATE', 'PID', 'COMMAND'], rows));
}
