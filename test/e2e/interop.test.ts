// Pins docs/protocol.md against a running session with a peer that shares no code with us: bytes written out here by hand,
// descriptors carried by usocket.

import { readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { useHoldfast } from '../harness/holdfast.js';
import { Peer } from '../harness/peer.js';

const holdfast = useHoldfast();

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
function run(argv: string[], cwd: string, numbers: number[]): Buffer {
  const body = Buffer.concat([
    u32(0x48465258),
    u16(1),
    u16(0),
    u8(0),
    u32(0),
    u8(0),
    u8(0),
    u32(0o022),
    u64(0),
    u32(0xffffffff),
    u32(0),
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
