// docs/errors.md lists every code of the union, and no other; every code is used somewhere.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { HOLDFAST_ERROR_CODES, HoldfastError } from '../../src/errors.js';

const root = new URL('../..', import.meta.url).pathname;
const documentation = readFileSync(join(root, 'docs/errors.md'), 'utf8');
const rows = [...documentation.matchAll(/^\| `([A-Z_]+)` \| (.+?) \| (.+?) \|$/gm)];

describe('the codes of our failures', () => {
  it('are in alphabetical order, none twice', () => {
    // By bytes: `NOT_…` stands before `NO_…`.
    expect([...HOLDFAST_ERROR_CODES]).toEqual([...new Set(HOLDFAST_ERROR_CODES)].sort());
  });

  it('are those that docs/errors.md lists, each with cause and cure', () => {
    expect(rows.map((row) => row[1])).toEqual([...HOLDFAST_ERROR_CODES]);
  });

  it('are each given by some part of the program', () => {
    const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && name !== 'errors.ts')
      .map((name) => readFileSync(join(root, 'src', name), 'utf8'))
      .join('\n');
    expect(HOLDFAST_ERROR_CODES.filter((code) => !sources.includes(`'${code}'`))).toEqual([]);
  });
});

describe('an error of ours', () => {
  it('has a name, a code, a hint and a cause', () => {
    const cause = new Error('beneath');
    const error = new HoldfastError('NO_SESSION', "session 'web' is not open", { hint: 'open it', cause });
    expect(error).toMatchObject({ name: 'HoldfastError', code: 'NO_SESSION', hint: 'open it', cause });
    expect(String(error)).toBe("HoldfastError: session 'web' is not open");
  });

  it('has no hint where there is no cure', () => {
    expect(new HoldfastError('PROTOCOL', 'x').hint).toBeUndefined();
  });
});
