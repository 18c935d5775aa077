// `direnv exec` of an .envrc that the user has allowed. It carries variables, and functions that the .envrc exports. What it has
// loaded, direnv itself tells once it has been entered (told-inputs.ts); from the text comes what counts before.

import { dirname, join, resolve } from 'node:path';

import type { Provider } from './provider.js';
import { inputsOf, kindOf, readText } from './relative.js';

const INPUTS = ['.envrc', '.env', '.tool-versions'];

export const direnv: Provider = {
  name: 'direnv',
  inputs: INPUTS,
  enter: (directory) => ({
    launch: { style: 'enter', argv: ['direnv', 'exec', directory] },
    inputs: inputsOf(directory, INPUTS, filesOf(join(directory, '.envrc'), new Set())),
  }),
};

const LINE = /^[ \t]*(source_env|source_env_if_exists|dotenv|dotenv_if_exists|watch_file|source_up|source_up_if_exists)\b([^\n#;&|]*)/gm;

/** What an .envrc sources or watches by a name that is written out: a word with a variable in it is left to direnv. */
function filesOf(envrc: string, seen: Set<string>): string[] {
  if (seen.has(envrc)) return [];
  seen.add(envrc);
  const home = dirname(envrc);
  return [...readText(envrc).matchAll(LINE)].flatMap(([, command = '', rest = '']) => {
    const words = rest
      .trim()
      .split(/\s+/)
      .filter((word) => word !== '')
      .map((word) => word.replace(/^(['"])(.*)\1$/, '$2'));
    const paths = words.filter((word) => !/[$`*?~]/.test(word)).map((word) => resolve(home, word));
    if (command.startsWith('dotenv') && words.length === 0) return [join(home, '.env')];
    if (command === 'watch_file' || command.startsWith('dotenv')) return paths;
    const sourced = command.startsWith('source_up') ? [findAbove(dirname(home))] : paths;
    return sourced.flatMap((path) => {
      if (path === undefined) return [];
      const file = kindOf(path) === 'directory' ? join(path, '.envrc') : path;
      return [file, ...filesOf(file, seen)];
    });
  });
}

function findAbove(start: string): string | undefined {
  for (let directory = start; ; directory = dirname(directory)) {
    if (kindOf(join(directory, '.envrc')) === 'file') return join(directory, '.envrc');
    if (directory === dirname(directory)) return undefined;
  }
}
