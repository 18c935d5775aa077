// `holdfast completion SHELL`.

import { Argument, type Command } from 'commander';

import { completionScript, SHELLS, type Shell } from './completion-script.js';

export function addCompletion(program: Command): void {
  program
    .command('completion')
    .description('print a completion script for bash, zsh or fish')
    .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
    .addHelpText(
      'after',
      `
Examples:
  eval "$(holdfast completion bash)"     in ~/.bashrc
  eval "$(holdfast completion zsh)"      in ~/.zshrc, after compinit
  holdfast completion fish >~/.config/fish/completions/holdfast.fish`,
    )
    .action((shell: Shell) => {
      process.stdout.write(completionScript(shell, program));
    });
}
