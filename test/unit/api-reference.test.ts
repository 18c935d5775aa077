// docs/api.md is what `npm run api` makes of the sources, and speaks of every name that src/index.ts exports.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as library from '../../src/index.js';

const root = join(import.meta.dirname, '../..');

describe('docs/api.md', () => {
  it('is what the sources say', () => {
    const { status, stderr } = spawnSync(process.execPath, ['scripts/api-reference.mjs', '--check'], { cwd: root, encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('has a heading for every value that can be imported', () => {
    const headings = new Set([...readFileSync(join(root, 'docs/api.md'), 'utf8').matchAll(/^### (\w+)$/gm)].map(([, name]) => name));
    expect(Object.keys(library).filter((name) => !headings.has(name))).toEqual([]);
  });
});

describe('the types that are shipped', () => {
  it('name no module that is not shipped with them', () => {
    const declarations = join(root, 'dist/types');
    const seen = new Set<string>();
    const strange: string[] = [];
    const visit = (file: string): void => {
      if (seen.has(file)) return;
      seen.add(file);
      for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(/(?:from|import\() ?'([^']+)'/g)) {
        if (name.startsWith('.')) visit(join(dirname(file), name.replace(/\.js$/, '.d.ts')));
        else if (!name.startsWith('node:')) strange.push(`${relative(declarations, file)}: ${name}`);
      }
    };
    visit(join(declarations, 'index.d.ts'));
    expect(seen.size).toBeGreaterThan(10);
    expect(strange).toEqual([]);
  });
});
