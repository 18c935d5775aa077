import { expect, it } from 'vitest';

import { lastWords } from '../../../src/session/last-words.js';

it.each([
  [['one', 'two'], 'two'],
  [['one', "holdfast: 'x' failed with status 1"], 'one'],
  [["holdfast: 'x' failed with status 1"], "holdfast: 'x' failed with status 1"],
  [['error: syntax error', '', '       at /p/shell.nix:1:3:', '', '            1| a b {', '             |   ^'], 'error: syntax error'],
  [['error: one', 'error: two', '   |', '12 | x'], 'error: two'],
  [['no such thing', '-----'], 'no such thing'],
  [['docker: Cannot connect', '', "Run 'docker run --help' for more information"], 'docker: Cannot connect'],
  [
    ["/p/env.sh: line 2: syntax error near unexpected token `('", "/p/env.sh: line 2: `f( {'"],
    "/p/env.sh: line 2: syntax error near unexpected token `('",
  ],
  [['^^^'], '^^^'],
  [[], undefined],
])('of %j are %j', (output, words) => {
  expect(lastWords(output)).toBe(words);
});
