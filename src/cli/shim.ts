// `holdfast shim install|list|remove`: tools that run in the session of the project in which they are called.

import { resolve } from 'node:path';
import type { Command } from 'commander';

import { formatTable, shellWord } from './table.js';

export function addShim(program: Command): void {
  const shim = program
    .command('shim')
    .description('make tools on your PATH run inside the session of the project around')
    .addHelpText(
      'after',
      `
A shim is a link to runner-exec under the name of a tool. It runs the tool of
that name in $HOLDFAST_SESSION, else in the session of the project around the
working directory. Outside of projects, and inside the session itself, it steps
aside for the next tool of that name on the PATH.

Examples:
  holdfast shim install ~/.holdfast/shims cargo rustc go
  export PATH="$HOME/.holdfast/shims:$PATH"
  cd project && cargo build                 runs in the project's environment
  holdfast shim remove ~/.holdfast/shims    all of them`,
    );
  shim
    .command('install')
    .description('make shims; the directory is for them alone')
    .argument('<dir>', 'where: a directory of shims, an empty one, or one that is to be made')
    .argument('<tool...>', 'their names')
    .action(install);
  shim
    .command('list')
    .description('list shims, and the runner-exec that each leads to')
    .argument('<dir>', 'a directory of shims')
    .option('--json', 'print JSON')
    .action(list);
  shim
    .command('remove')
    .description('take shims away: those that are named, else all, and the directory with them')
    .argument('<dir>', 'a directory of shims')
    .argument('[tool...]', 'their names')
    .action(remove);
}

async function install(given: string, tools: readonly string[]): Promise<void> {
  const { installShims } = await import('../session/shim-directory.js');
  const directory = resolve(given);
  installShims(directory, tools);
  if ((process.env['PATH'] ?? '').split(':').includes(directory)) return;
  process.stdout.write(`put them first on your PATH: export PATH=${shellWord(directory)}:"$PATH"\n`);
}

async function list(given: string, options: { json?: true }): Promise<void> {
  const { listShims } = await import('../session/shim-directory.js');
  const shims = listShims(resolve(given));
  if (options.json) process.stdout.write(`${JSON.stringify(shims, undefined, 2)}\n`);
  else if (shims.length > 0) {
    const rows = shims.map(({ tool, program, isBroken }) => [tool, isBroken ? `${program} (is not there)` : program]);
    process.stdout.write(formatTable(['TOOL', 'PROGRAM'], rows));
  }
}

async function remove(given: string, tools: readonly string[]): Promise<void> {
  const { removeShims } = await import('../session/shim-directory.js');
  removeShims(resolve(given), tools);
}
