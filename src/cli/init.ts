// `holdfast init`: writes a holdfast.toml to begin with.

import { basename, join } from 'node:path';
import type { Command } from 'commander';

import { workingDirectory } from '../client/directory.js';
import { HoldfastError } from '../errors.js';
import { writeWholeFile } from './whole-file.js';

const FILE_NAME = 'holdfast.toml';

export function addInit(program: Command): void {
  program
    .command('init')
    .description('write a holdfast.toml to begin with, from what is in this directory')
    .option('--provider <P>', 'the tool that enters its environment: nix-develop, direnv …')
    .option('--force', 'write it anew when it is there already; what is in it is lost')
    .addHelpText(
      'after',
      `
A project with a flake.nix, .envrc and the like needs no holdfast.toml; with one
it can say more. Examples:
  holdfast init
  holdfast init --provider nix-print-dev-env`,
    )
    .action(init);
}

async function init(options: { provider?: string; force?: true }): Promise<void> {
  const { starterFor } = await import('../config/starter.js');
  const directory = workingDirectory();
  const { text, summary } = starterFor(directory, options.provider);
  if (!writeWholeFile(join(directory, FILE_NAME), text, { replace: options.force ?? false })) {
    throw new HoldfastError('USAGE', `'${FILE_NAME}' is there already, in '${basename(directory)}'`, {
      hint: "'holdfast init --force' writes it anew; what is in it is lost",
    });
  }
  process.stdout.write(`wrote ${FILE_NAME}: ${summary}\n`);
}
