import { describe, expect, it } from 'vitest';

import { launchError } from '../../../src/cli/runner-exec-open.js';

const call = { words: ['open', '--project', '/p'], failure: "cannot open the session of '/p'" } as const;

describe('an opening that failed', () => {
  it("is told in the tool's own words", () => {
    const words = 'noise\nholdfast: the launcher ended\nhint: try it\n';
    const error = launchError(call, { code: 1, signal: null, words });
    expect([error.code, error.message, error.hint]).toEqual([
      'LAUNCH_FAILED',
      "cannot open the session of '/p': the launcher ended",
      'try it',
    ]);
  });

  it('without a word is told by its end', () => {
    expect(launchError(call, { code: 1, signal: null, words: '' }).message).toMatch(/'holdfast open' ended with status 1$/);
    const killed = launchError(call, { code: null, signal: 'SIGKILL', words: 'holdfast: x\n' });
    expect(killed.message).toMatch(/'holdfast open' died of SIGKILL$/);
    expect(killed.hint).toMatch(/try it by hand/);
  });
});
