// The tie between a session and the program that owns it: a connection that says `own` and then nothing (docs/protocol.md §4). However
// the program ends, the kernel closes it, and the agent sees that.

import { connectWhenFree, type SessionAddress } from '../client/connect.js';
import { HoldfastError } from '../errors.js';
import { closeFd } from '../native/descriptors.js';
import { processStartTicks } from '../native/processes.js';
import { peerCredentials, send } from '../native/sockets.js';
import { encodeControl } from '../protocol/messages.js';

export class Ownership {
  /** As this process sees it, whatever pid namespace the agent is in. */
  readonly agentPid: number;
  readonly agentStartTicks: number | undefined;
  #fd: number | undefined;

  private constructor(fd: number) {
    this.#fd = fd;
    this.agentPid = peerCredentials(fd).pid;
    this.agentStartTicks = processStartTicks(this.agentPid);
  }

  /** @throws {HoldfastError} as connectSession; `SESSION_LOST`. */
  static async take(address: SessionAddress): Promise<Ownership> {
    const fd = await new Promise<number>((resolve, reject) => {
      connectWhenFree(address, resolve, reject);
    });
    try {
      // The answer is not waited for. Nor is the descriptor watched, which would keep this process from ending.
      send(fd, encodeControl({ op: 'own' }));
      return new Ownership(fd);
    } catch (cause) {
      closeFd(fd);
      throw new HoldfastError('SESSION_LOST', `the agent of session '${address.label}' ended before it could be owned`, {
        hint: 'open the session again',
        cause,
      });
    }
  }

  /** The session closes. Safe to call twice. */
  giveUp(): void {
    if (this.#fd !== undefined) closeFd(this.#fd);
    this.#fd = undefined;
  }
}
