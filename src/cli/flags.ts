// The flags of `holdfast open` that stand for keys of holdfast.toml, made from the list of keys. What their values may be is the
// schema's business: flag-settings.ts asks it, and is only loaded when a session is opened.

import { type Command, Option } from 'commander';

import { flagOf, type KeyInfo, SESSION_KEYS } from '../config/keys.js';

/** Adds one flag for each key. Values are collected as text; `settingsFromFlags` reads them. */
export function addSettingFlags(command: Command): void {
  for (const [key, info] of Object.entries<KeyInfo>(SESSION_KEYS)) {
    const repeats = info.flag === 'each' || info.flag === 'counts' || info.flag === 'pairs' || info.flag === 'gathered';
    const value = info.flag === 'switch' ? '' : ` <${info.placeholder}>`;
    const option = new Option(`${flagOf(key)}${value}`, info.about).helpGroup(`${info.group}:`);
    if (repeats) option.argParser(collect);
    command.addOption(option);
  }
  // The singular is what one types for one file.
  command.addOption(new Option('--input <FILE>').argParser(collect).hideHelp());
  command.addOption(new Option('--option <K=V>').argParser(collect).hideHelp());
}

function collect(value: string, previous: readonly string[] | undefined): readonly string[] {
  return [...(previous ?? []), value];
}

/**
 * Cuts the arguments of `command` at the first `--` that is not itself the value of an option: what follows belongs to the
 * launcher, whatever it looks like.
 */
export function splitAtDashes(command: Command, args: readonly string[]): { own: string[]; rest: string[]; dashes: boolean } {
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? '';
    if (word === '--') return { own: args.slice(0, index), rest: args.slice(index + 1), dashes: true };
    if (command.options.some((option) => option.required && (option.long === word || option.short === word))) index++;
  }
  return { own: [...args], rest: [], dashes: false };
}
