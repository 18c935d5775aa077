import { execFileSync } from 'node:child_process';

import { describe, expect, it } from 'vitest';

import { formatFacts, formatSpan, formatTable, shellWord } from '../../../src/cli/table.js';

describe('tables', () => {
  it('have columns as wide as their widest cell, and no blanks at the end', () => {
    expect(
      formatTable(
        ['NAME', 'PID'],
        [
          ['a-long-name', '1'],
          ['b', ''],
        ],
      ),
    ).toBe('NAME         PID\na-long-name  1\nb\n');
  });

  it('put values under each other', () => {
    expect(
      formatFacts([
        ['a', '1'],
        ['long', '2'],
      ]),
    ).toBe('a:    1\nlong: 2\n');
  });

  it.each([
    [999, '0s'],
    [61_000, '1m 1s'],
    [3_600_000, '1h 0m'],
    [90_000_000, '1d 1h'],
  ])('say %d ms as %s', (ms, text) => {
    expect(formatSpan(ms)).toBe(text);
  });

  it.each(['plain', '', 'two words', "it's", 'a\nb', 'tab\there', '$HOME', '~', '*', "a'\n\\b", '"q"\n', 'é', '-x=1'])(
    'spell a word as it could be typed: %j',
    (word) => {
      expect(execFileSync('bash', ['-c', `printf %s ${shellWord(word)}`], { encoding: 'utf8' })).toBe(word);
      expect(shellWord(word)).not.toContain('\n');
    },
  );
});
