import { flag, option, type Preset } from './preset.js';

/**
 * The environment is entered anew for each command, which is what mode "session" saves; here for who wants just that. bash is in between:
 * variables that the environment sets win over the session's.
 */
export const nixDevelop: Preset = {
  about: 'nix develop, anew for each command',
  prefix: ['nix', 'develop'],
  operand: { about: 'the flake, where it is not that of the directory', count: 'any' },
  tail: ['--command'],
  facts: { envStyle: 'inherit', ttyOption: [], failureCodes: [1], farSide: 'local' },
  options: {
    impure: { kind: 'switch', about: 'nix’s --impure', words: flag('--impure') },
    ignore_environment: { kind: 'switch', about: 'nothing of the session’s variables', words: flag('--ignore-environment') },
    keep: { kind: 'list', about: 'a variable to keep all the same', words: option('--keep') },
    option: { kind: 'list', about: 'a setting of nix, as NAME=VALUE', words: nixOption },
  },
};

/** `--run` takes one word, for a shell. */
export const nixShell: Preset = {
  about: 'nix-shell --run, anew for each command',
  prefix: ['nix-shell'],
  operand: { about: 'the file, where it is not shell.nix or default.nix', count: 'any' },
  tail: ['--run'],
  facts: { envStyle: 'inherit', ttyOption: [], commandStyle: 'string', failureCodes: [1, 100], farSide: 'local' },
  options: {
    pure: { kind: 'switch', about: 'nothing of the session’s variables', words: flag('--pure') },
    keep: { kind: 'list', about: 'a variable to keep all the same', words: option('--keep') },
    packages: { kind: 'list', about: 'a package to have', words: option('-p') },
    option: { kind: 'list', about: 'a setting of nix, as NAME=VALUE', words: nixOption },
  },
};

function nixOption(value: string): readonly string[] {
  const equals = value.indexOf('=');
  return ['--option', value.slice(0, equals), value.slice(equals + 1)];
}
