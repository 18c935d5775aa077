// The transformation that a session is to a spawner: from a command to the command that runs it there. Pure.

import { resolve } from 'node:path';

import { HoldfastError } from '../errors.js';
import type { CommandSpec, PreparedCommand } from './exec-session.js';

export interface PrepareContext {
  /** Absolute path of the client. */
  readonly runnerExec: string;
  /** Absolute. */
  readonly socket: string;
  /** Names of variables whose value is read per request: the session's `runtime_pass_env`. */
  readonly runtimePassEnv: readonly string[];
  /** The caller's variables and directory. */
  readonly caller: { readonly env: NodeJS.ProcessEnv; readonly cwd: string };
}

/** Mode host: the command itself, with what child_process would fill in. @throws {HoldfastError} `REQUEST_INVALID`. */
export function prepareOnHost(spec: CommandSpec, { env, cwd }: PrepareContext['caller']): PreparedCommand {
  checkSpec(spec);
  return { program: spec.program, args: [...(spec.args ?? [])], env: definedOf(spec.env ?? env), cwd: spec.cwd ?? cwd };
}

/**
 * The client, told by name which variables of its own environment are the command's. So no value is in an argv, where every user
 * can read it. What else is in its environment goes no further than to a wrapper (docker, ssh), which needs it to work.
 *
 * @throws {HoldfastError} `REQUEST_INVALID`.
 */
export function prepareForClient(spec: CommandSpec, context: PrepareContext): PreparedCommand {
  checkSpec(spec);
  const { runnerExec, socket, runtimePassEnv, caller } = context;
  const own = Object.entries(spec.env ?? {});
  const words: string[] = ['--socket', socket];
  for (const name of runtimePassEnv) {
    if (name === '*') words.push('--pass-env', '*');
    else if (caller.env[name] !== undefined && !Object.hasOwn(spec.env ?? {}, name)) words.push('--pass-env', name);
  }
  for (const [name, value] of own) words.push(value === undefined ? '--unset' : '--pass-env', passable(name));
  if (spec.cwd !== undefined) words.push('--cwd', resolve(caller.cwd, spec.cwd));
  words.push('--', spec.program, ...(spec.args ?? []));
  const env = { ...definedOf(caller.env), ...definedOf(spec.env ?? {}) };
  // The directory is one in the session, where this host need not have it; so the client starts in one that is always there.
  return { program: runnerExec, args: words, env, cwd: spec.cwd === undefined ? caller.cwd : '/' };
}

function checkSpec({ program, args: givenArgs, env: givenEnv, cwd }: CommandSpec): void {
  const args = givenArgs ?? [];
  const env = givenEnv ?? {};
  if (program === '') throw invalid("cannot run '': a program needs a name");
  const words = [program, ...args, cwd ?? '', ...Object.values(env).map((value) => value ?? '')];
  const broken = words.find((word) => word.includes('\0'));
  if (broken !== undefined) throw invalid(`cannot run '${program}': ${JSON.stringify(broken)} has a NUL in it`);
  if (cwd === '') throw invalid("the working directory is ''");
  for (const name of Object.keys(env)) {
    if (name === '' || /[=\0]/.test(name)) throw invalid(`${JSON.stringify(name)} cannot be the name of a variable`);
  }
}

/** To the client the word means all of them. */
function passable(name: string): string {
  if (name === '*') throw invalid("'*' cannot be the name of a variable");
  return name;
}

function definedOf(variables: Readonly<Record<string, string | undefined>>): Record<string, string> {
  // Not by assignment: a variable may be called __proto__.
  return Object.fromEntries(Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

function invalid(message: string): HoldfastError {
  return new HoldfastError('REQUEST_INVALID', message);
}
