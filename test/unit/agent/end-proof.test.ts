// Pins src/agent/end-proof.ts: what the end of a wrapper shows. The wrappers are scripts here; the real ones are in
// test/e2e/engines/exit-codes.test.ts.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { entersOtherUsers, NameProof, statusProof } from '../../../src/agent/end-proof.js';
import { Errands, type WrapperPlace } from '../../../src/agent/errands.js';
import { packLatin1 } from '../../../src/agent/far-side.js';
import type { Proof, Reached, SecondLook } from '../../../src/agent/start-proof.js';
import { watchChildren } from '../../../src/native/children.js';
import { PLAIN, spawn } from '../../../src/native/spawn.js';
import { descriptorsOf } from '../../harness/processes.js';
import { SHELLS, wrapOf } from '../wrap/wraps.js';

const PLACE: WrapperPlace = { env: { ...packLatin1([]), path: undefined }, cwd: Buffer.from('/\0') };
const errands = new Errands(new Float64Array(0));
const ends = new Map<number, (waitStatus: number) => void>();
const proofs = new Map<number, Proof>();
watchChildren(
  (change) => {
    if (!errands.changed(change)) ends.get(change.pid)?.(change.waitStatus);
  },
  (pid, exitCode) => {
    if (proofs.get(pid)?.codes.includes(exitCode) === true) proofs.get(pid)?.failed?.(pid);
  },
);

let scratch = '';
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'end-proof.'));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

function never(): Promise<number> {
  return Promise.reject(new Error('no second look is needed'));
}

/** Runs `script` under the name of `name`, as a wrapper would be, to its end. */
async function end(proof: Proof, name: string, script: string): Promise<void> {
  const program = join(scratch, name);
  writeFileSync(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const result = spawn({
    ...PLAIN,
    program: Buffer.from(`${program}\0`),
    argv: packLatin1([name]),
    env: packLatin1(['PATH=/usr/bin:/bin']),
  });
  if (!result.started) throw new Error('it does not start');
  const { pid } = result;
  proof.started();
  proofs.set(pid, proof);
  await new Promise((resolve) => ends.set(pid, resolve));
}

function byName(tells: 'name' | 'child', program = 'make'): Proof {
  return new NameProof(wrapOf({ prefix: ['/opt/box'], failureCodes: [5], tells }), () => program);
}

const reached = (proof: Proof, look: SecondLook = never): Promise<Reached> => proof.reached(errands, PLACE, look);

describe('by its name', () => {
  it('a process that has another one has become the command', async () => {
    const proof = byName('name');
    await end(proof, 'box', 'exec sh -c "exit 5"');
    expect(await reached(proof)).toBe('yes');
  });

  it('one that has the wrapper’s is that, if the wrapper fails again', async () => {
    const proof = byName('name');
    await end(proof, 'box', '(exit 5); exit 5');
    expect(await reached(proof, () => Promise.resolve(5))).toBe('wrapper-fails');
    for (const code of [20, 21, 22, 127]) expect(await reached(proof, () => Promise.resolve(code))).toBe('yes');
  });

  it('one that nobody has seen the end of is looked into', async () => {
    expect(await reached(byName('name'), () => Promise.resolve(5))).toBe('wrapper-fails');
  });

  it('one that has had a child has done all of its own, where that is known', async () => {
    const proof = byName('child');
    await end(proof, 'box', '(exit 5); exit 5');
    expect(await reached(proof)).toBe('yes');
    const alone = byName('child');
    await end(alone, 'box', 'exit 5');
    expect(await reached(alone, () => Promise.resolve(5))).toBe('wrapper-fails');
  });
});

describe('by its status', () => {
  const wrap = wrapOf({ failureCodes: [1], tells: 'status', statusOption: '--status' });
  const silent: number[] = [];
  const byStatus = (told: string): Proof => {
    const proof = statusProof(
      wrap,
      () => 'make',
      3,
      () => silent.push(1),
    );
    if (told !== '') writeSync(proof.fd, told);
    proof.started();
    return proof;
  };
  const answer = async (told: string, code?: number): Promise<Reached> => {
    const proof = byStatus(told);
    const answered = await reached(proof, code === undefined ? never : () => Promise.resolve(code));
    proof.release();
    return answered;
  };

  it('a command has an exit code, what was never executed has none', async () => {
    const before = descriptorsOf('self').size;
    expect(await answer('{ "child-pid": 9 }\n{ "exit-code": 1 }\n')).toBe('yes');
    expect(await answer('{ "child-pid": 9 }\n', 1)).toBe('wrapper-fails');
    expect(await answer('{ "child-pid": 9 }\n', 20)).toBe('no');
    expect(await answer('{ "child-pid": 9 }\n', 21)).toBe(126);
    expect(await answer('{ "child-pid": 9 }\n', 22)).toBe(127);
    expect(await answer('{ "child-pid": 9 }\n', 77)).toBe('unknown');
    expect(silent).toEqual([]);
    expect(descriptorsOf('self').size).toBe(before);
  });

  it('a wrapper that writes none has no such option, if it works without', async () => {
    expect(await answer('', 1)).toBe('wrapper-fails');
    expect(silent).toEqual([]);
    expect(await answer('', 22)).toBe('no');
    expect(silent).toEqual([1]);
  });
});

describe('the second look', () => {
  it.each(SHELLS.map((shell) => [shell.join(' '), shell] as const))('finds what can be executed, and what cannot: %s', async (_, shell) => {
    for (const [name, text, mode] of [
      ['runs', '#!/bin/sh\n', 0o755],
      ['spaced', '#! /bin/sh -e\n', 0o755],
      ['bare', 'exit 0\n', 0o755],
      ['bytes', '\x7fELF\0\0\xff', 0o755],
      ['text', 'exit 0\n', 0o644],
      ['lost', '#!/no/such/interpreter -e\n', 0o755],
    ] as const) {
      writeFileSync(join(scratch, name), text, { mode });
      chmodSync(join(scratch, name), mode);
    }
    mkdirSync(join(scratch, 'folder'));
    symlinkSync('/no/such', join(scratch, 'dangling'));
    const place: WrapperPlace = {
      env: { ...packLatin1([`PATH=/no/such/place:${scratch}`]), path: Buffer.from('/usr/bin:/bin\0') },
      cwd: Buffer.from(`${scratch}\0`),
    };
    const look: SecondLook = (script, args) => errands.run(packLatin1([...shell, '-c', script, 'sh', ...args]), place, 10_000);
    const found = async (program: string): Promise<Reached> => {
      const proof = statusProof(
        wrapOf({ failureCodes: [1], tells: 'status' }),
        () => program,
        3,
        () => {},
      );
      writeSync(proof.fd, '{ "child-pid": 9 }\n');
      const answered = await reached(proof, look);
      proof.release();
      return answered;
    };
    for (const name of ['runs', 'spaced', 'bare', 'bytes', './runs', join(scratch, 'runs')])
      expect([name, await found(name)]).toEqual([name, 'no']);
    for (const name of ['text', './text', './folder', '/']) expect([name, await found(name)]).toEqual([name, 126]);
    for (const name of ['nothing', './nothing', 'folder', 'dangling', 'lost', './lost', './runs/x', '-x', 'a b', '*'])
      expect([name, await found(name)]).toEqual([name, 127]);
  });
});

describe('nsenter', () => {
  it('enters other users only where the target has another namespace of them', () => {
    expect(entersOtherUsers(['--all', '--target', String(process.pid)])).toBe(false);
    expect(entersOtherUsers(['--all', '--target', '999999999'])).toBe(true);
    expect(entersOtherUsers(['--target', '999999999'])).toBe(false);
  });
});
