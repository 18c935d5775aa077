// The `holdfast` command line: which commands there are. Each command loads what it needs when it is run, so that `--help` and
// `doctor` work where the addon does not.

import { Command, CommanderError } from 'commander';

import { addBuildNative } from './build-native.js';
import { addClose } from './close.js';
import { addCompletion } from './completion.js';
import { addDoctor } from './doctor.js';
import { addExplain } from './explain.js';
import { addFingerprint } from './fingerprint.js';
import { splitAtDashes } from './flags.js';
import { addInit } from './init.js';
import { addJob } from './job.js';
import { addJobs } from './jobs.js';
import { addList } from './list.js';
import { addLogs } from './logs.js';
import { addOpen } from './open.js';
import { addReopen } from './reopen.js';
import { addRunnerJson } from './runner-json.js';
import { addShim } from './shim.js';
import { addSnapshot } from './snapshot.js';
import { addStatus } from './status.js';
import { addTrace } from './trace.js';
import { usageError } from './usage.js';
import { readVersion } from './version.js';

/** @param launcher the words after `--`, which belong to `open` and `explain`. */
export function buildProgram(launcher: readonly string[] = []): Command {
  const program = new Command('holdfast')
    .description('Holds a slow-to-enter environment open, so that runner-exec runs commands in it at the cost of a fork.')
    .option('-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .enablePositionalOptions()
    .configureHelp({ sortSubcommands: false })
    // Commander's own message goes nowhere: main.ts reports it like every other failure.
    .configureOutput({ outputError: () => undefined })
    .exitOverride();
  program.on('option:version', () => {
    process.stdout.write(`${readVersion()}\n`);
    throw new CommanderError(0, 'commander.version', '');
  });
  addOpen(program, launcher);
  addReopen(program);
  addClose(program);
  addList(program);
  addStatus(program);
  addLogs(program);
  addExplain(program, launcher);
  addFingerprint(program);
  addRunnerJson(program);
  addJobs(program);
  addJob(program);
  addTrace(program);
  addShim(program);
  addSnapshot(program);
  addInit(program);
  addDoctor(program);
  addBuildNative(program);
  addCompletion(program);
  program.addHelpText('after', HELP);
  return program;
}

const HELP = `
A session has a NAME. Commands that take [NAME] mean, without one,
$HOLDFAST_SESSION, else the project around the working directory: the nearest
directory upwards with a holdfast.toml, or with a file such as devenv.nix,
flake.nix, shell.nix or .envrc.

Examples:
  cd project && runner-exec -- make       enter the project's environment once,
                                          hold it, and run make in it
  holdfast open web -- devenv shell --    hold what this launcher enters
  runner-exec --session web -- npm test   run a command in it
  holdfast status web                     how it is
  holdfast close web                      leave it

Exit status: 0 done, 1 failed, 2 misuse. docs/errors.md lists every failure
with its cause and cure.`;

/**
 * Runs one command line.
 *
 * @param args the words after `holdfast`.
 * @throws {HoldfastError} and what else the command throws; `ending.ts` says what it means.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { words, launcher } = cutLauncher(args);
  try {
    await buildProgram(launcher).parseAsync(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const usage = usageError(error, words);
    if (usage !== undefined) throw usage;
  }
}

/** Only `open` has a launcher, and `explain` a command; every other one keeps its `--`. */
function cutLauncher(args: readonly string[]): { words: string[]; launcher: string[] } {
  const takes = ['open', 'explain'].includes(args[0] ?? '')
    ? buildProgram().commands.find((command) => command.name() === args[0])
    : undefined;
  if (takes === undefined) return { words: [...args], launcher: [] };
  const { own, rest } = splitAtDashes(takes, args);
  return { words: own, launcher: rest };
}
