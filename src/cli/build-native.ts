// `holdfast build-native`: the addon and the client for a machine that the package ships none for. Packages run no install script, so
// it is for the user to say so; `holdfast doctor` tells when. Loads nothing of the addon.

import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';

import { HoldfastError } from '../errors.js';
import { installed, prebuiltFolders } from '../install.js';

/** Output of a compiler that is shown; the rest is noise that follows from the first error. */
const SHOWN_LINES = 20;

export function addBuildNative(program: Command): void {
  program
    .command('build-native')
    .description('make the native parts fit this machine, where the package does not bring them')
    .option('--headers <dir>', 'the folder of Node’s headers that has node_api.h')
    .option('--compile', 'compile them, even where a prebuilt one would do')
    .addHelpText(
      'after',
      `
Takes what the package brings for this platform, else compiles it with $CC or cc
(and musl-gcc, where it is installed, for a client that starts faster).
'holdfast doctor' tells whether this is needed.`,
    )
    .action(buildNative);
}

function buildNative(options: { headers?: string; compile?: true }): void {
  const dist = dirname(installed.runnerExec);
  const prebuilt = options.compile ? undefined : prebuiltFolders().find((folder) => fits(join(folder, 'holdfast.node')));
  if (prebuilt === undefined) compile(dist, options.headers);
  else for (const name of ['holdfast.node', 'runner-exec']) place(join(prebuilt, name), join(dist, name));
  const addon = join(dist, 'holdfast.node');
  const wrong = fits(addon) ? (runs(installed.runnerExec) ? undefined : installed.runnerExec) : addon;
  if (wrong !== undefined) {
    throw new HoldfastError('NATIVE_MISSING', `'${wrong}' was made, and does not work here`, { hint: "'holdfast doctor' says why" });
  }
  process.stdout.write(`${prebuilt === undefined ? 'compiled' : 'copied'} '${addon}' and '${installed.runnerExec}'\n`);
}

function compile(dist: string, headers: string | undefined): void {
  const folder = headers === undefined ? findHeaders() : resolve(headers);
  if (folder === undefined || !existsSync(join(folder, 'node_api.h'))) {
    const where = headers === undefined ? `beside '${process.execPath}'` : `in '${headers}'`;
    throw new HoldfastError('NATIVE_MISSING', `no headers of Node are ${where} to compile the addon with`, {
      hint: "install them (Debian: libnode-dev; 'npx node-gyp install' fetches them), and name their folder with --headers",
    });
  }
  const scripts = join(dirname(dist), 'scripts');
  run(['sh', join(scripts, 'build-client.sh'), installed.runnerExec], 'the client');
  run(['sh', join(scripts, 'build-addon.sh'), join(dist, 'holdfast.node'), folder], 'the addon');
}

/** Node's own tarball has them beside bin/; Debian and npm's `nodedir` have places of their own. */
function findHeaders(): string | undefined {
  const nodedir = process.env['npm_config_nodedir'];
  const places = [
    ...(nodedir === undefined ? [] : [join(nodedir, 'include/node')]),
    join(dirname(process.execPath), '../include/node'),
    '/usr/include/node',
    '/usr/include/nodejs/src',
  ];
  return places.find((place) => existsSync(join(place, 'node_api.h')));
}

function run([program = '', ...args]: readonly string[], what: string): void {
  const result: SpawnSyncReturns<string> = spawnSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (result.status === 0) return;
  const said = `${result.stdout ?? ''}${result.stderr ?? ''}`.trimEnd().split('\n').slice(0, SHOWN_LINES);
  const why = result.error?.message ?? said[0] ?? `'${program}' ended with ${result.status ?? result.signal}`;
  const error = new HoldfastError('NATIVE_MISSING', `${what} does not compile: ${why}`, {
    hint: 'install a C compiler (Debian: gcc libc6-dev), or name one in CC; the package’s own folder must be yours to write',
    cause: result.error,
  });
  throw Object.assign(error, { output: said });
}

/** In place of one that may be running. */
function place(from: string, to: string): void {
  const fresh = `${to}.${process.pid}`;
  try {
    copyFileSync(from, fresh);
    renameSync(fresh, to);
  } catch (cause) {
    rmSync(fresh, { force: true });
    throw new HoldfastError('NATIVE_MISSING', `cannot write '${to}': ${cause instanceof Error ? cause.message : String(cause)}`, {
      hint: 'run it as the user who installed the package',
      cause,
    });
  }
}

/** Loaded in a Node of its own, since one that is wrong may end the process. */
function fits(addon: string): boolean {
  return existsSync(addon) && spawnSync(process.execPath, ['-e', 'require(process.argv[1])', addon], { stdio: 'ignore' }).status === 0;
}

function runs(client: string): boolean {
  return spawnSync(client, ['--version'], { stdio: 'ignore' }).status === 0;
}
