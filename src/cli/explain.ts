// `holdfast explain`: the variables that a command gets in a session, and who gave each.

import type { Command } from 'commander';

import { selectName } from './selection.js';

export function addExplain(program: Command): void {
  program
    .command('explain')
    .description('show the variables that commands get in a session, and where each comes from')
    .argument('[name]', 'the session')
    .argument('[var]', 'one variable')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  holdfast explain web               all variables and functions
  holdfast explain web PATH          one: each directory on a line of its own
  HOLDFAST_SESSION=web holdfast explain --json`,
    )
    .action(explain);
}

async function explain(given: string | undefined, wanted: string | undefined, options: { json?: true }): Promise<void> {
  const name = selectName(given);
  const { explainEnvironment, formatVariables, formatVariable } = await import('./explanation.js');
  const all = await explainEnvironment(name);
  const shown = wanted === undefined ? all : all.filter((variable) => variable.name === wanted || variable.function === wanted);
  if (shown.length === 0 && wanted !== undefined) {
    const { HoldfastError } = await import('../errors.js');
    throw new HoldfastError('USAGE', `no variable or function '${wanted}' is set in session '${name}'`, {
      hint: "it can be set with the session's env, or for one command with runner-exec --env",
    });
  }
  if (options.json) process.stdout.write(`${JSON.stringify(shown, undefined, 2)}\n`);
  else if (wanted === undefined) process.stdout.write(formatVariables(shown));
  else for (const variable of shown) process.stdout.write(formatVariable(variable));
}
