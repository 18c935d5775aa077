// Peers that are no clients of ours: they say nothing, stop in the middle, dawdle, talk nonsense, or go at any time. They are to get
// what docs/protocol.md says, and to harm nobody.

import { Peer } from '../test/harness/peer.js';
import type { Random } from './random.js';

const RUN = 1;
const CONTROL = 5;
const REFUSED = 65;
const ANSWER = 72;
const AT_ONCE = 8;
const CAP_BYTES = 8 * 1024 * 1024;
const SLOW_MS = 5;

const status = Peer.frame(CONTROL, Buffer.from(JSON.stringify({ op: 'status', protocol: 1 })));

type Kind = 'silent' | 'cut' | 'slow' | 'nonsense' | 'oversized' | 'foreign' | 'leaver';

export class IllPeers {
  /** What was not as it should be. */
  readonly wrong: string[] = [];
  readonly #socket: string;
  readonly #random: Random;
  readonly #counts = new Map<Kind, number>();
  #isWanted = false;
  #running: Promise<void>[] = [];

  constructor(socket: string, random: Random) {
    this.#socket = socket;
    this.#random = random;
  }

  get summary(): string {
    return [...this.#counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
  }

  start(): void {
    this.#isWanted = true;
    this.#running = Array.from({ length: AT_ONCE }, async () => {
      while (this.#isWanted) await this.#one();
    });
  }

  async stop(): Promise<void> {
    this.#isWanted = false;
    await Promise.all(this.#running);
  }

  async #one(): Promise<void> {
    const kind = this.#random.pick<Kind>({ silent: 1, cut: 2, slow: 2, nonsense: 3, oversized: 2, foreign: 2, leaver: 3 });
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
    let peer: Peer | undefined;
    try {
      peer = await Peer.connect(this.#socket);
      await this.#behave(kind, peer);
    } catch (error) {
      this.wrong.push(`${kind}: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      peer?.destroy();
    }
    await pause(this.#random.below(20));
  }

  async #behave(kind: Kind, peer: Peer): Promise<void> {
    switch (kind) {
      case 'silent':
        return await pause(200 + this.#random.below(1000));
      case 'cut':
        peer.send(status.subarray(0, 1 + this.#random.below(status.length - 1)));
        return await pause(this.#random.below(300));
      case 'slow':
        for (const byte of status) {
          peer.send(Buffer.of(byte));
          await pause(SLOW_MS);
        }
        return await expectFrame(peer, ANSWER);
      case 'nonsense': {
        const bytes = Buffer.from(Array.from({ length: 8 + this.#random.below(300) }, () => this.#random.below(256)));
        bytes.writeUInt8(200, 4); // no kind of a client's, whatever else
        peer.send(bytes);
        return await expectFrame(peer, REFUSED);
      }
      case 'oversized': {
        const claim = Peer.frame(RUN, Buffer.alloc(0));
        claim.writeUInt32BE(CAP_BYTES + 1 + this.#random.below(1_000_000_000), 0);
        peer.send(claim);
        return await expectFrame(peer, REFUSED);
      }
      case 'foreign': {
        const body = Buffer.from(Array.from({ length: this.#random.below(2000) }, () => this.#random.below(256)));
        peer.send(Peer.frame(RUN, body));
        return await expectFrame(peer, REFUSED);
      }
      case 'leaver':
        peer.send(status);
    }
  }
}

async function expectFrame(peer: Peer, kind: number): Promise<void> {
  const frame = await peer.nextFrame(60_000);
  if (frame.kind !== kind) throw new Error(`expected a frame of kind ${kind}, got ${frame.kind}`);
  await peer.closed(60_000);
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}
