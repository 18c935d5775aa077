// `direnv exec` on an .envrc of two lines: it evaluates it for each command.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, run } from '../../test/engines/site.js';
import type { RivalKind } from '../rival.js';

export const direnvExec: RivalKind = {
  name: 'direnv exec',
  async start(place) {
    const direnv = findProgram(place, 'direnv');
    const folder = join(place.scratch, 'direnv');
    mkdirSync(folder);
    writeFileSync(join(folder, '.envrc'), 'export A=1\nPATH_add bin\n');
    await run(direnv, ['allow', folder], { env: place.env });
    // Otherwise it says on standard error what it does.
    return { name: this.name, argv: [direnv, 'exec', folder, '/bin/true'], env: { DIRENV_LOG_FORMAT: '' } };
  },
};
