// What `holdfast open` does: which session is meant, its entry with a line of progress, and how an interruption ends.

import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';

import { chooseOpening } from '../config/choose.js';
import { HoldfastError } from '../errors.js';
import { showEntering } from './entering.js';
import { settingsFromFlags } from './flag-settings.js';
import { stayUntilEnd } from './foreground.js';
import type { OpenFlags } from './open.js';
import { openedName } from './selection.js';
import { openFresh } from './stale.js';

export async function openCommand(name: string | undefined, flags: OpenFlags, launcher: readonly string[]): Promise<void> {
  refuseBytesThatAreNoText();
  const { definition, origin } = chooseOpening({
    name: openedName(name),
    config: flags.config,
    project: flags.project,
    settings: settingsFromFlags({ ...flags }, launcher),
  });
  await showEntering(
    { name: definition.name, quiet: flags.quiet === true, json: flags.json === true },
    (options) => openFresh(definition, { ...options, origin }),
    async ({ pid }, signal) => {
      if (flags.foreground) await stayUntilEnd(definition.name, pid, signal);
    },
  );
}

/** Node reads its arguments as UTF-8: other bytes are lost before we see them, so they are refused rather than changed. */
function refuseBytesThatAreNoText(): void {
  if (!process.argv.some((word) => word.includes('\ufffd')) || isUtf8(readFileSync('/proc/self/cmdline'))) return;
  throw new HoldfastError('USAGE', 'an argument is not UTF-8', {
    hint: 'a launcher can be put into a script; a project needs a directory whose name is UTF-8',
  });
}
