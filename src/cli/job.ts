// `holdfast job wait|logs|kill`: one background job.

import type { Command } from 'commander';

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
  holdfast job kill web "$id"`,
    );
  addAction(job, 'wait', 'wait for the end of a job, and exit with its status');
  addAction(job, 'logs', 'print what a job has written');
  addAction(job, 'kill', 'end a job: SIGTERM, and SIGKILL after the grace');
}

function addAction(job: Command, action: 'wait' | 'logs' | 'kill', description: string): void {
  job
    .command(action)
    .description(description)
    .argument('<name>', 'the session')
    .argument('<id>', "the job, as 'holdfast jobs' shows it")
    .action(async (name: string, id: string) => {
      const control = await import('./job-control.js');
      switch (action) {
        case 'wait':
          return control.waitForJob(name, id);
        case 'logs':
          return control.printJobLog(name, id);
        case 'kill':
          return control.killJob(name, id);
      }
    });
}
