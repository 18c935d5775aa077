// `holdfast job wait|logs|kill`: one background job.

import type { Command } from 'commander';

import { selectName } from './selection.js';

export function addJob(program: Command): void {
  const job = program
    .command('job')
    .description('wait for a background job, print its output, or end it')
    .addHelpText(
      'after',
      `
Examples:
  id=$(runner-exec --session web --detach -- make -j8)
  holdfast job logs web "$id"
  holdfast job wait web "$id"               exits as the job did
  holdfast job kill web "$id"
  holdfast job logs "$id"                   of the project around`,
    );
  addAction(job, 'wait', 'wait for the end of a job, and end as it did').addHelpText('after', WAIT_HELP);
  addAction(job, 'logs', 'print what a job has written').option('-f, --follow', 'go on printing until the job ends');
  addAction(job, 'kill', 'end a job and all that it started: SIGTERM, and SIGKILL after the grace; returns when it has ended');
}

const WAIT_HELP = `
Exit status: that of the job. A job that died of a signal: this command dies of
the same one (a shell says 128 + its number). 124: the job was ended for its
deadline (--timeout). 125: how it ended cannot be told, as when there is no such
job, or the session was closed meanwhile.`;

function addAction(job: Command, action: 'wait' | 'logs' | 'kill', description: string): Command {
  return job
    .command(action)
    .description(description)
    .usage('[options] [name] <id>')
    .argument('<name-or-id>', 'the session, and behind it the job; or the job alone')
    .argument('[id]', "the job, as 'holdfast jobs' shows it")
    .action(async (first: string, second: string | undefined, { follow = false }: { follow?: boolean }) => {
      const [name, id] = second === undefined ? [selectName(undefined), first] : [selectName(first), second];
      switch (action) {
        case 'wait':
          return (await import('./job-control.js')).waitForJob(name, id);
        case 'logs':
          return (await import('./job-log.js')).printJobLog(name, id, follow);
        case 'kill':
          return (await import('./job-control.js')).killJob(name, id);
      }
    });
}
