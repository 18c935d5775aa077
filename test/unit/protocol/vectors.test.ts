// Pins docs/protocol.md §2 to §5 by bytes, in TypeScript and in C: both read test/vectors/frames.txt.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ProtocolError } from '../../../src/protocol/error.js';
import { parseFrame } from '../../../src/protocol/frame.js';
import { parseAgentFrame, parseClientFrame } from '../../../src/protocol/messages.js';
import { agentBytes, clientBytes } from './message-bytes.js';
import { agentText, clientText } from './message-text.js';
import { readVectors, VECTOR_FILE, type Vector } from './vector-file.js';

const vectors = readVectors();
const good = vectors.filter(({ verdict }) => verdict === 'ok');
const bad = vectors.filter(({ verdict }) => verdict !== 'ok');

describe('the vectors in TypeScript', () => {
  it.each(good)('reads and writes $name', ({ side, bytes, text }) => {
    const read = readWhole(side, bytes);

    expect(read?.text).toBe(text);
    expect(read?.again.toString('hex')).toBe(bytes.toString('hex'));
    expect(read?.used).toBe(bytes.length);
  });

  it.each(bad)('refuses $name: $text', ({ side, bytes, verdict }) => {
    expect(verdictOn(side, bytes)).toBe(verdict);
  });

  it('waits for more at every cut of a good frame', () => {
    for (const { name, side, bytes } of good) {
      for (let cut = 0; cut < bytes.length; cut += 1) expect(verdictOn(side, bytes.subarray(0, cut)), `${name} at ${cut}`).toBe('more');
    }
  });

  it('says no other thing of a cut bad frame than of the whole', () => {
    for (const { name, side, bytes, verdict } of bad) {
      for (let cut = 0; cut < bytes.length; cut += 1)
        expect(['more', verdict], `${name} at ${cut}`).toContain(verdictOn(side, bytes.subarray(0, cut)));
    }
  });

  it('leaves the bytes of the next frame alone', () => {
    for (const { name, side, bytes, text } of good) {
      const read = readWhole(side, Buffer.concat([bytes, Buffer.from('ff', 'hex')]));
      expect([name, read?.text, read?.used]).toEqual([name, text, bytes.length]);
    }
  });
});

describe('the vectors in C', () => {
  let directory = '';
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-vectors-'));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('are decoded, encoded and refused alike', { timeout: 60_000 }, async () => {
    const native = join(import.meta.dirname, '../../../native');
    const program = join(directory, 'vectors');
    const sources = ['fuzz/vectors.c', 'fuzz/run_text.c', 'fuzz/render.c', 'wire.c'].map((name) => join(native, name));
    // The sanitizers see a read past a body, which a comparison of results would not.
    const sanitizers = ['-fsanitize=address,undefined', '-fno-sanitize-recover=all'];
    await execa('cc', ['-std=c11', '-D_GNU_SOURCE', '-g', '-Wall', '-Wextra', '-Werror', ...sanitizers, '-o', program, ...sources]);

    const { stdout } = await execa(program, [VECTOR_FILE], { reject: false, all: true });

    // Counted here, so that a vector which C passed over is noticed. CONTROL is never sent by C.
    const encoded = good.filter(({ side, name }) => side === 'client' && !name.startsWith('control-')).length;
    const decoded = good.filter(({ side }) => side === 'agent').length;
    const refused = bad.filter(({ side }) => side === 'agent').length;
    expect(stdout).toBe(`decoded ${decoded}, encoded ${encoded}, refused ${refused}`);
  });
});

function readWhole(side: Vector['side'], bytes: Buffer): { text: string; again: Buffer; used: number } | undefined {
  const parsed = parseFrame(bytes, side);
  if (parsed === undefined) return undefined;
  const { frame, used } = parsed;
  if (side === 'client') {
    const message = parseClientFrame(frame);
    return { text: clientText(message), again: clientBytes(message), used };
  }
  const message = parseAgentFrame(frame);
  return { text: agentText(message, frame.fdCount), again: agentBytes(message, frame.fdCount), used };
}

function verdictOn(side: Vector['side'], bytes: Buffer): string {
  try {
    return readWhole(side, bytes) === undefined ? 'more' : 'ok';
  } catch (error) {
    if (error instanceof ProtocolError) return error.code;
    throw error;
  }
}
