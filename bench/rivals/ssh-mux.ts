// ssh to this machine over a connection that is already up (ControlMaster).

import { HOST, startSshd } from '../../test/engines/sshd.js';
import type { RivalKind } from '../rival.js';

export const sshMux: RivalKind = {
  name: 'ssh, ControlMaster',
  async start(place) {
    const { client, end } = await startSshd(place);
    return { name: this.name, argv: [...client, HOST, '/bin/true'], end };
  },
};
