import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { workingDirectory } from '../../../src/client/directory.js';

it('a working directory that is gone is said to be', () => {
  const before = process.cwd();
  expect(workingDirectory()).toBe(before);
  const gone = mkdtempSync(join(tmpdir(), 'hf-'));
  try {
    process.chdir(gone);
    rmSync(gone, { recursive: true });
    expect(workingDirectory).toThrow(expect.objectContaining({ code: 'DIRECTORY_REFUSED', message: 'the working directory is gone' }));
  } finally {
    process.chdir(before);
  }
});
