// The holdfast.toml that `holdfast init` writes: what enters the environment found in a directory, and as comments what else could be
// said. The comments are made from the list of keys, so that they say what `--help` says.

import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { PROJECT_MARKERS, type ProjectMarker } from '../client/locate.js';
import { HoldfastError } from '../errors.js';
import { PROVIDER_NAMES, providerInputs, providerOf } from '../session/launchers/providers.js';
import { SESSION_KEYS } from './keys.js';
import { findNearest } from './nearest.js';
import type { SessionSettings } from './settings.js';

/** What people call a script that is to be sourced. */
const SCRIPTS = ['env.sh', 'setup-env.sh', 'environment.sh', 'scripts/env.sh'];
const SCHEMA = './node_modules/holdfast/dist/holdfast.schema.json';
/** Worth saying in most projects, with a value to begin with. */
const EXAMPLES: Readonly<Partial<Record<keyof SessionSettings, string>>> = {
  on_stale: '"reopen"',
  env: '{ CI = "1" }',
  pass_env: '["CC", "CXX"]',
  runtime_pass_env: '["SSH_AUTH_SOCK", "DISPLAY"]',
  path_prepend: '["bin"]',
  idle_timeout: '"1h"',
  max_concurrent: '0',
};

/** One way to enter what is in the directory. */
interface Way {
  readonly line: string;
  /** The file that gives it away. */
  readonly because: string;
  readonly inputs: readonly string[];
}

export interface Starter {
  readonly text: string;
  /** For the user: what was found. */
  readonly summary: string;
}

/**
 * @param directory absolute.
 * @param provider the one to use, whatever is found.
 * @throws {HoldfastError} `USAGE` for a provider that there is not.
 */
export function starterFor(directory: string, provider?: string): Starter {
  const ways = [...(provider === undefined ? [] : [wayOf(provider)]), ...waysIn(directory)];
  const [first, ...others] = ways.filter(({ line }, i) => ways.findIndex((way) => way.line === line) === i);
  const entered =
    first === undefined
      ? [
          'mode = "host"  # nothing was found here that is entered; so commands run as they do outside',
          '# launcher = ["devenv", "shell", "--"]',
        ]
      : [`${first.line}  # ${first.because}`, ...others.map(({ line, because }) => `# ${line}  # ${because}, as well`)];
  const inputs = first === undefined || first.inputs.length === 0 ? ['flake.lock'] : first.inputs;
  const lines = [
    ...(existsSync(join(directory, SCHEMA)) ? [`#:schema ${SCHEMA}`] : []),
    "# The environment of this directory: 'runner-exec -- COMMAND' enters it on first use, holds it, and runs COMMAND in it.",
    "# docs/config.md of Holdfast has every key; a line that begins with '#' says nothing yet.",
    '',
    '[session]',
    ...entered,
    '',
    `# inputs = ${listOf(inputs)}  # files that the environment is made of`,
    ...Object.entries(EXAMPLES).map(([key, value]) => `# ${key} = ${value}  # ${aboutOf(key)}`),
    '',
    '# [sessions.ci]  # another one, by name: holdfast open ci',
    '# extends = "#"  # it begins with what [session] says',
    '# env = { CI = "1" }',
  ];
  const summary = first === undefined ? 'nothing was found that is entered: mode "host"' : `${first.line} (${first.because})`;
  return { text: `${lines.join('\n')}\n`, summary };
}

function wayOf(provider: string): Way {
  if (PROVIDER_NAMES.includes(provider)) {
    return { line: `provider = "${provider}"`, because: 'as was asked for', inputs: providerInputs(provider) };
  }
  const nearest = findNearest(provider, PROVIDER_NAMES);
  throw new HoldfastError('USAGE', `there is no provider '${provider}'`, {
    hint: nearest === undefined ? `the providers are ${PROVIDER_NAMES.join(', ')}` : `did you mean '${nearest}'?`,
  });
}

function waysIn(directory: string): Way[] {
  const markers = PROJECT_MARKERS.filter((marker): marker is Exclude<ProjectMarker, 'holdfast.toml'> => marker !== 'holdfast.toml');
  const provided = markers.filter((marker) => existsSync(join(directory, marker))).map(markedWay);
  const scripts = SCRIPTS.filter((script) => existsSync(join(directory, script)));
  return [...provided, ...scripts.map((script) => ({ line: `source = "${script}"`, because: `${script} is here`, inputs: [script] }))];
}

function markedWay(marker: Exclude<ProjectMarker, 'holdfast.toml'>): Way {
  const provider = providerOf(marker);
  return { line: `provider = "${provider}"`, because: `${marker} is here`, inputs: providerInputs(provider) };
}

function aboutOf(key: string): string {
  return Object.entries(SESSION_KEYS).find(([known]) => known === key)?.[1].about ?? '';
}

function listOf(words: readonly string[]): string {
  return `[${words.map((word) => JSON.stringify(word)).join(', ')}]`;
}
