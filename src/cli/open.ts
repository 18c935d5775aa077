// `holdfast open`: enters an environment and holds it.

import type { Command } from 'commander';

import { addSettingFlags } from './flags.js';

export interface OpenFlags {
  readonly config?: string;
  readonly project?: string;
  readonly foreground?: true;
  readonly quiet?: true;
  readonly json?: true;
}

/** @param launcher the words after `--`, which commander never sees. */
export function addOpen(program: Command, launcher: readonly string[]): void {
  const open = program
    .command('open')
    .description('enter an environment and hold it; returns when the session serves')
    .argument('[name]', "the session's name; absent: the project around the working directory")
    .usage('[NAME] [options] [-- LAUNCHER...]')
    .option('--config <FILE>', 'take the session from this holdfast.toml or runner.json')
    .option('--project <DIR>', 'search from this directory; run the launcher in the project found')
    .option('--foreground', 'stay until the session ends; a stop signal closes it (for a supervisor)')
    .option('-q, --quiet', 'do not tell how far it is')
    .option('--json', 'print what was opened, as JSON');
  open.addHelpText('after', HELP).action(async (name: string | undefined, options: OpenFlags) => {
    const { openCommand } = await import('./open-command.js');
    await openCommand(name, options, launcher);
  });
  addSettingFlags(open);
}

const HELP = `
A LAUNCHER is a program that enters the environment and then runs the command
given behind it. Every key of holdfast.toml has a flag of the same name;
docs/config.md explains each. Durations: 500ms, 90s, 1h30m, never.

Examples:
  holdfast open                             the project around this directory
  holdfast open web -- devenv shell --      what a launcher enters, as 'web'
  holdfast open nix -- nix develop --command
  holdfast open sdk --source ./sdk/env.sh   what a script sets when sourced
  holdfast open box --config box.toml       what a file declares
  holdfast open ci --idle-timeout never --env CI=1 -- direnv exec .
  runner-exec --session web -- make         run a command in it`;
