// What the wrapper is given to run: the command itself, or, where the wrapper cannot do all that is asked, a small POSIX sh script or
// env(1) in front of it, both as busybox has them. Pure; text is latin1, one character a byte.

import type { InsideEnvironment } from './environment.js';
import { isOrdinaryName, isShellName, quoteWord } from './quote.js';

/** By what the inside proves that the command was reached, and not only the wrapper started. */
export type StartProof =
  | { readonly kind: 'descriptor'; readonly fd: number }
  /** `word` is a line of its own in the file `path`. */
  | { readonly kind: 'file'; readonly path: string; readonly word: string }
  /** By the wrapper itself, in its status. */
  | { readonly kind: 'status'; readonly fd: number };

export interface InsideTask {
  /** The first word is what is looked up inside. */
  readonly words: readonly string[];
  /** What the command is to see as its name, where that is not the first word. */
  readonly argv0: string | undefined;
  /** To be entered from inside; `undefined`: the wrapper sees to it. */
  readonly directory: string | undefined;
  /** What the wrapper's options do not say of it. */
  readonly environment: InsideEnvironment | undefined;
  /** The variable that holds each weak value, when it must not be in a command line. */
  readonly weakFrom: ReadonlyMap<string, string> | undefined;
  /** Variables that come under another name: without one of them, the command must not run. */
  readonly lent: ReadonlyMap<string, string>;
  readonly proof: StartProof | undefined;
  /** Whether a first word that begins with `-` is safe from the wrapper. */
  readonly isShielded: boolean;
}

/** Its path is fixed, since the PATH inside may be any; an exit of ours is 125 there too. */
const SHELL = '/bin/sh';

/** dash has no `exec --`, and takes `-e` for a program, as it is meant; the others would take it for an option. */
const EXEC_DASHED = '(exec -- true) 2>&- && exec -- "$@"\nexec "$@"';

/** POSIX has no way to name a program other than by its path; most systems have one of these. */
const EXEC_NAMED = `name=$1; shift
if (exec -a x true) 2>/dev/null; then exec -a "$name" "$@"; fi
if env --argv0=x true 2>/dev/null; then exec env --argv0="$name" "$@"; fi
if command -v bash >/dev/null; then exec bash -c 'exec -a "$0" "$@"' "$name" "$@"; fi
if command -v perl >/dev/null; then exec perl -e '$p = $ARGV[1]; splice(@ARGV, 1, 1); exec {$p} @ARGV; exit 127' "$name" "$@"; fi
echo "holdfast: nothing inside can run a command under another name" >&2
exit 125`;

/** The words for the wrapper. */
export function insideWords(task: InsideTask): string[] {
  const lines = scriptLines(task);
  if (lines.length === 0) return withEnvironment(task, false);
  const { exported, words } = behindShell(task);
  return [SHELL, '-c', [...exported, ...lines, 'exec "$@"'].join('\n'), 'sh', ...words];
}

/** The same as one script for a shell on the far side. */
export function insideScript(task: InsideTask): string {
  const { exported, words } = behindShell(task);
  return [...exported, ...scriptLines(task), `exec ${words.map(quoteWord).join(' ')}`].join('\n');
}

/** What a shell that is there anyway executes: it sets variables itself, which spares an env(1), where it can have all of them. */
function behindShell(task: InsideTask): { exported: readonly string[]; words: readonly string[] } {
  const { environment } = task;
  const isShells = environment !== undefined && !environment.exact && [...environment.set.keys()].every(isOrdinaryName);
  if (!isShells || environment.unset.some((name) => !isShellName(name))) return { exported: [], words: withEnvironment(task, true) };
  const exported = [...environment.set].map(([name, value]) => `${name}=${quoteWord(value)}; export ${name}`);
  return { exported, words: commandWords(task, 'exec') };
}

function withEnvironment(task: InsideTask, followsExec: boolean): string[] {
  const variables = environmentWords(task.environment);
  const follows = variables.length > 0 ? 'env' : followsExec ? 'exec' : task.isShielded ? undefined : 'wrapper';
  return [...(variables.length > 0 ? ['env', ...variables] : []), ...commandWords(task, follows)];
}

/** A first word that begins with `-` would be an option of what stands before it; one with `=` in it, a variable for env. */
function commandWords({ words, argv0 }: InsideTask, follows: 'env' | 'exec' | 'wrapper' | undefined): readonly string[] {
  if (argv0 !== undefined) return [SHELL, '-c', EXEC_NAMED, 'sh', argv0, ...words];
  const [program = ''] = words;
  const isMistaken = (follows !== undefined && program.startsWith('-')) || (follows === 'env' && program.includes('='));
  return isMistaken ? [SHELL, '-c', EXEC_DASHED, 'sh', ...words] : words;
}

function environmentWords(environment: InsideEnvironment | undefined): string[] {
  if (environment === undefined) return [];
  const { exact, set, unset } = environment;
  const options = exact ? ['-i'] : unset.filter((name) => !isShellName(name)).flatMap((name) => ['-u', name]);
  const pairs = [...set].map(([name, value]) => `${name}=${value}`);
  return [...options, ...(pairs.some((pair) => pair.startsWith('-')) ? ['--'] : []), ...pairs];
}

function scriptLines({ directory, environment, weakFrom, lent, proof }: InsideTask): string[] {
  const lines: string[] = [];
  for (const [name, from] of lent) {
    lines.push(`[ "\${${from}+x}" ] || { echo "holdfast: variable '${name}' was not let in (as ${from})" >&2; exit 125; }`);
    lines.push(`${name}=$${from}; export ${name}; unset ${from}`);
  }
  if (directory !== undefined) lines.push(`cd -- ${quoteWord(directory)} || exit 125`, 'unset OLDPWD');
  for (const name of environment?.unset ?? []) if (isShellName(name)) lines.push(`unset ${name}`);
  for (const [name, value] of environment?.weak ?? []) {
    const from = weakFrom?.get(name);
    // A name that no shell can have cannot be looked for.
    if (!isShellName(name)) continue;
    lines.push(`[ "\${${name}+x}" ] || { ${name}=${from === undefined ? quoteWord(value) : `$${from}`}; export ${name}; }`);
    if (from !== undefined) lines.push(`unset ${from}`);
  }
  const prepended = environment?.pathPrepend ?? [];
  if (prepended.length > 0) lines.push(`PATH=${quoteWord(prepended.join(':'))}\${PATH:+:$PATH}; export PATH`);
  // Last: what fails before it is not the command's. Not to /dev/null: a bare root has none.
  if (proof?.kind === 'descriptor') lines.push(`{ echo >&${proof.fd}; } 2>&-`, `exec ${proof.fd}>&-`);
  if (proof?.kind === 'file') lines.push(`{ echo ${quoteWord(proof.word)} >>${quoteWord(proof.path)}; } 2>&-`);
  return lines;
}
