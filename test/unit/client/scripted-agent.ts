// An agent that says what a test tells it to, in this process: it listens for real, and starts nothing.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Channel } from '../../../src/channel.js';
import type { SessionAddress } from '../../../src/client/connect.js';
import { closeFd, closeFds } from '../../../src/native/descriptors.js';
import { unwatch, watch } from '../../../src/native/poll.js';
import { acceptUnix, listenUnix } from '../../../src/native/sockets.js';
import {
  type ClientMessage,
  type Exited,
  encodeExited,
  encodeSpawned,
  parseClientFrame,
  type RunRequest,
  splitStrings,
} from '../../../src/protocol/messages.js';

export const NO_USAGE: Omit<Exited, 'waitStatus' | 'cancelledBy'> = {
  usage: {
    userUs: 1,
    systemUs: 2,
    maxRssKib: 3,
    minorFaults: 4,
    majorFaults: 5,
    blocksIn: 6,
    blocksOut: 7,
    voluntarySwitches: 8,
    involuntarySwitches: 9,
  },
  timings: { queuedUs: 10, spawnUs: 11, runUs: 12 },
  tree: { cpuUs: undefined, peakBytes: undefined },
  leftovers: [],
};

export const PID = 4242;

export const spawned: Buffer = encodeSpawned({ pid: PID, startNs: 7n, job: '' }, 0);

export function exited(waitStatus: number, cancelledBy: Exited['cancelledBy'] = 'nobody'): Buffer {
  return encodeExited({ ...NO_USAGE, waitStatus, cancelledBy });
}

/** What the agent sees of one connection. */
export class Peer {
  readonly channel: Channel;
  readonly messages: ClientMessage[] = [];
  /** Those that came with the request: ours. */
  fds: readonly number[] = [];
  closed = false;
  #wake: (() => void) | undefined;

  constructor(fd: number) {
    this.channel = new Channel(fd, 'client', {
      onFrame: (frame, fds) => {
        if (fds.length > 0) this.fds = fds;
        this.messages.push(parseClientFrame({ ...frame, body: Buffer.from(frame.body) }));
        this.#wake?.();
      },
      onClose: () => {
        this.closed = true;
        this.#wake?.();
      },
    });
  }

  /** Resolves once `count` messages have come. */
  async heard(count: number): Promise<void> {
    await this.#until(() => this.messages.length >= count);
  }

  async gone(): Promise<void> {
    await this.#until(() => this.closed);
  }

  async request(): Promise<RunRequest> {
    await this.heard(1);
    const [first] = this.messages;
    if (first?.type !== 'run') throw new Error(`'${first?.type}' came, no request`);
    return first.request;
  }

  say(...frames: Buffer[]): void {
    for (const frame of frames) this.channel.send(frame);
  }

  end(): void {
    this.channel.close();
    closeFds(this.fds);
    this.fds = [];
  }

  async #until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

export class ScriptedAgent {
  readonly address: SessionAddress;
  readonly directory: string = mkdtempSync(join(tmpdir(), 'holdfast-client-'));
  readonly #peers: Peer[] = [];
  readonly #listener: number;
  #wake: (() => void) | undefined;
  #taken = 0;

  constructor(kind: SessionAddress['kind'] = 'session') {
    const path = join(this.directory, 's.sock');
    this.#listener = listenUnix(path, 16);
    this.address = { label: 'web', kind, socket: Buffer.from(path), pass: join(this.directory, 's.pass') };
    watch(this.#listener, { readable: true }, () => {
      for (let fd = acceptUnix(this.#listener); fd !== undefined; fd = acceptUnix(this.#listener)) this.#peers.push(new Peer(fd));
      this.#wake?.();
    });
  }

  /** The next connection. */
  async peer(): Promise<Peer> {
    for (;;) {
      const peer = this.#peers[this.#taken];
      if (peer !== undefined) {
        this.#taken += 1;
        return peer;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Nobody listens any more, but the socket's file stays: as after a crash. */
  abandon(): void {
    unwatch(this.#listener);
    closeFd(this.#listener);
  }

  stop(): void {
    this.abandon();
    for (const peer of this.#peers) peer.end();
    rmSync(this.directory, { recursive: true });
  }
}

/** The strings of a packed list, one character a byte. */
export function words(list: RunRequest['argv']): string[] {
  return splitStrings(list).map((word) => word.toString('latin1'));
}
