// The command line of `holdfast __runner-exec`: the same options, rules and complaints as native/client_options.c. Pure.
// Words are ByteText: an argument need not be UTF-8.

import { editDistance } from '../config/nearest.js';
import { HoldfastError } from '../errors.js';
import { MAX_FDS } from '../protocol/limits.js';
import type { RunLimit } from '../protocol/messages.js';
import { findDurationMs, findNumber, readLimit } from './runner-exec-values.js';
import { type ByteText, toText } from './runner-exec-words.js';

export type EnvOption =
  | { readonly kind: 'set'; readonly name: ByteText; readonly value: ByteText }
  /** `'*'`: all. */
  | { readonly kind: 'pass' | 'unset'; readonly name: ByteText }
  | { readonly kind: 'path-prepend'; readonly directory: ByteText };

export interface RunnerOptions {
  session: ByteText | undefined;
  socket: ByteText | undefined;
  cwd: ByteText | undefined;
  argv0: ByteText | undefined;
  report: ByteText | undefined;
  exact: boolean;
  pty: boolean;
  detach: boolean;
  jobserver: 'when-there' | 'required' | 'off';
  /** In the order typed. */
  env: EnvOption[];
  fds: number[];
  limits: RunLimit[];
  nice: number | undefined;
  timeoutMs: number | undefined;
  /** As typed, for the message at the deadline. */
  timeoutText: string;
  killGraceMs: number | undefined;
  /** At least one word. */
  command: ByteText[];
}

export type Invocation = { readonly kind: 'run'; readonly options: RunnerOptions } | { readonly kind: 'help' | 'version' };

/** With a value or without, by name. */
const TAKES_VALUE: Readonly<Record<string, boolean>> = {
  session: true,
  socket: true,
  env: true,
  'pass-env': true,
  unset: true,
  exact: false,
  'path-prepend': true,
  cwd: true,
  argv0: true,
  fd: true,
  limit: true,
  nice: true,
  pty: false,
  detach: false,
  timeout: true,
  'kill-grace': true,
  report: true,
  jobserver: false,
  'no-jobserver': false,
  help: false,
  version: false,
};

const SEE_HELP = "'runner-exec --help' lists all options";
/** Past this a mistyped name is somebody's guess, not a slip. */
const MOST_SLIPS = 2;

/** @throws {HoldfastError} `USAGE`. */
export function parseOptions(words: readonly ByteText[]): Invocation {
  const options = noOptions();
  let next = 0;
  // Options end at "--", or at the first word that is none: that one begins the command.
  for (; next < words.length; next += 1) {
    const word = words[next] ?? '';
    if (word[0] !== '-' || word.length === 1) break;
    if (word === '--') {
      next += 1;
      break;
    }
    const { name, attached } = word[1] === '-' ? splitLong(word) : splitShort(word);
    if (!TAKES_VALUE[name]) {
      if (attached !== undefined) throw badValue(name, attached, 'this option takes none');
      if (name === 'help' || name === 'version') return { kind: name };
      takeFlag(options, name);
      continue;
    }
    if (attached === undefined) next += 1;
    const value = attached ?? words[next];
    if (value === undefined) throw usage(`option '${word[1] === '-' ? `--${name}` : '-e'}' needs a value`, SEE_HELP);
    takeValue(options, name, value);
  }
  options.command = words.slice(next);
  checkWhole(options);
  return { kind: 'run', options };
}

function noOptions(): RunnerOptions {
  return {
    session: undefined,
    socket: undefined,
    cwd: undefined,
    argv0: undefined,
    report: undefined,
    exact: false,
    pty: false,
    detach: false,
    jobserver: 'when-there',
    env: [],
    fds: [],
    limits: [],
    nice: undefined,
    timeoutMs: undefined,
    timeoutText: '',
    killGraceMs: undefined,
    command: [],
  };
}

function checkWhole({ command, detach, pty }: RunnerOptions): void {
  if (command.length === 0) {
    throw usage('no command to run', "write it behind '--', as in 'runner-exec -- make test'; 'runner-exec --help' tells more");
  }
  if (detach && pty) throw usage("'--detach' and '--pty' exclude each other", 'leave one of them out');
}

function splitLong(word: ByteText): { name: string; attached: ByteText | undefined } {
  const equals = word.indexOf('=');
  const name = equals === -1 ? word.slice(2) : word.slice(2, equals);
  if (!Object.hasOwn(TAKES_VALUE, name)) throw unknown(word, name);
  return { name, attached: equals === -1 ? undefined : word.slice(equals + 1) };
}

function splitShort(word: ByteText): { name: string; attached: ByteText | undefined } {
  if (word === '-t') return { name: 'pty', attached: undefined };
  if (word === '-h') return { name: 'help', attached: undefined };
  if (word[1] !== 'e') throw unknown(word, word.slice(1));
  return { name: 'env', attached: word.length > 2 ? word.slice(2) : undefined };
}

function takeFlag(options: RunnerOptions, name: string): void {
  if (name === 'exact') options.exact = true;
  else if (name === 'pty') options.pty = true;
  else if (name === 'detach') options.detach = true;
  else options.jobserver = name === 'jobserver' ? 'required' : 'off';
}

function takeValue(options: RunnerOptions, name: string, value: ByteText): void {
  switch (name) {
    case 'session':
    case 'socket':
    case 'cwd':
    case 'report':
      if (value === '') throw badValue(name, value, 'it is empty');
      options[name] = value;
      return;
    case 'argv0':
      options.argv0 = value;
      return;
    case 'fd':
      takeFd(options, value);
      return;
    case 'limit':
      takeLimit(options, value);
      return;
    case 'nice':
      takeNice(options, value);
      return;
    case 'timeout':
      options.timeoutText = toText(value);
      options.timeoutMs = durationOf(name, value);
      return;
    case 'kill-grace':
      options.killGraceMs = durationOf(name, value);
      return;
    default:
      options.env.push(readEnv(name, value));
  }
}

function readEnv(name: string, value: ByteText): EnvOption {
  const equals = value.indexOf('=');
  switch (name) {
    case 'env':
      if (equals === -1) throw badValue(name, value, "it has no '='", "'--env K=V' sets a value, '--pass-env K' passes your own on");
      if (equals === 0) throw badValue(name, value, 'it has no name');
      return { kind: 'set', name: value.slice(0, equals), value: value.slice(equals + 1) };
    case 'path-prepend':
      if (value === '') throw badValue(name, value, 'it is empty');
      if (value.includes(':')) throw badValue(name, value, "PATH cannot hold a directory with ':' in its name");
      return { kind: 'path-prepend', directory: value };
    default:
      if (equals !== -1) throw badValue(name, value, 'it takes a name alone', "'--env K=V' sets a value");
      if (value === '') throw badValue(name, value, 'it is empty');
      return { kind: name === 'pass-env' ? 'pass' : 'unset', name: value };
  }
}

function takeFd(options: RunnerOptions, value: ByteText): void {
  const fd = findNumber(value, 0x7fffffff);
  if (fd === undefined) throw badValue('fd', value, 'it is not the number of a descriptor');
  if (options.fds.includes(fd)) return;
  if (options.fds.length === MAX_FDS) {
    throw usage(
      `cannot pass descriptor ${value}: a command takes at most ${MAX_FDS} of them`,
      'the kernel passes no more than that in one message',
    );
  }
  options.fds.push(fd);
}

function takeLimit(options: RunnerOptions, value: ByteText): void {
  const limit = readLimit(value);
  if (typeof limit === 'string') {
    throw badValue('limit', value, limit, 'limits have the long names of prlimit(1): nofile, core, cpu, as, stack, nproc, …');
  }
  // The last one of a name counts.
  const same = options.limits.findIndex(({ resource }) => resource === limit.resource);
  options.limits[same === -1 ? options.limits.length : same] = limit;
}

function takeNice(options: RunnerOptions, value: ByteText): void {
  const negative = value.startsWith('-');
  const number = findNumber(value.slice(negative ? 1 : 0), negative ? 20 : 19);
  if (number === undefined) throw badValue('nice', value, 'it is not a number from -20 to 19');
  options.nice = negative ? 0 - number : number;
}

function durationOf(name: string, value: ByteText): number {
  const ms = findDurationMs(value);
  if (ms === undefined) throw badValue(name, value, 'it is not a duration', 'write 500ms, 5s, 2m or 1h; a plain number is seconds');
  return ms;
}

function unknown(word: ByteText, typed: string): HoldfastError {
  let near: string | undefined;
  let fewest = MOST_SLIPS + 1;
  for (const name of Object.keys(TAKES_VALUE)) {
    const slips = editDistance(typed, name);
    if (slips < fewest && slips < name.length) [near, fewest] = [name, slips];
  }
  return usage(
    `unknown option '${toText(word)}'`,
    near === undefined ? `${SEE_HELP}; words of the command go behind '--'` : `did you mean '--${near}'? ${SEE_HELP}`,
  );
}

function badValue(name: string, value: ByteText, why: string, hint: string = SEE_HELP): HoldfastError {
  return usage(`bad value '${toText(value)}' of '--${name}': ${why}`, hint);
}

function usage(message: string, hint: string): HoldfastError {
  return new HoldfastError('USAGE', message, { hint });
}
