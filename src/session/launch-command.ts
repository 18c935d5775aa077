// The argv of a launcher: what the user gave, and behind it the entry shim, which starts the agent.

import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

import type { Launch } from './definition.js';

export interface LaunchCommand {
  readonly argv: readonly string[];
  /** As child_process takes it. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * @param shim the entry shim and its arguments.
 * @param share the folder of the bash files.
 */
export function launchArgv(launch: Launch, directory: string, shim: readonly string[], share: string): readonly string[] {
  // Neither start-up file of the user's: the script alone is the environment.
  const bash = ['bash', '--norc', '--noprofile'];
  switch (launch.style) {
    case 'enter':
      return [...launch.argv, ...shim];
    case 'enter-string':
      return [...launch.argv, shim.map(quoteForShell).join(' ')];
    case 'source':
      return [...bash, join(share, 'source.bash'), resolve(directory, launch.script), ...shim];
    case 'source-command':
      return [...bash, join(share, 'source-command.bash'), String(launch.argv.length), ...launch.argv, ...shim];
  }
}

/** Whether the launcher is bash by its name, or a script whose first line names bash. */
export function isBashLauncher(launch: Launch, directory: string): boolean {
  if (launch.style !== 'enter') return false;
  const [program = ''] = launch.argv;
  if (basename(program) === 'bash') return true;
  // Without a slash it is looked up on PATH, where programs are, not somebody's script.
  return program.includes('/') && /^#!.*\bbash\b/.test(firstLine(resolve(directory, program)));
}

function firstLine(path: string): string {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    // That it cannot be started is told when it is started.
    return '';
  }
  try {
    const start = Buffer.alloc(128);
    return start.toString('latin1', 0, readSync(fd, start)).split('\n', 1)[0] ?? '';
  } catch {
    return '';
  } finally {
    closeSync(fd);
  }
}

/** One word for any POSIX shell. */
export function quoteForShell(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * The same command for child_process, whose variables are UTF-8 alone: those that are not (latin1 here, one character a byte)
 * are set by `env`, written in octal. Seldom needed, hence a shell rather than a way of our own to start a process.
 */
export function withRawVariables(argv: readonly string[], environment: ReadonlyMap<string, string>): LaunchCommand {
  const env: Record<string, string> = {};
  const raw: string[] = [];
  const isPlain = [...environment].every(([name, value]) => isUtf8(Buffer.from(`${name}=${value}`, 'latin1')));
  for (const [name, value] of environment) {
    const bytes = Buffer.from(`${name}=${value}`, 'latin1');
    // A shell drops what it has no variable for (dash: exported functions, names with a dot), so those go around it too.
    if (isUtf8(bytes) && (isPlain || /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)))
      env[Buffer.from(name, 'latin1').toString()] = Buffer.from(value, 'latin1').toString();
    else raw.push(octal(bytes));
  }
  if (raw.length === 0) return { argv, env };
  // `$(…)` strips final newlines: the dot keeps them.
  const assignments = raw.map((pair, i) => `v${i}=$(printf '${pair}.')\n`).join('');
  const script = `${assignments}exec env ${raw.map((_, i) => `"\${v${i}%.}"`).join(' ')} "$@"`;
  return { argv: ['/bin/sh', '-c', script, 'sh', ...argv], env };
}

function octal(bytes: Buffer): string {
  return Array.from(bytes, (byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}
