import { describe, expect, it } from 'vitest';

import { findLine } from '../../../src/config/locate.js';

const TEXT = `# a comment
[session]
launcher = [
  "a", # ]
  "b",
]

env = { A = "1", B = """
[session]
mode = 1
""" }
mode = "session"

[sessions."x.y"]
source = "s"
`;

describe('where a key stands', () => {
  it.each([
    [['session'], 2],
    [['session', 'launcher'], 3],
    [['session', 'launcher', '1'], 3],
    [['session', 'env', 'B'], 8],
    [['session', 'mode'], 12],
    [['sessions'], 14],
    [['sessions', 'x.y', 'source'], 15],
  ])('finds %j', (path, line) => {
    expect(findLine(TEXT, path)).toBe(line);
  });

  it('finds no key that is not there', () => {
    expect(findLine(TEXT, ['session', 'sorce'])).toBeUndefined();
    expect(findLine(TEXT, ['toString'])).toBeUndefined();
  });

  it('finds one in as long a file as there may be', () => {
    const tables = Array.from({ length: 12_000 }, (_, i) => `[sessions.s${i}]\nlauncher = [\n  "enter", # ${i}\n]\nenv = { A = "${i}" }\n`);
    expect(findLine(tables.join(''), ['sessions', 's11999', 'env'])).toBe(60_000);
  });

  it('copes with carriage returns', () => {
    expect(findLine(TEXT.replaceAll('\n', '\r\n'), ['session', 'mode'])).toBe(12);
  });
});
