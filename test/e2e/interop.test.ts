// Pins docs/protocol.md against a running session with a peer that shares no code with us: bytes written out here by hand,
// descriptors carried by usocket.

import { readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { useHoldfast } from '../harness/holdfast.js';
import { Peer, type SeenFrame } from '../harness/peer.js';
import { findProcess, isAlive } from '../harness/processes.js';
import type { Session } from '../harness/session.js';

const holdfast = useHoldfast();
const peers = new Set<Peer>();
// Before it is looked whether anything is left.
afterEach(() => {
  for (const peer of peers) peer.destroy();
  peers.clear();
});

const [REFUSED, QUEUED, SPAWNED, NOT_STARTED, STOPPED, CONTINUED, EXITED, ANSWER] = [65, 66, 67, 68, 69, 70, 71, 72];
const [SIGTERM, SIGKILL, SIGUSR1, SIGSTOP] = [15, 9, 10, 19];

const u8 = (value: number): Buffer => Buffer.from([value]);
const u16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);
const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const u64 = (value: number): Buffer => Buffer.concat([u32(0), u32(value)]);
const text = (value: string): Buffer => Buffer.concat([u32(Buffer.byteLength(value)), Buffer.from(value)]);
const list = (values: string[]): Buffer => {
  const bytes = Buffer.from(values.map((value) => `${value}\0`).join(''));
  return Buffer.concat([u32(values.length), u32(bytes.length), bytes]);
};

/** A RUN frame of §4 with these target numbers for the descriptors that ride on it. */
function run(argv: string[], cwd: string, numbers: number[], { version = 1, flags = 0, timeoutMs = 0 } = {}): Buffer {
  const body = Buffer.concat([
    u32(0x48465258),
    u16(version),
    u16(flags),
    u8(0),
    u32(0),
    u8(0),
    u8(0),
    u32(0o022),
    u64(0),
    u32(0xffffffff),
    u32(timeoutMs),
    u16(numbers.length),
    ...numbers.map(u32),
    u16(0),
    list(argv),
    text(''),
    list(['=BY_HAND=yes']),
    text(cwd),
  ]);
  return Peer.frame(1, body, numbers.length);
}

/** A CONTROL frame. */
const control = (question: object): Buffer => Peer.frame(5, Buffer.from(JSON.stringify(question)));

/** The strings of §3 that lie in a body one behind the other. */
function texts(body: Buffer, from: number): string[] {
  const found: string[] = [];
  for (let at = from; at < body.length; ) {
    const end = at + 4 + body.readUInt32BE(at);
    found.push(body.toString('utf8', at + 4, end));
    at = end;
  }
  return found;
}

/** What a body of REFUSED says: code, message, hint. */
function refusal({ kind, body }: SeenFrame): [number, number, ...string[]] {
  return [kind, body.readUInt16BE(0), ...texts(body, 2)];
}

/** A peer for one request, closed with the test. */
async function peerOf(session: Session): Promise<Peer> {
  const peer = await Peer.connect(session.socket);
  peers.add(peer);
  return peer;
}

/** A command of sh whose descriptors 1 and 2 are a file, up to its SPAWNED. */
async function start(session: Session, script: string, options: Parameters<typeof run>[3] = {}): Promise<Started> {
  const folder = holdfast.folder();
  const file = await open(join(folder, 'out'), 'w');
  const peer = await peerOf(session);
  peer.send(run(['sh', '-c', script], folder, [1, 2], options), [file.fd, file.fd]);
  const spawned = await peer.nextFrame();
  await file.close();
  expect(spawned.kind).toBe(SPAWNED);
  const written = (): string => readFileSync(join(folder, 'out'), 'utf8');
  return {
    peer,
    spawned,
    pid: spawned.body.readUInt32BE(0),
    written,
    says: (text) => eventually(() => expect(written()).toBe(text), 20_000),
  };
}

interface Started {
  peer: Peer;
  spawned: SeenFrame;
  pid: number;
  written(): string;
  /** Waits until this is all that it has written. */
  says(text: string): Promise<void>;
}

it('a peer written from the specification alone runs a command', async () => {
  const session = await holdfast.open('wire', { script: 'export HELD=yes' });
  const folder = holdfast.folder();
  writeFileSync(join(folder, 'in'), 'typed');
  const [input, output] = [await open(join(folder, 'in'), 'r'), await open(join(folder, 'out'), 'w')];
  const peer = await Peer.connect(session.socket);
  try {
    const frame = run(['sh', '-c', 'cat; echo " $HELD $BY_HAND" >&5; pwd >&5; exit 7'], folder, [0, 1, 2, 5]);
    peer.send(frame, [input.fd, output.fd, output.fd, output.fd]);

    const spawned = await peer.nextFrame();
    expect(spawned.kind).toBe(67);
    expect(peer.fds).toHaveLength(spawned.fdCount);
    const exited = await peer.nextFrame();
    expect([exited.kind, exited.body.readUInt32BE(0)]).toEqual([71, 7 << 8]);
    await peer.closed();
    expect(readFileSync(join(folder, 'out'), 'utf8')).toBe(`typed yes yes\n${folder}\n`);
  } finally {
    peer.destroy();
    await input.close();
    await output.close();
  }
});

it('a frame cut at any place is put together again', async () => {
  const session = await holdfast.open('cut');
  const frame = run(['true'], '/', []);
  for (const cut of [1, 4, 7, 8, 9, 20, frame.length - 1]) {
    const peer = await Peer.connect(session.socket);
    try {
      peer.send(frame.subarray(0, cut));
      // The agent has the first part when it has answered somebody else.
      await session.output(['true']);
      peer.send(frame.subarray(cut));
      expect((await peer.nextFrame()).kind).toBe(67);
      expect((await peer.nextFrame()).kind).toBe(71);
      await peer.closed();
    } finally {
      peer.destroy();
    }
  }
});

describe('the same peer', () => {
  it('gets a pidfd of the target, and the time of its start', async () => {
    const { peer, spawned, pid } = await start(await holdfast.open('pidfd'), 'sleep 600');
    expect(spawned.fdCount).toBe(1);
    await eventually(() => expect(peer.fds).toHaveLength(1));
    expect(readFileSync(`/proc/self/fdinfo/${peer.fds[0]}`, 'utf8')).toContain(`\nPid:\t${pid}\n`);
    const startNs = spawned.body.readBigUInt64BE(4);
    expect(startNs).toBeGreaterThan(0n);
    expect(startNs).toBeLessThanOrEqual(process.hrtime.bigint());
    expect(texts(spawned.body, 12)).toEqual(['']);
    peer.send(Peer.frame(2, u8(SIGKILL)));
    expect((await peer.nextFrame()).kind).toBe(EXITED);
  });

  it('sends signals to the target’s group, once each', async () => {
    const script = 'trap "echo one" USR1; trap "echo end; exit 3" TERM; echo ready; while :; do :; done';
    const command = await start(await holdfast.open('signals'), script);
    await command.says('ready\n');
    command.peer.send(Peer.frame(2, u8(SIGUSR1)));
    await command.says('ready\none\n');
    command.peer.send(Peer.frame(2, u8(SIGTERM)));
    const exited = await command.peer.nextFrame();
    expect([exited.kind, exited.body.readUInt32BE(0)]).toEqual([EXITED, 3 << 8]);
    expect(command.written()).toBe('ready\none\nend\n');
  });

  it('stops the target and lets it go on', async () => {
    const command = await start(await holdfast.open('stops'), 'echo ready; until [ -e go ]; do sleep 0.05; done; exit 4');
    await command.says('ready\n');
    command.peer.send(Peer.frame(3, Buffer.alloc(0)));
    const stopped = await command.peer.nextFrame();
    expect([stopped.kind, stopped.body]).toEqual([STOPPED, u8(SIGSTOP)]);
    expect(findProcess(command.pid)?.state).toBe('T');
    command.peer.send(Peer.frame(4, Buffer.alloc(0)));
    expect((await command.peer.nextFrame()).kind).toBe(CONTINUED);
    command.peer.send(Peer.frame(2, u8(SIGKILL)));
    const exited = await command.peer.nextFrame();
    expect([exited.kind, exited.body.readUInt32BE(0)]).toEqual([EXITED, SIGKILL]);
  });

  it('ends the target by going, by CANCEL, and by a deadline', async () => {
    const session = await holdfast.open('ends');
    const left = await start(session, 'echo ready; sleep 600');
    await left.says('ready\n');
    const ticks = findProcess(left.pid)?.startTicks ?? 0;
    left.peer.destroy();
    await eventually(() => expect(isAlive(left.pid, ticks)).toBe(false), 20_000);

    const cancelled = await start(session, 'echo ready; sleep 600');
    await cancelled.says('ready\n');
    cancelled.peer.send(Peer.frame(6, Buffer.alloc(0)));
    const [byClient, byDeadline] = [
      await cancelled.peer.nextFrame(),
      await (await start(session, 'sleep 600', { timeoutMs: 50 })).peer.nextFrame(),
    ];
    expect([byClient.kind, byClient.body.readUInt32BE(0), byClient.body.readUInt8(4)]).toEqual([EXITED, SIGTERM, 1]);
    expect([byDeadline.kind, byDeadline.body.readUInt32BE(0), byDeadline.body.readUInt8(4)]).toEqual([EXITED, SIGTERM, 2]);
  });

  it('is told why a target was not started, and of its place in the queue', async () => {
    const session = await holdfast.open('queue', { flags: ['--max-concurrent', '1'] });
    const none = await peerOf(session);
    none.send(run(['no-such-program'], '/', []));
    const failed = await none.nextFrame();
    expect([failed.kind, failed.body.readUInt8(0), failed.body.readUInt32BE(1)]).toEqual([NOT_STARTED, 1, 2]);
    expect(texts(failed.body, 5)[0]).toBe('no-such-program');
    expect(texts(failed.body, 5)[1]).toContain('/bin');

    const first = await start(session, 'until [ -e go ]; do sleep 0.05; done');
    const waiting = [await peerOf(session), await peerOf(session)];
    for (const [index, peer] of waiting.entries()) {
      peer.send(run(['true'], '/', []));
      const queued = await peer.nextFrame();
      expect([queued.kind, queued.body.readUInt32BE(0)]).toEqual([QUEUED, index + 1]);
    }
    first.peer.destroy();
    for (const peer of waiting) {
      const kinds = [(await peer.nextFrame()).kind];
      while (kinds.at(-1) === QUEUED) kinds.push((await peer.nextFrame()).kind);
      expect([kinds.at(-1), (await peer.nextFrame()).kind]).toEqual([SPAWNED, EXITED]);
    }
  });

  it('starts a job, and asks for it later on another connection', async () => {
    const session = await holdfast.open('job');
    const peer = await peerOf(session);
    peer.send(run(['sh', '-c', 'echo done; exit 5'], '/', [], { flags: 2 }));
    const spawned = await peer.nextFrame();
    const [id = ''] = texts(spawned.body, 12);
    expect([spawned.kind, id]).toEqual([SPAWNED, expect.stringMatching(/./)]);
    await peer.closed();
    const asker = await peerOf(session);
    asker.send(control({ op: 'job', protocol: 1, action: 'wait', id }));
    const answer = await asker.nextFrame();
    expect(answer.kind).toBe(ANSWER);
    expect(JSON.parse(answer.body.toString())).toMatchObject({ job: { id, state: 'ended', outcome: { kind: 'exited', code: 5 } } });
  });

  it('asks about the session, traces it, and closes it', async () => {
    const session = await holdfast.open('asked', { script: 'export HELD=yes' });
    const ask = async (question: object): Promise<[number, Record<string, unknown>]> => {
      const peer = await peerOf(session);
      peer.send(control(question));
      const { kind, body } = await peer.nextFrame();
      await peer.closed();
      return [kind, kind === ANSWER ? JSON.parse(body.toString()) : {}];
    };
    expect(await ask({ op: 'status', protocol: 1 })).toEqual([
      ANSWER,
      expect.objectContaining({ pid: session.pid, name: 'asked', protocol: 1 }),
    ]);
    const [, { base }] = await ask({ op: 'environment', protocol: 1 });
    expect(base).toContainEqual(['HELD', 'yes']);
    expect(await ask({ op: 'trace', protocol: 1, action: 'start' })).toEqual([ANSWER, expect.objectContaining({ on: true })]);
    await session.output(['true']);
    const [, { records }] = await ask({ op: 'trace', protocol: 1, action: 'read' });
    expect(records).toEqual([expect.objectContaining({ command: 'true', ending: { kind: 'exited', code: 0 } })]);
    expect(await ask({ op: 'stop', protocol: 1 })).toEqual([ANSWER, expect.objectContaining({ stopping: true })]);
    await eventually(() => expect(findProcess(session.pid)).toBeUndefined(), 20_000);
  });

  it('is refused by name when it speaks another version, or no sense', async () => {
    const session = await holdfast.open('refused');
    const answerTo = async (frame: Buffer): Promise<[number, number, ...string[]]> => {
      const peer = await peerOf(session);
      peer.send(frame);
      const answer = refusal(await peer.nextFrame());
      await peer.closed();
      return answer;
    };
    const [, , message, hint] = await answerTo(run(['true'], '/', [], { version: 99 }));
    expect(message).toMatch(/\b99\b.*\b1\b|\b1\b.*\b99\b/);
    expect(hint).toContain('close the session and open it again');
    expect((await answerTo(run(['true'], '/', [], { version: 99 }))).slice(0, 2)).toEqual([REFUSED, 1]);
    expect((await answerTo(control({ op: 'status', protocol: 99 }))).slice(0, 2)).toEqual([REFUSED, 1]);
    expect((await answerTo(control({ op: 'dance', protocol: 1 }))).slice(0, 3)).toEqual([REFUSED, 10, expect.stringContaining("'dance'")]);
    expect((await answerTo(run(['true'], '/proc/self/fd', []))).slice(0, 2)).toEqual([REFUSED, 8]);
    // No argument, a flag that is none, a kind that is none, a body over the cap.
    expect((await answerTo(run([], '/', []))).slice(0, 2)).toEqual([REFUSED, 2]);
    expect((await answerTo(run(['true'], '/', [], { flags: 0x8000 }))).slice(0, 2)).toEqual([REFUSED, 2]);
    expect((await answerTo(Peer.frame(9, Buffer.alloc(0)))).slice(0, 2)).toEqual([REFUSED, 2]);
    expect((await answerTo(Buffer.concat([u32(1 << 30), Buffer.from([1, 0, 0, 0])]))).slice(0, 2)).toEqual([REFUSED, 7]);
    expect(await session.output(['echo', 'well'])).toBe('well\n');
  });

  it('has nothing from our sources', () => {
    for (const file of [import.meta.filename, join(import.meta.dirname, '../harness/peer.ts')]) {
      expect(readFileSync(file, 'utf8').match(/^import .*\/src\/.*$/gm)).toBeNull();
    }
  });
});
