// Pins src/agent/errands.ts, far-side.ts and start-proof.ts: what the agent does through a wrapper for itself. The wrapper is env(1).

import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Errands, NOT_RUN, type WrapperPlace } from '../../../src/agent/errands.js';
import { FarSide, packLatin1 } from '../../../src/agent/far-side.js';
import { fileProof, type Proof, pipeProof, type Reached, spareNumber } from '../../../src/agent/start-proof.js';
import { watchChildren } from '../../../src/native/children.js';
import type { WrapDefinition } from '../../../src/wrap/definition.js';
import { eventually } from '../../harness/eventually.js';
import { descriptorsOf, isAlive } from '../../harness/processes.js';
import { wrapOf } from '../wrap/wraps.js';

const PLACE: WrapperPlace = {
  env: { ...packLatin1(['PATH=/usr/bin:/bin', 'PLACE=there']), path: Buffer.from('/usr/bin:/bin\0') },
  cwd: Buffer.from('/\0'),
};

const errands = new Errands(new Float64Array(0));
watchChildren((change) => void errands.changed(change));
const run = (words: readonly string[], withinMs = 10_000): Promise<number> => errands.run(packLatin1(words), PLACE, withinMs);

let scratch = '';
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'errands.'));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

describe('an errand', () => {
  it('tells its exit code, and runs in its place', async () => {
    expect(await run(['sh', '-c', '[ "$PLACE" = there ] && [ "$PWD" = / ] && exit 7'])).toBe(7);
    expect(await run(['sh', '-c', 'kill -9 $$'])).toBe(137);
    expect(await run(['no-such-program'])).toBe(NOT_RUN);
  });

  it('is ended with its children when its time is over', async () => {
    const file = join(scratch, 'pids');
    expect(await run(['sh', '-c', `sleep 300 & echo $! $$ >${file}; wait`], 1_500)).toBe(137);
    const pids = readFileSync(file, 'utf8').trim().split(' ').map(Number);
    expect(pids.length).toBe(2);
    await eventually(() => expect(pids.filter((pid) => isAlive(pid))).toEqual([]));
  });

  it('leaves no descriptor behind, nor has it one of ours', async () => {
    await run(['true']);
    const before = descriptorsOf('self').size;
    const file = join(scratch, 'fds');
    expect(await run(['sh', '-c', `ls /proc/self/fd | wc -l >${file}`])).toBe(0);
    expect(Number(readFileSync(file, 'utf8'))).toBe(4); // 0, 1, 2 and ls's own
    expect(descriptorsOf('self').size).toBe(before);
  });
});

/** Started by an errand too: a child of Node's own would take the news of all children. */
async function sleeper(marker: string): Promise<number> {
  const file = join(scratch, 'sleeper');
  const place = { ...PLACE, env: { ...PLACE.env, ...packLatin1(['PATH=/usr/bin:/bin', `HOLDFAST_RUN=${marker}`]) } };
  void errands.run(packLatin1(['sh', '-c', `echo $$ >${file}; exec sleep 300`]), place, 60_000);
  return await eventually(() => {
    const pid = Number(readFileSync(file, 'utf8'));
    expect(pid).toBeGreaterThan(0);
    return pid;
  });
}

describe('the far side', () => {
  const marker = (): string => randomBytes(8).toString('hex');
  const far = (wrap: Partial<WrapDefinition>, mark: string): FarSide =>
    new FarSide(wrapOf({ prefix: ['env'], farSide: 'marker', ...wrap }), errands, PLACE, mark);

  it('is ended, and then there is nobody', async () => {
    const mark = marker();
    const pid = await sleeper(mark);
    const side = far({}, mark);
    expect(await side.end(1_000)).toBe('done');
    await eventually(() => expect(isAlive(pid)).toBe(false));
    expect(await side.signal(10)).toBe('nobody');
  });

  it('is looked for on this host when the wrapper fails', async () => {
    const mark = marker();
    await sleeper(mark);
    const side = far({ prefix: ['false'] }, mark);
    expect(await side.signal(0xffff)).toBe('nobody');
    expect(await side.end(1_000)).toBe('done');
    expect(await far({ prefix: ['false'] }, mark).end(0)).toBe('unreachable');
    expect(await far({ prefix: ['no-such-wrapper'] }, mark).end(0)).toBe('unreachable');
  });

  it('gets signals one after another', async () => {
    const log = join(scratch, 'log');
    const side = far(
      { kill: ['sh', '-c', `sleep 0.$((RANDOM % 3)); echo "$1 $2 $3" >>${log}`, 'sh', '{marker}', '{signal}', '{grace}'] },
      'm',
    );
    await Promise.all([side.signal(10), side.signal(12), side.signal(2), side.end(100)]);
    expect(readFileSync(log, 'utf8')).toBe('m USR1 0\nm USR2 0\nm INT 0\nm TERM 0.1\nm KILL 0\n');
  });
});

describe('the proof that a command was reached', () => {
  const wrap = wrapOf({ prefix: ['env'], failureCodes: [125], farSide: 'local' });
  const reached = (proof: Proof): Promise<Reached> => proof.reached(errands, PLACE, () => Promise.reject(new Error('no other look')));

  it('is a line in a file, where one can be written', async () => {
    const path = join(scratch, 'proof');
    const proof = fileProof(wrap, path, 'one');
    expect(await reached(proof)).toBe('no');
    expect(await run(['sh', '-c', `echo one >>${path}`])).toBe(0);
    expect(await reached(proof)).toBe('yes');
    expect(await reached(fileProof(wrap, join(scratch, 'no/such/directory'), 'one'))).toBe('unknown');
    expect(await reached(fileProof({ ...wrap, prefix: ['sh', '-c', 'exit 125'] }, path, 'two'))).toBe('wrapper-fails');
    expect(await reached(fileProof({ ...wrap, prefix: ['no-such-wrapper'] }, path, 'two'))).toBe('wrapper-fails');
  });

  it('is a byte in a pipe, where descriptors are handed on', async () => {
    const before = descriptorsOf('self').size;
    const proof = pipeProof(wrap, 4);
    expect(proof.told).toEqual({ kind: 'descriptor', fd: 4 });
    expect(await reached(proof)).toBe('no');
    expect(await errands.run(packLatin1(['sh', '-c', 'echo >&4']), PLACE, 10_000, { fd: proof.fd, number: 4 })).toBe(0);
    proof.started();
    expect(await reached(proof)).toBe('yes');
    proof.release();
    expect(descriptorsOf('self').size).toBe(before);
  });

  it('is unknown where descriptors are not handed on', async () => {
    const closing = { ...wrap, prefix: ['bash', '--norc', '-c', 'exec 3>&-; exec "$@"', 'closing'] };
    const proof = pipeProof(closing, 3);
    expect(await reached(proof)).toBe('unknown');
    proof.release();
  });

  it('needs a number that the command has no use for', () => {
    expect(spareNumber([0, 1, 2])).toBe(3);
    expect(spareNumber([0, 4, 3])).toBe(5);
    expect(spareNumber([3, 4, 5, 6, 7, 8, 9])).toBeUndefined();
  });

  it('is asked of a shell that the wrapper could not execute, too', () => {
    const proofs = [pipeProof({ ...wrap, tells: 'name' }, 3), pipeProof(wrap, 3)];
    expect(proofs.map(({ codes }) => codes)).toEqual([[125, 126, 127], [125]]);
    for (const proof of proofs) proof.release();
  });
});
