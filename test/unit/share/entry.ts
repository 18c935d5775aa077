// Runs launchers as `holdfast open` does, with a shim that prints its environment, and asks bash what arrived.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const PRINT_ENVIRONMENT = "process.stdout.write('<<' + fs.readFileSync('/proc/self/environ', 'latin1') + '>>', 'latin1')";

export const share = fileURLToPath(new URL('../../../share/', import.meta.url));

/** No shell: dash would drop the names that functions have in an environment. Prints what it was started with between marks. */
export const SHIM: readonly string[] = [process.execPath, '-e', PRINT_ENVIRONMENT, '__enter', 'two words', "it's"];

/** What the shim takes out (native/): the environment as a target would get it. */
const OF_THE_LAUNCH = ['BASH_ENV', 'HOLDFAST_LAUNCH', 'HOLDFAST_USER_BASH_ENV', '_', 'PWD', 'OLDPWD', 'SHLVL'];

export interface Entered {
  readonly status: number | null;
  /** What the launcher itself printed, before and after the shim. */
  readonly said: string;
  readonly stderr: string;
  /** `undefined`: the shim was not reached. */
  readonly environment: Record<string, string> | undefined;
  /** Runs `code` in a bash with that environment: what it prints, standard error included. */
  bash(code: string): string;
}

/** A scratch directory that is gone after the test. */
export function scratch(): string {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-share-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export function run(argv: readonly string[], env: Record<string, string> = {}, cwd = scratch()): Entered {
  const [program = '', ...args] = argv;
  const result = spawnSync(program, args, {
    cwd,
    env: { PATH: '/usr/bin:/bin', HOME: cwd, ...env },
    // As a launcher gets it. On a socket, which is what Node calls a pipe, `bash -c` takes itself for a remote shell: no BASH_ENV.
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'latin1',
    maxBuffer: 2 ** 26,
  });
  const start = result.stdout.indexOf('<<');
  const end = result.stdout.lastIndexOf('>>');
  const block = start < 0 ? undefined : result.stdout.slice(start + 2, end);
  const environment = block === undefined ? undefined : parse(block);
  return {
    status: result.status,
    said: block === undefined ? result.stdout : result.stdout.slice(0, start) + result.stdout.slice(end + 2),
    stderr: result.stderr,
    environment,
    bash(code) {
      const target = spawnSync('bash', ['-c', `exec 2>&1; ${code}`], {
        env: environment,
        stdio: ['ignore', 'pipe', 'pipe'],
        encoding: 'utf8',
      });
      return target.stdout + target.stderr;
    },
  };
}

/** `bash l.sh SHIM…`, with `script` in l.sh and bash-env.sh in BASH_ENV. */
export function enter(script: string, options: { env?: Record<string, string>; before?: readonly string[] } = {}): Entered {
  const directory = scratch();
  const path = join(directory, 'l.sh');
  writeFileSync(path, script);
  return run([...(options.before ?? ['bash']), path, ...SHIM], { ...launchEnvironment(), ...options.env }, directory);
}

export function launchEnvironment(): Record<string, string> {
  return { BASH_ENV: `${share}bash-env.sh`, HOLDFAST_LAUNCH: `${share}bash-env.sh` };
}

function parse(block: string): Record<string, string> {
  const pairs = block.split('\0').filter((entry) => entry !== '');
  const all = pairs.map((entry): [string, string] => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]);
  return Object.fromEntries(all.filter(([name]) => !OF_THE_LAUNCH.includes(name)));
}
