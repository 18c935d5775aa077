// Definitions to try the rewriting on, and a real shell to try its result in.

import { spawnSync } from 'node:child_process';
import type { WrapDefinition } from '../../../src/wrap/definition.js';
import type { InsideEnvironment } from '../../../src/wrap/environment.js';

export function wrapOf(changes: Partial<WrapDefinition> = {}): WrapDefinition {
  return {
    prefix: ['box', 'exec'],
    operand: [],
    envStyle: 'inherit',
    ttyOption: [],
    pathMap: {},
    mapArgv: false,
    failureCodes: [],
    farSide: 'local',
    ...changes,
  };
}

export function insideOf(changes: Partial<InsideEnvironment> = {}): InsideEnvironment {
  return { exact: false, set: new Map(), unset: [], weak: new Map(), pathPrepend: [], ...changes };
}

/** Shells that a far side may have. */
export const SHELLS: readonly (readonly string[])[] = [['dash'], ['bash', '--posix'], ['bash'], ['busybox', 'sh']];

/** Words that change meaning wherever one layer of quoting too few or too many is. */
export const NASTY: readonly string[] = [
  'a b',
  '',
  '$HOME',
  "x'y",
  '"q"',
  '*',
  'line\nbreak\n',
  '\\',
  "'\\''",
  ';id',
  '-n',
  '--',
  'a=b',
  '`id`',
  '!x',
  '~',
  '\xff\xfe\x80',
];

/** Runs a program with latin1 words and variables, a byte a character; what it prints comes back in the same way. */
export function runBytes(
  argv: readonly string[],
  env: ReadonlyMap<string, string> = new Map(),
  cwd = '/',
): { status: number | null; out: string; err: string } {
  // Node gives its arguments as UTF-8, so other bytes go through the shell's own notation of them.
  const [program = '', ...args] = argv;
  const variables = [...env].map(([name, value]) => octal(`${name}=${value}`));
  const script = `exec env -i ${[...variables, octal(program), ...args.map(octal)].join(' ')}`;
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], {
    cwd,
    encoding: 'latin1',
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'pipe'], // on a socket bash reads .bashrc
  });
  return { status, out: stdout, err: stderr };
}

/** bash's quoting of any bytes, in ASCII. */
function octal(word: string): string {
  return `$'${[...word].map((char) => (/[A-Za-z0-9_/.,=-]/.test(char) ? char : `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)).join('')}'`;
}

/** A command that prints each of its words and the named variables, each ended by a NUL. */
export const SHOW = ['/bin/sh', '-c', 'printf "%s\\0" "$@"; printenv -0 NASTY || true; pwd', 'show'];
