// `holdfast explain`: the variables that a command gets in a session, and who gave each.

import type { Command } from 'commander';

import { HoldfastError } from '../errors.js';
import { selectName } from './selection.js';

/** @param command the words after `--`, which commander never sees. */
export function addExplain(program: Command, command: readonly string[]): void {
  /** Options of runner-exec, in the order typed, which matters. */
  const request: string[] = [];
  const take = (flag: string) => (value: string) => {
    request.push(flag, value);
  };
  program
    .command('explain')
    .description('show the variables that commands get in a session, and where each comes from')
    .argument('[name]', 'the session')
    .argument('[var]', 'one variable or function')
    .usage('[name] [var] [options] [-- CMD...]')
    .option('--diff', 'only what is different from your own environment')
    .option('--json', 'print JSON')
    .option('-e, --env <K=V>', 'as if runner-exec had it, like the following ones: set a variable', take('--env'))
    .option('--pass-env <K>', "pass a variable of yours; '*': all", take('--pass-env'))
    .option('--unset <K>', 'take a variable away', take('--unset'))
    .option('--path-prepend <DIR>', 'put a directory in front of PATH', take('--path-prepend'))
    .option('--exact', 'nothing but what these options say')
    .addHelpText('after', HELP)
    .action(async (name: string | undefined, wanted: string | undefined, options: ExplainOptions) => {
      if (command.length > 0) {
        const { layersCommand } = await import('./layers.js');
        process.stdout.write(layersCommand(selectName(name), command, options));
        return;
      }
      const { explainCommand } = await import('./explain-command.js');
      const [session, variable] = name === undefined || wanted !== undefined ? [selectName(name), wanted] : await meant(name);
      process.stdout.write(await explainCommand(session, variable, { ...options, request }));
    });
}

/** A word alone: a session of that name, where one is open; else a variable of the session that is meant without a name. */
async function meant(word: string): Promise<[name: string, wanted: string | undefined]> {
  const { readOpened } = await import('../session/opened.js');
  const name = selectName(word);
  try {
    readOpened(name);
    return [name, undefined];
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== 'NO_SESSION') throw error;
  }
  try {
    return [selectName(undefined), word];
  } catch {
    return [name, undefined];
  }
}

export interface ExplainOptions {
  readonly diff?: true;
  readonly json?: true;
  readonly exact?: true;
}

const HELP = `
What is shown is what 'runner-exec --session NAME' with the same options gives a
command, run from here: the working directory, your terminal and your variables
count. Values are shown in full, secrets too, since they are yours; control
characters and bytes that are no text are shown escaped, as bash reads them.

Examples:
  holdfast explain web               all variables and functions
  holdfast explain web PATH          one: each directory, and who put it there
  holdfast explain PATH              the same, in the session of this project
  holdfast explain web --diff        what the session adds, changes and removes
  holdfast explain web CC -e CC=gcc  what this option does to it
  holdfast explain box -- make       what stands between, and what is executed
  HOLDFAST_SESSION=web holdfast explain --json`;
