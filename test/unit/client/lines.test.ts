import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';

import { linesOf } from '../../../src/client/lines.js';

async function linesIn(...chunks: (string | Buffer)[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of linesOf(Readable.from(chunks))) lines.push(line);
  return lines;
}

describe('the lines of a stream', () => {
  it.each([
    ['none', [], []],
    ['one without an end', ['a'], ['a']],
    ['one with an end', ['a\n'], ['a']],
    ['empty ones', ['\n\na\n\n'], ['', '', 'a', '']],
    ['cut anywhere', ['a', 'b\nc', '\n', 'd'], ['ab', 'c', 'd']],
    ['ends of another kind, cut in between', ['a\r', '\nb\rc\r\n'], ['a', 'b\rc']],
    ['a last one of a carriage return', ['a\n\r'], ['a', '\r']],
  ])('are told: %s', async (_, chunks, lines) => {
    expect(await linesIn(...chunks.map((chunk) => Buffer.from(chunk)))).toEqual(lines);
  });

  it('hold characters that came in parts', async () => {
    const bytes = Buffer.from('é€𝄞\nü');
    expect(await linesIn(...Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual(['é€𝄞', 'ü']);
  });

  it('hold a mark in place of what is not UTF-8', async () => {
    expect(await linesIn(Buffer.of(0xff, 0x0a, 0xe2))).toEqual(['\ufffd', '\ufffd']);
  });

  it('close the stream when nobody reads on', async () => {
    const stream = Readable.from(['a\nb\n', 'c\n']);
    for await (const line of linesOf(stream)) if (line === 'a') break;
    expect(stream.destroyed).toBe(true);
  });
});
