// What a preset is: the facts about one wrapper, and the options that a session may give it. Each preset is a file beside this one.
// Pure: nothing is looked up, no program is run.

import type { HoldDefinition, WrapDefinition } from '../definition.js';

/** What `options` in holdfast.toml may hold. */
export type OptionValue = string | boolean | readonly string[];
export type OptionValues = Readonly<Record<string, OptionValue>>;

export interface OptionInfo {
  readonly kind: 'text' | 'list' | 'switch';
  readonly about: string;
  /** What each value adds to the prefix, a switch (whose value is empty) only when it is on. Absent: the preset makes more of it. */
  readonly words?: (value: string) => readonly string[];
  /** The words go right behind the program, before its subcommand. */
  readonly isGlobal?: true;
  /** Of a switch: it is on unless it is turned off. */
  readonly isOn?: true;
}

/** What is known of the wrapper itself. */
export type WrapperFacts = Pick<
  WrapDefinition,
  | 'envStyle'
  | 'envOption'
  | 'cwdOption'
  | 'startsIn'
  | 'ttyOption'
  | 'endOfOptions'
  | 'commandStyle'
  | 'textOnly'
  | 'failureCodes'
  | 'tells'
  | 'statusOption'
  | 'farSide'
>;

export interface PresetChoice {
  readonly options: OptionValues;
  readonly operand: readonly string[];
  /** Absolute: the session's, which a container is to have at the same place. */
  readonly directory: string;
  /** The caller's. */
  readonly uid: number;
  readonly gid: number;
}

export interface Preset {
  readonly about: string;
  readonly prefix: readonly [string, ...string[]];
  readonly facts: WrapperFacts;
  /** What `operand` is, for people, and how many words it has. `any` may hold options of the wrapper's, the others may not. */
  readonly operand: { readonly about: string; readonly count: 'none' | 'one' | 'optional' | 'any' };
  /** Behind the operand: the option that takes the command. */
  readonly tail?: readonly string[];
  readonly options: Readonly<Record<string, OptionInfo>>;
  /** What differs with the options. */
  readonly adjust?: (choice: PresetChoice) => Partial<Adjusted>;
  /** What the choice lacks, for people, with the cure. */
  readonly findFault?: (choice: PresetChoice) => { readonly message: string; readonly hint: string } | undefined;
}

export interface Adjusted {
  readonly facts: Partial<WrapperFacts>;
  readonly operand: readonly string[];
  readonly hold: HoldDefinition;
  /** bash code that is run before the agent is started, in the environment that is to be the commands'. */
  readonly enter: string;
}

/** What is named is nobody's option: where a wrapper would take it for one, it is refused. */
export function findOptionLike(what: string, name: string | undefined): { message: string; hint: string } | undefined {
  if (name === undefined || !name.startsWith('-')) return undefined;
  return {
    message: `${what} '${name}' would be taken for an option of the wrapper`,
    hint: 'options have a table of their own: options = { … }',
  };
}

export function textOf(options: OptionValues, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

export function listOf(options: OptionValues, name: string): readonly string[] {
  const value = options[name];
  return typeof value === 'string' ? [value] : typeof value === 'object' ? value : [];
}

export function isOn(options: OptionValues, name: string, info: Pick<OptionInfo, 'isOn'> = {}): boolean {
  const value = options[name];
  return value === undefined ? info.isOn === true : value === true || value === 'true';
}

/** An option of the wrapper that takes its value as a word of its own. */
export function option(name: string): (value: string) => readonly string[] {
  return (value) => [name, value];
}

/** One that has its value in the same word. */
export function joined(name: string): (value: string) => readonly string[] {
  return (value) => [`${name}=${value}`];
}

/** One that has none. */
export function flag(...words: readonly string[]): () => readonly string[] {
  return () => words;
}
