// Our own client in TypeScript, as any tool written for Node would have it: what starting Node costs.

import { Absent, succeeds } from '../../test/engines/site.js';
import { SESSION } from '../place.js';
import type { RivalKind } from '../rival.js';

export const nodeClient: RivalKind = {
  name: 'holdfast __runner-exec (Node client)',
  async start(place) {
    const args = ['__runner-exec', '--session', SESSION, '--', '/bin/true'];
    if (!(await succeeds(place.holdfast, args, place.env))) throw new Absent('the Node client does not run');
    return { name: this.name, argv: [place.holdfast, ...args] };
  },
};
