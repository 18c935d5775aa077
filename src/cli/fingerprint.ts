// `holdfast fingerprint`: one value for what a session's environment is.

import type { Command } from 'commander';

import { selectName } from './selection.js';

export function addFingerprint(program: Command): void {
  program
    .command('fingerprint')
    .description("print one value for what a session's environment is: for a cache key")
    .argument('[name]', 'the session')
    .option('--json', 'print JSON: each part by itself, what was left out, by what the environment is pinned')
    .addHelpText(
      'after',
      `
It is the same at every opening and for every caller, and another one as soon
as anything moves that a command could notice. docs/config.md "Fingerprint"
says what counts.

Examples:
  holdfast fingerprint web
  holdfast fingerprint --json | jq .parts   which part moved`,
    )
    .action(fingerprint);
}

async function fingerprint(given: string | undefined, options: { json?: true }): Promise<void> {
  const name = selectName(given);
  const { fingerprintSession } = await import('../session/session-fingerprint.js');
  const found = await fingerprintSession(name);
  process.stdout.write(options.json ? `${JSON.stringify(found, undefined, 2)}\n` : `${found.fingerprint}\n`);
}
