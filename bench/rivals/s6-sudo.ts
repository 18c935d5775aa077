// s6-sudo: a small C client hands its descriptors to a server, which forks. The nearest relative; environment and directory are
// the server's own.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram, readyWhen, startServer } from '../../test/engines/site.js';
import type { RivalKind } from '../rival.js';

export const s6Sudo: RivalKind = {
  name: 's6-sudo',
  async start(place) {
    const client = findProgram(place, 's6-sudo');
    const socket = join(place.scratch, 's6.sock');
    const server = startServer([findProgram(place, 's6-ipcserver'), '-c', '100', socket, findProgram(place, 's6-sudod')], place.env);
    await readyWhen('s6-ipcserver', () => existsSync(socket));
    return { name: this.name, argv: [client, socket, '/bin/true'], end: server.end };
  },
};
