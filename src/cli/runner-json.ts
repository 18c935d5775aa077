// `holdfast runner-json`: an open session as a runner.json, for heph and other tools.

import type { Command } from 'commander';

import { selectName } from './selection.js';
import { writeWholeFile } from './whole-file.js';

export function addRunnerJson(program: Command): void {
  program
    .command('runner-json')
    .description('print an open session as a runner.json, for heph and other tools')
    .argument('[name]', 'the session')
    .option('--output <FILE>', 'write it to this file, whole or not at all')
    .addHelpText(
      'after',
      `
Mode session becomes runner "session", mode wrap and snapshot runner "wrap",
mode host runner "local". 'holdfast open NAME --config runner.json' opens one.

Examples:
  holdfast runner-json web
  holdfast runner-json --output tools/runner.json`,
    )
    .action(runnerJson);
}

async function runnerJson(given: string | undefined, options: { output?: string }): Promise<void> {
  const name = selectName(given);
  const { runnerJsonOfSession } = await import('../config/session-runner-json.js');
  const text = `${JSON.stringify(await runnerJsonOfSession(name), undefined, 2)}\n`;
  if (options.output === undefined) process.stdout.write(text);
  else writeWholeFile(options.output, text);
}
