import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openedName, selectName } from '../../../src/cli/selection.js';

const home = process.cwd();
let project: string;

beforeEach(() => {
  project = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-selection-')));
  mkdirSync(join(project, 'deep/er'), { recursive: true });
  writeFileSync(join(project, 'holdfast.toml'), '');
  process.chdir(join(project, 'deep'));
});
afterEach(() => {
  process.chdir(home);
  delete process.env['HOLDFAST_SESSION'];
  rmSync(project, { recursive: true, force: true });
});

describe('the name of a session on the command line', () => {
  it('is what is given, else $HOLDFAST_SESSION, else the project around', () => {
    expect(selectName('web')).toBe('web');
    expect(selectName(undefined)).toBe(project);
    process.env['HOLDFAST_SESSION'] = 'named';
    expect(selectName(undefined)).toBe('named');
    expect(selectName('web')).toBe('web');
  });

  it.each(['.', '..', './er', './', '../deep/er', './link/er'])('may be a path to a place in the project: %s', (path) => {
    symlinkSync('.', 'link');
    process.env['HOLDFAST_SESSION'] = 'named';
    expect(selectName(path)).toBe(project);
  });

  it.each(['.hidden', '...', 'a/b', '/x/y', '..x'])('is taken as it stands when it is no such path: %s', (name) => {
    expect(selectName(name)).toBe(name);
  });

  it('is the same for an opening, which needs none', () => {
    process.env['HOLDFAST_SESSION'] = 'named';
    expect(['.', './er', 'web', '/x/y', undefined].map(openedName)).toEqual([project, project, 'web', '/x/y', undefined]);
  });

  it('has to lead to a project when it is a path', () => {
    expect(() => selectName('./none')).toThrow(expect.objectContaining({ code: 'NO_PROJECT', message: "there is no directory './none'" }));
    process.chdir('/');
    expect(() => selectName('.')).toThrow(expect.objectContaining({ code: 'NO_PROJECT' }));
  });

  it('is asked for as these commands take it, without --session', () => {
    process.chdir('/');
    const hint = expect.stringMatching(/^give its NAME /) as unknown;
    for (const name of [undefined, '.']) expect(() => selectName(name)).toThrow(expect.objectContaining({ code: 'NO_PROJECT', hint }));
  });
});
