// Pins the format of a snapshot's file: every byte of an environment comes back, and nothing that was changed is believed.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeSnapshot, divideEnviron, encodeSnapshot, SNAPSHOT_VERSION, type Snapshot } from '../../../src/session/snapshot-file.js';

const byte = (except: string): fc.Arbitrary<string> =>
  fc
    .integer({ min: 1, max: 255 })
    .map((code) => String.fromCharCode(code))
    .filter((character) => !except.includes(character));
const variable = fc.tuple(fc.string({ unit: byte('='), minLength: 1 }), fc.string({ unit: byte('') }));
const text = fc.string({ unit: 'binary' });

const snapshots: fc.Arbitrary<Snapshot> = fc.record({
  facts: fc.record({
    key: text,
    name: text,
    directory: text,
    launcher: fc.array(text),
    takenAt: fc.nat(),
    entryMs: fc.nat(),
    inputs: fc.array(fc.record({ path: text, sha256: fc.option(text) })),
    functions: fc.array(text),
    withheld: fc.array(text),
  }),
  variables: fc.array(variable),
});

const SAMPLE: Snapshot = {
  facts: {
    key: 'k',
    name: 'größe\u2028',
    directory: '/',
    launcher: ['x'],
    takenAt: 1,
    entryMs: 2,
    inputs: [],
    functions: ['f'],
    withheld: [],
  },
  variables: [
    ['RAW', '\xff\n='],
    ['EMPTY', ''],
  ],
};

describe('a snapshot’s file', () => {
  it('gives back what was put in, byte for byte', () => {
    fc.assert(
      fc.property(snapshots, (snapshot) => {
        expect(decodeSnapshot(encodeSnapshot(snapshot))).toEqual(snapshot);
      }),
    );
  });

  it('is not believed at any length but its own', () => {
    const whole = encodeSnapshot(SAMPLE);
    for (let length = 0; length < whole.length; length++) expect(decodeSnapshot(whole.subarray(0, length))).toBe('damaged');
    expect(decodeSnapshot(Buffer.concat([whole, Buffer.alloc(1)]))).toBe('damaged');
  });

  it('is not believed with any byte changed', () => {
    const whole = encodeSnapshot(SAMPLE);
    for (let at = 0; at < whole.length; at++) {
      const changed = Buffer.from(whole);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(['damaged', 'old'], `byte ${at}`).toContain(decodeSnapshot(changed));
    }
  });

  it('of another format is told apart from a damaged one', () => {
    const other = encodeSnapshot(SAMPLE).toString('latin1').replace(`SNAPSHOT ${SNAPSHOT_VERSION}\n`, 'SNAPSHOT 9\n');
    expect(decodeSnapshot(Buffer.from(other, 'latin1'))).toBe('old');
  });
});

describe('an environ', () => {
  it('is divided into variables and the names of functions', () => {
    const environ = 'A=1\0BASH_FUNC_f%%=() { :; }\0A=2\0=hidden\0nameless\0EMPTY=\0BASH_FUNC_my-g%%=() { :; }\0';
    expect(divideEnviron(Buffer.from(environ))).toEqual({
      variables: [
        ['A', '1'],
        ['EMPTY', ''],
      ],
      functions: ['f', 'my-g'],
    });
  });
});
