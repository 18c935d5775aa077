// A session under load and under ill use: large requests, peers that stall, clients that are killed, a full queue. What many runs
// leave is in endurance.test.ts.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { useHoldfast } from '../harness/holdfast.js';
import { Peer } from '../harness/peer.js';
import { descendantsOf, isAlive, zombiesOf } from '../harness/processes.js';
import type { Session } from '../harness/session.js';

const holdfast = useHoldfast();
const RUN = 1;
const CONTROL = 5;
const REFUSED = 65;
/** Cap of a RUN's body: docs/protocol.md §2. */
const CAP_BYTES = 8 * 1024 * 1024;

let opened: Promise<Session> | undefined;
/** One for the whole file. */
function shared(): Promise<Session> {
  opened ??= holdfast.open('load', { shared: true });
  return opened;
}

function residentKb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

describe('a large request', () => {
  const word = 'w'.repeat(100_000);

  it('of a megabyte of arguments arrives whole', async () => {
    const session = await shared();
    const words = Array.from({ length: 10 }, () => word);
    expect(await session.output(['sh', '-c', 'echo $# ${#1} ${#10}', 'sh', ...words])).toBe('10 100000 100000\n');
  });

  it('that cannot be is 126 by name, and the agent serves on', async () => {
    const message = /^runner-exec: cannot run 'true': Argument list too long; hint: .*\n$/;
    // The kernel takes a quarter of the stack's limit: 2 MiB, of which the environment alone has half.
    const large = 'for i in 0 1 2 3 4 5 6 7 8 9; do export "L$i=$(head -c 100000 /dev/zero | tr "\\0" l)"; done; ulimit -s 8192';
    const session = await holdfast.open('large', { script: large });
    const names = Array.from({ length: 14 }, (_, i) => `V${i}`);
    const env = Object.fromEntries(names.map((name) => [name, word]));
    const pass = (list: readonly string[]): string[] => list.flatMap((name) => ['--pass-env', name]);
    const refused = await session.exec(['true'], { env, flags: pass(names) });
    expect(refused.code).toBe(126);
    expect(`${refused.stderr}`).toMatch(message);
    // One variable in the end, passed on so often that the request is larger than the wire allows.
    const often = await session.exec(['true'], { env, flags: pass(Array.from({ length: 90 }, () => 'V0')) });
    expect(often.code).toBe(126);
    expect(`${often.stderr}`).toMatch(message);
    expect(await session.exec(['true'], { env, flags: pass(names.slice(0, 5)) })).toMatchObject({ code: 0, stderr: Buffer.alloc(0) });
  });

  it('that claims to be larger than the wire allows costs the agent nothing', async () => {
    const session = await shared();
    const before = residentKb(session.pid);
    const claims = Array.from({ length: 20 }, async () => {
      const peer = await Peer.connect(session.socket);
      const header = Peer.frame(RUN, Buffer.alloc(0));
      header.writeUInt32BE(CAP_BYTES + 1_000_000, 0);
      peer.send(header);
      const { kind, body } = await peer.nextFrame();
      await peer.closed();
      peer.destroy();
      return [kind, body.readUInt16BE(0)];
    });
    // TOO_LARGE.
    expect(await Promise.all(claims)).toEqual(claims.map(() => [REFUSED, 7]));
    // 20 × 9 MB, had it made room for them.
    expect(residentKb(session.pid)).toBeLessThan(before + 50_000);
  });
});

describe('peers that stall', () => {
  it('are dropped in the end, and hold up nobody until then', async () => {
    const session = await shared();
    const body = Buffer.from(JSON.stringify({ op: 'status', protocol: 1 }));
    const whole = Peer.frame(CONTROL, body);
    const claimed = Peer.frame(RUN, Buffer.alloc(0));
    claimed.writeUInt32BE(CAP_BYTES, 0);
    const starts = [
      Buffer.alloc(0),
      whole.subarray(0, 3),
      whole.subarray(0, 8),
      whole.subarray(0, -1),
      claimed,
      Buffer.concat([claimed, Buffer.alloc(50_000)]),
    ];
    const peers = await Promise.all(
      starts.map(async (bytes) => {
        const peer = await Peer.connect(session.socket);
        if (bytes.length > 0) peer.send(bytes);
        return peer;
      }),
    );
    const served: number[] = [];
    while (peers.some((peer) => !peer.isClosed)) {
      const startedAt = performance.now();
      expect(await session.output(['echo', 'served'])).toBe('served\n');
      served.push(performance.now() - startedAt);
      if (served.length > 20_000) throw new Error(`${peers.filter((peer) => !peer.isClosed).length} peers are still there`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    expect(served.length).toBeGreaterThan(20);
    // A client of its own process each time, on a machine that does other things too; a stall would be seconds.
    expect(served.sort((a, b) => a - b)[Math.floor(served.length / 2)]).toBeLessThan(500);
    for (const peer of peers) peer.destroy();
  });
});

describe('clients that are killed', () => {
  it('forty of them leave no process and no descriptor', async () => {
    const session = await shared();
    const descriptors = session.descriptors().size;
    const children = descendantsOf(session.pid).length;
    const clients = Array.from({ length: 40 }, () => session.start(['sh', '-c', 'setsid sleep 600 & echo $$ $!; wait']));
    await Promise.all(clients.map((client) => client.outputLine(/^\d+ \d+$/)));
    for (const client of clients) client.kill('SIGKILL');
    await Promise.all(clients.map((client) => client.ended));
    const pids = clients.flatMap((client) => `${client.stdout}`.trim().split(' ').map(Number));
    expect(pids).toHaveLength(80);
    await eventually(() => {
      expect(pids.filter((pid) => isAlive(pid))).toEqual([]);
      expect(zombiesOf(session.pid)).toEqual([]);
      expect(descendantsOf(session.pid)).toHaveLength(children);
      expect(session.descriptors().size).toBeLessThanOrEqual(descriptors);
    });
  });

  it('while they wait for their turn, give it up', async () => {
    const session = await holdfast.open('one', { flags: ['--max-concurrent', '1', '--max-queue', '2'] });
    const first = session.start(['sh', '-c', 'echo ready; read line'], { stdin: 'open' });
    await first.outputLine('ready');
    const queued = [session.start(['echo', 'second']), session.start(['echo', 'third'])];
    await eventually(async () => expect(await session.status()).toMatchObject({ running: 1, queued: 2 }));
    const full = await session.exec(['true']);
    expect(full.code).toBe(125);
    expect(`${full.stderr}`).toMatch(/^runner-exec: session 'one' refused: the session's queue of 2 is full; hint: .*\n$/);
    queued[0]?.kill('SIGKILL');
    await eventually(async () => expect(await session.status()).toMatchObject({ running: 1, queued: 1 }));
    first.endInput();
    expect(await queued[1]?.ended).toMatchObject({ code: 0, stdout: Buffer.from('third\n') });
    expect(await first.ended).toMatchObject({ code: 1 });
  });
});

describe('an agent that runs out', () => {
  it('of descriptors says so, and serves again when there are some', async () => {
    const session = await holdfast.open('few', { script: 'ulimit -n 64' });
    expect(await session.output(['sh', '-c', 'ulimit -n'])).toBe('64\n');
    const held = Array.from({ length: 40 }, () => session.start(['sh', '-c', 'echo ready; read line'], { stdin: 'open' }));
    await eventually(() => {
      const settled = held.filter((each) => `${each.stdout}` === 'ready\n' || !each.isAlive);
      expect(settled).toHaveLength(held.length);
    });
    for (const each of held) each.endInput();
    const failed = (await Promise.all(held.map((each) => each.ended))).map(({ code }) => code).filter((code) => code !== 1);
    // Whoever was not served has been told: 125, with the reason.
    expect(new Set(failed)).toEqual(new Set([125]));
    for (const each of held) {
      if (`${each.stdout}` === '') expect(`${each.stderr}`).toMatch(/^runner-exec: .*; hint: .*\n$/);
    }
    await eventually(async () => expect(await session.output(['echo', 'on'])).toBe('on\n'));
  });
});
