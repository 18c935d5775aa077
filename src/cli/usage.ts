// Commander's complaints as errors of ours: one line, and a hint.

import type { CommanderError } from 'commander';

import { HoldfastError } from '../errors.js';

/** Codes with which commander ends after it has done what was asked: printed help or a version. */
const DONE: ReadonlySet<string> = new Set(['commander.helpDisplayed', 'commander.version']);

/** The error to report; `undefined` when commander only printed what was asked for. */
export function usageError(error: CommanderError, words: readonly string[]): HoldfastError | undefined {
  if (DONE.has(error.code)) return undefined;
  const command = words[0] !== undefined && /^[a-z]+$/.test(words[0]) && error.code !== 'commander.unknownCommand' ? `${words[0]} ` : '';
  const help = `'holdfast ${command}--help' shows how it is used`;
  if (error.code === 'commander.help') {
    // `help COMMAND` has done what was asked, too.
    if (error.exitCode === 0) return undefined;
    const at = words.indexOf('help');
    const asked = at === -1 ? undefined : words[at + 1];
    if (asked !== undefined) return new HoldfastError('USAGE', `unknown command '${asked}'`, { hint: "'holdfast --help' lists them" });
    return new HoldfastError('USAGE', 'no command is given', { hint: help });
  }
  const [first = '', ...more] = error.message.replace(/^error: /, '').split('\n');
  const suggestion = /\(Did you mean (?:one of )?(.+)\?\)/.exec(more.join(' '))?.[1];
  let hint = suggestion === undefined ? help : `did you mean '${suggestion.replaceAll(', ', "' or '")}'?`;
  if (error.code === 'commander.excessArguments' && words[0] === 'open') {
    hint = "the launcher goes after '--': holdfast open NAME -- LAUNCHER...";
  }
  return new HoldfastError('USAGE', first.replace(/\.$/, '').replace(/\. E/, ': e'), { hint });
}
