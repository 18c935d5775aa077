// Other programs that run a command somewhere else, started as far as they are installed. bench/rivals/ has the servers.

import { Place } from '../../bench/place.js';
import type { RivalKind } from '../../bench/rival.js';
import { s6Sudo } from '../../bench/rivals/s6-sudo.js';
import { sshMux } from '../../bench/rivals/ssh-mux.js';
import { setSubreaper } from '../../src/native/processes.js';
import { Absent, findProgram } from '../engines/site.js';
import { descendantsOf, isAlive } from '../harness/processes.js';
import { type Column, foreignColumn } from './columns.js';
import { containers } from './containers.js';
import type { AbsentColumn } from './observation.js';

export interface Peer {
  name: string;
  prefix: readonly string[];
  env?: Record<string, string>;
  end?: () => Promise<void>;
}

/** @throws {Absent} */
export type PeerKind = { name: string; start(place: Place, scratch: string): Promise<Peer> };

export class Peers {
  readonly columns: Column[] = [];
  readonly absent: AbsentColumn[] = [];
  readonly #scratch: string;
  readonly #ends: (() => Promise<void>)[] = [];

  constructor(scratch: string) {
    this.#scratch = scratch;
  }

  async start(): Promise<void> {
    // Most leave what they ran behind when they are killed: orphans come to us then.
    setSubreaper();
    const place = new Place();
    this.#ends.push(async () => await place.close());
    for (const kind of KINDS) {
      try {
        const { name, prefix, env = {}, end } = await kind.start(place, this.#scratch);
        if (end !== undefined) this.#ends.push(end);
        // Its own variables are for the peer's client alone, which env(1) hands them to.
        const words = Object.entries(env).map(([key, value]) => `${key}=${value}`);
        this.columns.push(foreignColumn(name, words.length > 0 ? ['env', ...words, ...prefix] : prefix));
      } catch (error) {
        if (!(error instanceof Absent)) throw error;
        this.absent.push({ column: kind.name, absent: error.message });
      }
    }
  }

  async end(): Promise<void> {
    for (const end of this.#ends.reverse()) await end();
    if (this.#ends.length > 0) for (const { pid } of descendantsOf(process.pid)) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
  }
}

/** The bench's rivals run `true`: what stands before it is the prefix. */
function fromRival(rival: RivalKind): PeerKind {
  return {
    name: rival.name,
    start: async (place) => {
      const { name, argv, env = {}, end } = await rival.start(place);
      return { name: name.replace(/,.*/, ''), prefix: argv.slice(0, -1), env, ...(end === undefined ? {} : { end }) };
    },
  };
}

function plain(name: string, ...words: string[]): PeerKind {
  return { name, start: async (place) => ({ name, prefix: [findProgram(place, name), ...words] }) };
}

const KINDS: readonly PeerKind[] = [
  fromRival(s6Sudo),
  fromRival(sshMux),
  plain('chroot', '/'),
  plain('nsenter', '--target', String(process.pid), '--mount', '--uts', '--ipc', '--'),
  plain('bwrap', '--dev-bind', '/', '/', '--'),
  ...containers,
];
