// `holdfast jobs`: what was started with `runner-exec --detach`.

import type { Command } from 'commander';
import { signalName } from '../client/signal-name.js';
import type { Job } from './job-control.js';
import { selectName } from './selection.js';
import { formatSpan, formatTable, shellWord } from './table.js';

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
  const shown = options.all ? all : all.filter((job) => job.state !== 'ended' || job.leftovers !== undefined);
  if (options.json) {
    process.stdout.write(`${JSON.stringify(shown, undefined, 2)}\n`);
    return;
  }
  if (shown.length === 0) return;
  const rows = shown.map((job) => [
    job.id,
    stateOf(job),
    job.pid === 0 ? '-' : String(job.pid),
    ageOf(job),
    job.command.map(shellWord).join(' '),
  ]);
  process.stdout.write(formatTable(['ID', 'STATE', 'PID', 'FOR', 'COMMAND'], rows));
}

/** A state, or how it ended: `exit 0`, `SIGSEGV`, `killed (SIGTERM)`. */
function stateOf({ state, outcome, leftovers }: Job): string {
  if (outcome === undefined) return state;
  const left = leftovers === undefined ? '' : `, ${leftovers.length} left`;
  if (outcome.kind !== 'cancelled') return `${describe(outcome)}${left}`;
  const by = { kill: 'killed', deadline: 'deadline', shutdown: 'session closed' }[outcome.by];
  return `${by} (${describe(outcome.ending)})${left}`;
}

function describe(ending: { kind: 'exited'; code: number } | { kind: 'signaled'; signal: number }): string {
  return ending.kind === 'exited' ? `exit ${ending.code}` : signalName(ending.signal);
}

/** How long it ran, or runs, or waits. */
function ageOf({ acceptedAt, startedAt = acceptedAt, endedAt = Date.now() }: Job): string {
  return formatSpan(Math.max(0, endedAt - startedAt));
}
