// From a command to the wrapper's: which words reach the wrapper, and which variables its own environment needs on top. No process,
// no file is looked at. DESIGN section 4 "Wrap"; docs/config.md "Wrap". Text is latin1, one character a byte.

import { isUtf8 } from 'node:buffer';
import { HoldfastError } from '../errors.js';
import { inheritsEnvironment, takesString, type WrapDefinition } from './definition.js';
import type { InsideEnvironment } from './environment.js';
import { type InsideTask, insideScript, insideWords, type StartProof } from './inside.js';
import { mapPath, mapWord } from './path-map.js';
import { isShellName } from './quote.js';

/** For ssh, whose two ends allow names by a pattern: docs/scale-out.md. */
const LENT_PREFIX = 'HOLDFAST_LENT_';

/** In the environment of everything that a wrapper starts elsewhere: by it that is found again, and ended. */
export const MARKER_NAME = 'HOLDFAST_RUN';

export interface WrapInput {
  /** The command; not empty. */
  readonly argv: readonly string[];
  /** What is looked up inside, when argv[0] is only the name that it sees. */
  readonly program?: string | undefined;
  readonly environment: InsideEnvironment;
  /** Absolute, as the host has it; empty: it has no name, and is not changed. */
  readonly cwd: string;
  /** 0, 1 and 2 are terminals. */
  readonly isTerminal: boolean;
  /** The value of HOLDFAST_RUN inside. */
  readonly marker?: string | undefined;
  readonly proof?: StartProof | undefined;
}

export interface WrappedCommand {
  readonly argv: readonly string[];
  /** To be added to the wrapper's own environment. */
  readonly environment: ReadonlyMap<string, string>;
}

/** They steer the wrapper itself, so they cannot be lent to it with the inside's values. */
const STEERS_WRAPPER = /^(PATH|HOME|ENV|BASH_ENV|TMPDIR|LD_.*|XDG_.*|SSH_.*|DOCKER_.*|CONTAINERS?_.*|PODMAN_.*|KUBE.*|NOMAD_.*)$/;

/** @throws {HoldfastError} `UNSUPPORTED` for an exact environment in a style that cannot take variables away, and for bytes that would be lost. */
export function wrapCommand(wrap: WrapDefinition, input: WrapInput): WrappedCommand {
  const { given, rest, environment, weakFrom, lent } = shareOut(wrap, input);
  const cwd = input.cwd === '' ? undefined : mapPath(wrap.pathMap, input.cwd);
  const task: InsideTask = {
    ...commandOf(wrap, input),
    directory: isChangedInside(wrap, cwd) ? cwd : undefined,
    environment: rest,
    weakFrom,
    lent,
    proof: input.proof,
    isShielded: wrap.endOfOptions !== undefined,
  };
  const options = [
    ...(input.isTerminal ? wrap.ttyOption : []),
    ...(input.proof?.kind === 'status' && wrap.statusOption !== undefined ? option(wrap.statusOption, String(input.proof.fd)) : []),
    ...given,
    ...(wrap.cwdOption === undefined || cwd === undefined ? [] : option(wrap.cwdOption, cwd)),
  ];
  const words = surround(wrap, options, takesString(wrap) ? [insideScript(task)] : insideWords(task));
  if (wrap.textOnly) refuseBytes([...words, ...environment.values()]);
  return { argv: words, environment };
}

/** Whether the inside changes directory, by a shell. @param cwd as the inside has it. */
function isChangedInside(wrap: WrapDefinition, cwd: string | undefined): boolean {
  return cwd !== undefined && wrap.cwdOption === undefined && cwd !== wrap.startsIn;
}

/** Whether a wrapper that hands its environment on is given the command itself, with no shell of ours before it. @param cwd as the host has it. */
export function isPlain(wrap: WrapDefinition, cwd: string): boolean {
  return inheritsEnvironment(wrap) && !takesString(wrap) && !isChangedInside(wrap, cwd === '' ? undefined : mapPath(wrap.pathMap, cwd));
}

function refuseBytes(words: readonly string[]): void {
  const bad = words.find((word) => !isUtf8(Buffer.from(word, 'latin1')));
  if (bad === undefined) return;
  const shown = JSON.stringify(Buffer.from(bad, 'latin1').toString()).slice(0, 40);
  throw new HoldfastError('UNSUPPORTED', `the wrapper passes text alone, and ${shown} is not UTF-8`, {
    hint: 'pass such bytes in a file, or on standard input',
  });
}

/** A script of ours, run by the same way in. */
export function wrapScript(wrap: WrapDefinition, script: string, args: readonly string[]): string[] {
  const words = ['/bin/sh', '-c', script, 'sh', ...args];
  const task = {
    words,
    argv0: undefined,
    directory: undefined,
    environment: undefined,
    weakFrom: undefined,
    lent: NOTHING,
    proof: undefined,
    isShielded: true,
  };
  return surround(wrap, [], takesString(wrap) ? [insideScript(task)] : insideWords(task));
}

function surround(wrap: WrapDefinition, options: readonly string[], words: readonly string[]): string[] {
  return [...wrap.prefix, ...options, ...wrap.operand, ...(wrap.endOfOptions === undefined ? [] : [wrap.endOfOptions]), ...words];
}

function commandOf(wrap: WrapDefinition, { argv, program }: WrapInput): Pick<InsideTask, 'words' | 'argv0'> {
  const [name = '', ...args] = wrap.mapArgv ? argv.map((word) => mapWord(wrap.pathMap, word)) : argv;
  if (program === undefined || program === '' || program === argv[0]) return { words: [name, ...args], argv0: undefined };
  return { words: [wrap.mapArgv ? mapWord(wrap.pathMap, program) : program, ...args], argv0: argv[0] };
}

/** An option with its value, in one word or two. */
function option(name: string, value: string): string[] {
  return name.endsWith('=') ? [name + value] : [name, value];
}

interface Shares {
  /** Options of the wrapper. */
  readonly given: readonly string[];
  /** What is left for the inside to do. */
  readonly rest: InsideEnvironment | undefined;
  /** For the wrapper's own environment. */
  readonly environment: ReadonlyMap<string, string>;
  readonly weakFrom: ReadonlyMap<string, string> | undefined;
  /** What goes under another name, and may not be let in: its own name → that one. */
  readonly lent: ReadonlyMap<string, string>;
}

const NOTHING: ReadonlyMap<string, string> = new Map();

function shareOut(wrap: WrapDefinition, { environment: wanted, marker }: WrapInput): Shares {
  const mark = marker === undefined ? NOTHING : new Map([[MARKER_NAME, marker]]);
  if (inheritsEnvironment(wrap)) return { given: [], rest: undefined, environment: mark, weakFrom: undefined, lent: NOTHING };
  const set = new Map([...wanted.set, ...mark]);
  const whole: Shares = { given: [], rest: { ...wanted, set }, environment: NOTHING, weakFrom: undefined, lent: NOTHING };
  const name = wrap.envOption;
  switch (wrap.envStyle) {
    case 'inherit':
    case 'env-command':
    case 'remote-shell':
      return whole;
    case 'option':
    case 'setenv': {
      if (wanted.exact) return whole;
      const isPair = wrap.envStyle === 'option';
      const shell = [...set].filter(([key]) => isShellName(key));
      // dash drops the others from its environment, so they are said behind any shell that may be needed.
      const odd = new Map([...set].filter(([key]) => !isShellName(key)));
      const given = shell.flatMap(([key, value]) =>
        isPair ? option(name ?? '-e', `${key}=${value}`) : [...option(name ?? '--setenv', key), value],
      );
      return { ...whole, given, rest: { ...wanted, set: odd } };
    }
    case 'option-by-name':
      return shareByName(wrap, wanted, set);
  }
}

function shareByName(wrap: WrapDefinition, wanted: InsideEnvironment, set: ReadonlyMap<string, string>): Shares {
  if (wanted.exact) {
    throw new HoldfastError('UNSUPPORTED', 'an exact environment cannot be had with env_style "option-by-name"', {
      hint: 'the other variables inside would stay; env_style "env-command" can take them away',
    });
  }
  const loan = new Loan(wrap.envOption ?? '-e');
  const inside = new Map<string, string>();
  const lent = new Map<string, string>();
  for (const [key, value] of set) {
    const cannotBeLent = key === MARKER_NAME || STEERS_WRAPPER.test(key);
    // An option for names alone may take several, or a pattern.
    if (loan.isNameAlone && (key === MARKER_NAME || !isShellName(key))) inside.set(key, value);
    // A shell inside gives it back under its own name: so two rules, here and there, allow all of them.
    else if (loan.isNameAlone && takesString(wrap)) lent.set(key, loan.lend(value));
    else if (loan.isNameAlone && cannotBeLent) inside.set(key, value);
    else if (cannotBeLent) loan.give(key, value);
    else loan.name(key, value);
  }
  const weakFrom = new Map<string, string>();
  for (const [key, value] of wanted.weak) if (isShellName(key)) weakFrom.set(key, loan.lend(value));
  const { given, environment } = loan;
  return { given, rest: { ...wanted, set: inside }, environment, weakFrom, lent };
}

/** Values that go by the wrapper's own environment. */
class Loan {
  readonly given: string[] = [];
  readonly environment: Map<string, string> = new Map();
  readonly #option: string;
  #count = 0;

  constructor(option: string) {
    this.#option = option;
  }

  get isNameAlone(): boolean {
    return this.#option.endsWith('=');
  }

  /** In the wrapper's command line. */
  give(key: string, value: string): void {
    this.given.push(...option(this.#option, `${key}=${value}`));
  }

  /** Under its own name. */
  name(key: string, value: string): void {
    this.environment.set(key, value);
    this.given.push(...option(this.#option, key));
  }

  /** Under a name that steers nothing. */
  lend(value: string): string {
    const name = `${LENT_PREFIX}${this.#count++}`;
    this.name(name, value);
    return name;
  }
}
