// A session as a runner.json, complete by itself: for a tool that knows nothing of Holdfast. docs/config.md "runner.json". Pure.

import { isUtf8 } from 'node:buffer';
import { join, resolve } from 'node:path';

import { HoldfastError } from '../errors.js';
import type { Launch, SessionDefinition } from '../session/definition.js';
import { isVolatile } from '../session/volatile.js';
import { RUNNER_JSON_VERSION, type RunnerJson } from './runner-json.js';

/** What is known of an open session; variables are latin1, one character a byte. */
export interface RunnerFacts {
  readonly definition: SessionDefinition;
  readonly fingerprint: string;
  /** What its launcher made. */
  readonly captured: ReadonlyMap<string, string>;
  /** `env`, `runtime_env` and what `pass_env` found. */
  readonly declared: ReadonlyMap<string, string>;
  readonly socket: string;
  /** The client's path. */
  readonly runnerExec: string;
}

/** Neither start-up file of the user's; the words of the command are out of a script's sight. */
const BASH = ['bash', '--norc', '--noprofile', '-c'];
const SOURCE = '__command=("$@"); set --; . "${__command[0]}"; "${__command[@]:1}"';
const EVALUATE =
  '__command=("$@"); __count=${__command[0]}; set --; __code=$("${__command[@]:1:__count}") || exit; eval "$__code"; "${__command[@]:__count+1}"';
const AS_STRING = '__command=("${@:2:$1}"); shift "$(($1 + 1))"; exec "${__command[@]}" "${*@Q}"';
const PREPEND = 'export PATH="$0${PATH:+:$PATH}"; exec "$@"';

/** @throws {HoldfastError} `UNSUPPORTED` for a variable that JSON cannot hold. */
export function runnerJsonOf(facts: RunnerFacts): RunnerJson {
  const { definition, fingerprint } = facts;
  const { mode, runtimePassEnv } = definition;
  const version = RUNNER_JSON_VERSION;
  const pass = runtimePassEnv.length === 0 ? {} : { runtime_pass_env: [...runtimePassEnv] };
  if (mode === 'session') {
    return { version, fingerprint, runner: 'session', config: { launch: launchOf(facts), cwd: definition.directory, ...pass } };
  }
  const env = variablesOf(facts);
  if (mode === 'host' && Object.keys({ ...env, ...pass }).length === 0) return { version, fingerprint, runner: 'local', config: {} };
  const { prefix, own } = prefixOf(facts);
  return { version, fingerprint, runner: 'wrap', config: { prefix, env: own ? env : {}, ...pass } };
}

/** `own`: the variables are for the file to say; else the session gives them. */
function prefixOf({ definition, socket, runnerExec }: RunnerFacts): { prefix: readonly string[]; own: boolean } {
  const { wrap, hold } = definition;
  if (wrap === undefined) return { prefix: [], own: true };
  const isStatic =
    wrap.envStyle === 'inherit' && wrap.cwdOption === undefined && Object.keys(wrap.pathMap).length === 0 && hold === undefined;
  if (isStatic)
    return { prefix: [...wrap.prefix, ...wrap.operand, ...(wrap.endOfOptions === undefined ? [] : [wrap.endOfOptions])], own: true };
  // A fixed prefix can carry neither a command's own variables nor its directory to the other side: the open session does.
  return { prefix: [runnerExec, '--socket', socket, '--pass-env', '*', '--'], own: false };
}

/** Of a snapshot what was captured as well, but for what speaks of the caller alone: it would make the file another one each time. */
function variablesOf({ definition, captured, declared }: RunnerFacts): Record<string, string> {
  const taken = definition.mode === 'snapshot' ? [...captured].filter(([name]) => !isVolatile(name, definition.volatile)) : [];
  const all = new Map([...taken, ...declared]);
  if (definition.pathPrepend.length > 0) {
    const path = all.get('PATH') ?? captured.get('PATH');
    all.set('PATH', [...pathsOf(definition), ...(path === undefined ? [] : [path])].join(':'));
  }
  const pairs = [...all].map(([name, value]) => [textOf(name, name), textOf(value, name)] as const);
  return Object.fromEntries(pairs.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function launchOf({ definition, declared }: RunnerFacts): string[] {
  const words = entryOf(definition.launch, definition.directory);
  if (declared.size > 0) words.push('env', ...[...declared].map(([name, value]) => textOf(`${name}=${value}`, name)));
  if (definition.pathPrepend.length > 0) words.push(...BASH, PREPEND, pathsOf(definition).join(':'));
  return words;
}

function entryOf(launch: Launch, directory: string): string[] {
  switch (launch.style) {
    case 'enter':
      return launch.argv.length === 0 ? ['env'] : [...launch.argv];
    case 'enter-string':
      return [...BASH, AS_STRING, 'bash', String(launch.argv.length), ...launch.argv];
    case 'source':
      return [...BASH, SOURCE, 'bash', resolve(directory, launch.script)];
    case 'source-command':
      return [...BASH, EVALUATE, 'bash', String(launch.argv.length), ...launch.argv];
  }
}

function pathsOf({ directory, pathPrepend }: SessionDefinition): string[] {
  return pathPrepend.map((path) => (path.startsWith('/') ? path : join(directory, path)));
}

function textOf(latin1: string, name: string): string {
  const bytes = Buffer.from(latin1, 'latin1');
  if (isUtf8(bytes)) return bytes.toString();
  throw new HoldfastError('UNSUPPORTED', `the value of '${name}' is not UTF-8, which a runner.json cannot hold`, {
    hint: `leave it out with volatile = ["${name}"], where commands can do without it`,
  });
}
