import { Command } from 'commander';
import { describe, expect, it } from 'vitest';

import { settingsFromFlags } from '../../../src/cli/flag-settings.js';
import { addSettingFlags, splitAtDashes } from '../../../src/cli/flags.js';
import { flagOf, SESSION_KEY_NAMES } from '../../../src/config/keys.js';
import type { SessionSettings } from '../../../src/config/settings.js';
import { HoldfastError } from '../../../src/errors.js';

function openCommand(): Command {
  const command = new Command('open').argument('[name]').exitOverride();
  addSettingFlags(command);
  return command;
}

function settings(...words: string[]): SessionSettings {
  const command = openCommand();
  const { own, rest } = splitAtDashes(command, words);
  command.parse(own, { from: 'user' });
  return settingsFromFlags(command.opts(), rest);
}

function misuse(...words: string[]): HoldfastError {
  try {
    settings(...words);
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('the flags of open', () => {
  it('are those of the keys', () => {
    const flags = openCommand().options.filter((option) => !option.hidden);
    expect(flags.map((option) => option.long)).toEqual(SESSION_KEY_NAMES.map(flagOf));
  });

  it('take one word or globs for functions', () => {
    expect(settings('--functions', 'none')).toEqual({ functions: 'none' });
    expect(settings('--functions', 'my-*')).toEqual({ functions: ['my-*'] });
    expect(settings('--functions', 'all', '--functions', 'none')).toEqual({ functions: ['all', 'none'] });
    expect(misuse('--functions', '[z-a]').message).toBe(
      "'--functions' must be a list of globs (*, ?, [a-z], [!a-z]) that can match something, not '[z-a]'",
    );
  });

  it('say nothing when none is given', () => {
    expect(settings('web')).toEqual({});
  });

  it('take words, names, variables, durations and counts', () => {
    expect(
      settings(
        ...['--prefix', 'docker', '--prefix', '-i', '--env', 'A=b=c', '--env', 'E=', '--pass-env', 'X', '--pass-env', '*'],
        ...['--idle-timeout', 'never', '--kill-grace', '0', '--max-queue', '7', '--env-style', 'option', '--cwd-option=-w'],
      ),
    ).toEqual({
      prefix: ['docker', '-i'],
      env: { A: 'b=c', E: '' },
      pass_env: ['X', '*'],
      idle_timeout: null,
      kill_grace: 0,
      max_queue: 7,
      env_style: 'option',
      cwd_option: '-w',
    });
  });

  it('keep a variable with an odd name', () => {
    expect(settings('--env', 'a.b-c=2', '--env', 'toString=1').env).toEqual({ 'a.b-c': '2', toString: '1' });
    const odd = settings('--env', '__proto__=1', '--env', 'constructor=2', '--runtime-env', 'prototype=3');
    expect(Object.entries(odd.env ?? {})).toEqual([
      ['__proto__', '1'],
      ['constructor', '2'],
    ]);
    expect(Object.entries(odd.runtime_env ?? {})).toEqual([['prototype', '3']]);
  });

  it('take one input in the singular', () => {
    expect(settings('--inputs', 'a', '--input', 'b')).toEqual({ inputs: ['a', 'b'] });
  });

  it.each([
    [['--mode', 'warp'], "'--mode' must be one of", "did you mean 'wrap'?"],
    [['--idle-timeout', 'soon'], `'--idle-timeout' must be a duration, such as`, 'holdfast open --help'],
    [['--max-concurrent', '-1'], "'--max-concurrent' must be a whole number from 0 to 1000000, not '-1'", ''],
    [['--max-concurrent', '1e3'], "'--max-concurrent' must be a whole number", ''],
    [['--env', 'A'], "'--env A' is not K=V", '--env A=VALUE'],
    [['--env', '=x'], "'--env =x' is not K=V", ''],
    [['--pass-env', 'A=1'], "'--pass-env' must be a list of variable names", ''],
    [['--launcher', 'x', '--', 'y'], "both '--launcher' and words after '--' are given", 'keep one'],
  ])('are refused by name: %j', (words, message, hint) => {
    const error = misuse(...words);
    expect(error.code).toBe('USAGE');
    expect(error.message.slice(0, message.length)).toBe(message);
    expect(error.hint ?? '').toContain(hint);
  });
});

describe('the words after --', () => {
  it('are the launcher, whatever they look like', () => {
    expect(settings('web', '--env', 'A=1', '--', 'env', '--mode', '--', '-x', '').launcher).toEqual(['env', '--mode', '--', '-x', '']);
  });

  it('do not begin at a -- that is a value', () => {
    expect(settings('--prefix', 'bwrap', '--prefix', '--').prefix).toEqual(['bwrap', '--']);
  });
});
