// Pins how foreign bytes are shown: nothing of them acts on a terminal, and bash reads back what they were.

import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { shellBytes, textOfBytes, visibleBytes } from '../../../src/cli/shell-bytes.js';

const bytes = (text: string): string => Buffer.from(text).toString('latin1');

describe('a word for bash', () => {
  it.each([
    ['plain/path:x=1', 'plain/path:x=1'],
    ['', "''"],
    ['two words', "'two words'"],
    ["it's", "'it'\\''s'"],
    [bytes('größe'), "'größe'"],
    ['one\ntwo\t', "$'one\\ntwo\\t'"],
    ["\x1b[31mred' \\", "$'\\E[31mred\\' \\\\'"],
    ['\xff\xfe1', "$'\\377\\3761'"],
    [bytes('\u202egnp.exe'), "$'\\342\\200\\256gnp.exe'"],
    [bytes('\x9b2J'), "$'\\302\\2332J'"],
    [bytes('\u2028'), "$'\\342\\200\\250'"],
    ['\xc3', "$'\\303'"],
  ])('of %j is %s', (latin1, shown) => expect(shellBytes(latin1)).toBe(shown));

  it('is read back by bash as the same bytes', () => {
    const value = fc
      .array(
        fc.integer({ min: 1, max: 255 }).map((code) => String.fromCharCode(code)),
        { maxLength: 20 },
      )
      .map((each) => each.join(''));
    const tricky = fc
      .array(fc.constantFrom('\\', "'", '"', '$', '\n', '\x1b', '\xff', '0', '7', 'é', 'E', ' ', '`', '!'), { maxLength: 12 })
      .map((each) => each.join(''));
    const values = fc.sample(
      fc.oneof(
        value,
        tricky.map((text) => (text.includes('é') ? bytes(text.replaceAll('\xff', '')) : text)),
      ),
      500,
    );
    const script = values.map((each) => `printf '%s\\0' ${shellBytes(each)}\n`).join('');
    const { stdout } = spawnSync('bash', [], { input: Buffer.from(script), env: { LC_ALL: 'C' } });
    expect(stdout.toString('latin1').split('\0').slice(0, -1)).toEqual(values);
  });

  it('holds no control character', () => {
    for (let code = 1; code < 256; code++) {
      expect(shellBytes(String.fromCharCode(code))).toMatch(/^[^\x00-\x1f\x7f-\x9f]*$/);
      expect(visibleBytes(String.fromCharCode(code))).toMatch(/^[^\x00-\x1f\x7f-\x9f]*$/);
    }
  });
});

describe('text for a program', () => {
  it('is UTF-8 where it is, else one character a byte', () => {
    expect(textOfBytes(bytes('größe'))).toEqual({ text: 'größe', isText: true });
    expect(textOfBytes('\xff')).toEqual({ text: 'ÿ', isText: false });
  });
});
