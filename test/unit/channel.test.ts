// Pins src/channel.ts: frames arrive whole and once, whatever the cuts, with the descriptors that are theirs; what a peer does wrong
// ends its connection and leaves nothing open.

import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Channel, type ChannelEvents } from '../../src/channel.js';
import { closeFd, closeFds, fdFlags, makePipe } from '../../src/native/descriptors.js';
import { acceptUnix, connectUnix, listenUnix, receive, send } from '../../src/native/sockets.js';
import { encodeFrame } from '../../src/protocol/frame.js';
import { HEADER_BYTES, Kind } from '../../src/protocol/limits.js';
import { eventually } from '../harness/eventually.js';
import { expectNoDescriptorsLeft } from './native/descriptors.js';

const SIGNAL = encodeFrame(Kind.SIGNAL, Buffer.of(15));
const CONTROL = encodeFrame(Kind.CONTROL, Buffer.from('{"op":"status"}'));
const SUSPEND = encodeFrame(Kind.SUSPEND, Buffer.alloc(0));
const run = (body: string | Buffer, fdCount = 0): Buffer => encodeFrame(Kind.RUN, Buffer.from(body), fdCount);

interface Seen {
  kind: number;
  body: string;
  fds: readonly number[];
}

/** A channel and the raw other end of its connection. */
class Ends {
  readonly raw: number;
  readonly channel: Channel;
  readonly frames: Seen[] = [];
  readonly closes: (Error | undefined)[] = [];
  #isRawOpen = true;

  constructor(events: Partial<ChannelEvents> = {}, from: 'client' | 'agent' = 'client') {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-channel-'));
    const path = join(directory, 'sock');
    const listener = listenUnix(path, 1);
    this.raw = connectUnix(path);
    const own = acceptUnix(listener) ?? -1;
    closeFd(listener);
    rmSync(directory, { recursive: true });
    this.channel = new Channel(own, from, {
      onFrame: (frame, fds) => this.frames.push({ kind: frame.kind, body: frame.body.toString('latin1'), fds }),
      onClose: (error) => this.closes.push(error),
      ...events,
    });
    open.push(this);
  }

  send(bytes: Buffer, fds: readonly number[] = []): void {
    expect(send(this.raw, bytes, 0, fds)).toBe(bytes.length);
  }

  /** Reads on the raw end until the channel has closed its own. */
  async rest(): Promise<Buffer> {
    const parts: Buffer[] = [];
    const into = Buffer.alloc(1 << 20);
    await eventually(() => {
      for (;;) {
        const got = receive(this.raw, into, 0);
        if (got === undefined) throw new Error('it is still open');
        if (got.bytes === 0) return;
        closeFds(got.fds);
        parts.push(Buffer.from(into.subarray(0, got.bytes)));
      }
    });
    return Buffer.concat(parts);
  }

  closeRaw(): void {
    if (this.#isRawOpen) closeFd(this.raw);
    this.#isRawOpen = false;
  }

  close(): void {
    this.channel.close();
    this.closeRaw();
    for (const { fds } of this.frames) closeFds(fds);
  }
}

const open: Ends[] = [];

describe('a channel', () => {
  expectNoDescriptorsLeft();
  afterEach(() => {
    for (const ends of open.splice(0)) ends.close();
  });

  it('takes a frame at every cut', async () => {
    const ends = new Ends();
    for (let cut = 1; cut < CONTROL.length; cut++) {
      ends.send(CONTROL.subarray(0, cut));
      ends.channel.readNow();
      expect(ends.frames).toEqual([]);
      expect(ends.channel.isMidFrame).toBe(true);
      ends.send(CONTROL.subarray(cut));
      ends.channel.readNow();
      expect(ends.frames.splice(0)).toEqual([{ kind: Kind.CONTROL, body: '{"op":"status"}', fds: [] }]);
      expect(ends.channel.isMidFrame).toBe(false);
    }
  });

  it('takes a frame byte by byte', () => {
    const ends = new Ends();
    for (const byte of Buffer.concat([CONTROL, SIGNAL, SUSPEND])) {
      ends.send(Buffer.of(byte));
      ends.channel.readNow();
    }
    expect(ends.frames.map(({ kind }) => kind)).toEqual([Kind.CONTROL, Kind.SIGNAL, Kind.SUSPEND]);
  });

  it('takes several frames of one read, the last one cut', () => {
    const ends = new Ends();
    ends.send(Buffer.concat([CONTROL, SUSPEND, SIGNAL, CONTROL.subarray(0, 11)]));
    ends.channel.readNow();
    expect(ends.frames.map(({ kind }) => kind)).toEqual([Kind.CONTROL, Kind.SUSPEND, Kind.SIGNAL]);
    ends.send(Buffer.concat([CONTROL.subarray(11), SIGNAL]));
    ends.channel.readNow();
    expect(ends.frames.map(({ body }) => body)).toEqual(['{"op":"status"}', '', '\x0f', '{"op":"status"}', '\x0f']);
  });

  it('is told by itself, without being asked to read', async () => {
    const ends = new Ends();
    ends.send(SIGNAL);
    await eventually(() => expect(ends.frames).toHaveLength(1));
  });

  it('takes frames of all sizes around its buffer', async () => {
    const ends = new Ends();
    for (const size of [16 * 1024 - 9, 16 * 1024 - 8, 16 * 1024 - 7, 16 * 1024, 40_000]) {
      const body = Buffer.alloc(size, size % 251);
      ends.send(Buffer.concat([run(body), SIGNAL]));
      await eventually(() => expect(ends.frames).toHaveLength(2));
      expect(ends.frames.splice(0).map((frame) => frame.body)).toEqual([body.toString('latin1'), '\x0f']);
    }
  });

  it('takes a frame of 8 MB in many parts, and the next', async () => {
    const ends = new Ends();
    const body = Buffer.alloc(8 << 20);
    for (let at = 0; at < body.length; at += 4) body.writeUInt32BE(at, at);
    const bytes = Buffer.concat([run(body), SIGNAL]);
    for (let sent = 0; sent < bytes.length; ) {
      sent += send(ends.raw, bytes, sent) ?? 0;
      await new Promise(setImmediate);
    }
    await eventually(() => expect(ends.frames).toHaveLength(2));
    expect(Buffer.from(ends.frames[0]?.body ?? '', 'latin1').equals(body)).toBe(true);
  });

  it('gives descriptors to the frame that names them', () => {
    const ends = new Ends();
    const { read, write } = makePipe();
    ends.send(run('first'));
    ends.send(run('second', 2), [read, write]);
    ends.send(run('third'));
    ends.send(run('fourth', 1), [read]);
    ends.channel.readNow();
    ends.channel.readNow();
    expect(ends.frames.map(({ body, fds }) => [body, fds.length])).toEqual([
      ['first', 0],
      ['second', 2],
      ['third', 0],
      ['fourth', 1],
    ]);
    closeFds([read, write]);
  });

  it('keeps the descriptors of a frame that comes in parts', () => {
    const { read, write } = makePipe();
    for (const cut of [1, 7, 8, 9, 12]) {
      const ends = new Ends();
      const frame = run('body', 2);
      ends.send(frame.subarray(0, cut), [read, write]);
      ends.channel.readNow();
      ends.send(frame.subarray(cut));
      ends.channel.readNow();
      expect(ends.frames.map(({ body, fds }) => [body, fds.length])).toEqual([['body', 2]]);
    }
    closeFds([read, write]);
  });

  const wrongs: [what: string, parts: [bytes: Buffer, fdCount: number][], frames: number][] = [
    ['more than the header names', [[run('x', 1), 2]], 0],
    ['fewer than the header names', [[run('x', 2), 1]], 0],
    ['none where the header names some', [[run('x', 2), 0]], 0],
    ['some where the header names none', [[run('x'), 2]], 0],
    ['some on a kind that carries none', [[SIGNAL, 1]], 0],
    [
      'of two frames before the first is whole',
      [
        [run('long body', 1).subarray(0, 10), 1],
        [run('long body', 1).subarray(10), 1],
      ],
      0,
    ],
    ['not there with the first byte', [[run('x', 1).subarray(0, 8), 0]], 0],
    ['some that no frame claims', [[Buffer.concat([run('x'), SIGNAL]), 1]], 1],
  ];
  it.each(wrongs)('drops a peer whose descriptors are %s', async (_, parts, frames) => {
    const ends = new Ends();
    const sent = openSync('/dev/null', 'r');
    for (const [bytes, count] of parts) {
      send(ends.raw, bytes, 0, Array(count).fill(sent));
      ends.channel.readNow();
    }
    closeSync(sent);
    expect(ends.closes).toMatchObject([{ code: 'FRAME_FDS' }]);
    expect(ends.frames).toHaveLength(frames);
    expect(ends.channel.isOpen).toBe(false);
  });

  const nonsense: [what: string, bytes: Buffer, code: string][] = [
    ['an unknown kind', Buffer.from('0000000063000000', 'hex'), 'FRAME_KIND'],
    ['a kind of the other side', Buffer.from('0000000041000000', 'hex'), 'FRAME_KIND'],
    ['reserved bytes', Buffer.from('0000000003000001', 'hex'), 'FRAME_RESERVED'],
    ['a body over the cap', Buffer.from('ffffffff01000000', 'hex'), 'FRAME_TOO_LARGE'],
    ['something else', Buffer.from('GET / HTTP/1.1\r\n\r\n'), 'FRAME_KIND'],
  ];
  it.each(nonsense)('tells a peer that sends %s, and drops it', async (_, bytes, code) => {
    const words = encodeFrame(Kind.REFUSED, Buffer.from('words'));
    const ends = new Ends({ lastWords: () => words });
    ends.send(Buffer.concat([SIGNAL, bytes, SIGNAL]));
    expect(await ends.rest()).toEqual(words);
    expect(ends.closes).toMatchObject([{ code }]);
    expect(ends.frames).toHaveLength(1);
  });

  it('ends when the peer does, once and without an error', async () => {
    const ends = new Ends();
    ends.send(SIGNAL);
    ends.closeRaw();
    await eventually(() => expect(ends.closes).toEqual([undefined]));
    expect(ends.frames).toHaveLength(1);
    ends.channel.close();
    expect(ends.closes).toHaveLength(1);
  });

  it('ends with an error when the peer does inside a frame', async () => {
    const ends = new Ends();
    ends.send(CONTROL.subarray(0, 9));
    ends.closeRaw();
    await eventually(() => expect(ends.closes).toMatchObject([{ code: 'BODY_MALFORMED' }]));
  });

  it('may be closed by whoever takes a frame, and takes no more', () => {
    const ends: Ends = new Ends({
      onFrame: (frame, fds) => {
        ends.frames.push({ kind: frame.kind, body: '', fds });
        ends.channel.close();
      },
    });
    const { read, write } = makePipe();
    ends.send(Buffer.concat([SIGNAL, SIGNAL]));
    ends.send(run('x', 1), [read]);
    ends.channel.readNow();
    expect([ends.frames.length, ends.closes.length]).toEqual([1, 0]);
    ends.channel.send(SIGNAL);
    ends.channel.end();
    closeFds([read, write]);
  });

  it('drops a peer whose frame its taker throws at', () => {
    const thrown = new Error('of the taker');
    const ends = new Ends({
      onFrame: () => {
        throw thrown;
      },
    });
    ends.send(SIGNAL);
    ends.channel.readNow();
    expect(ends.closes).toEqual([thrown]);
  });

  it('keeps what the socket does not take, in order, and ends after it', async () => {
    const ends = new Ends({}, 'agent');
    const sent = Array.from({ length: 40 }, (_, index) => encodeFrame(Kind.ANSWER, Buffer.alloc(100_000, index)));
    for (const frame of sent) ends.channel.send(frame);
    ends.channel.end();
    expect(ends.channel.isOpen).toBe(true);
    expect((await ends.rest()).equals(Buffer.concat(sent))).toBe(true);
    expect(ends.channel.isOpen).toBe(false);
  });

  it('drops a peer that does not read, rather than keep everything for it', async () => {
    const ends = new Ends({}, 'agent');
    for (let i = 0; i < 40 && ends.channel.isOpen; i++) ends.channel.send(encodeFrame(Kind.ANSWER, Buffer.alloc(1 << 20)));
    await eventually(() => expect(ends.closes).toMatchObject([{ code: 'FRAME_TOO_LARGE' }]));
  });

  it('hears what a peer said before it went away, though writing to it fails', async () => {
    const ends = new Ends();
    ends.send(SIGNAL);
    ends.closeRaw();
    ends.channel.send(SIGNAL);
    expect(ends.closes).toEqual([]);
    await eventually(() => expect(ends.closes).toHaveLength(1));
    expect(ends.frames).toHaveLength(1);
  });

  it('sends descriptors, and keeps its own', () => {
    const ends = new Ends({}, 'agent');
    const own = openSync('/dev/null', 'r');
    ends.channel.send(encodeFrame(Kind.SPAWNED, Buffer.alloc(4), 1), [own]);
    const got = receive(ends.raw, Buffer.alloc(64), 0);
    expect([got?.bytes, got?.fds.length]).toEqual([HEADER_BYTES + 4, 1]);
    expect(fdFlags(own)).toBe(fdFlags(got?.fds[0] ?? -1));
    closeFds([own, ...(got?.fds ?? [])]);
  });

  it('does not stop another one from being read by its taker', async () => {
    const inner = new Ends();
    const outer: Ends = new Ends({
      onFrame: (frame, fds) => {
        outer.frames.push({ kind: frame.kind, body: frame.body.toString('latin1'), fds });
        inner.send(CONTROL);
      },
    });
    outer.send(Buffer.concat([run('one'), run('two')]));
    await eventually(() => expect(inner.frames).toHaveLength(2));
    expect(outer.frames.map(({ body }) => body)).toEqual(['one', 'two']);
  });
});
