import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { installed } from '../../../src/install.js';
import { launchEnvironment } from '../../../src/session/launch-environment.js';
import { installShims, listShims, pathWithoutShims, removeShims } from '../../../src/session/shim-directory.js';

function scratch(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-shims-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const visible = (directory: string): string[] => readdirSync(directory).filter((name) => !name.startsWith('.'));

describe('a directory of shims', () => {
  it('is made, listed, added to and taken away again', () => {
    const directory = join(scratch(), 'a', 'shims');
    installShims(directory, ['go', 'cargo']);
    expect(readlinkSync(join(directory, 'go'))).toBe(installed.runnerExec);
    installShims(directory, ['go', 'x y']);
    expect(listShims(directory)).toEqual(['cargo', 'go', 'x y'].map((tool) => ({ tool, program: installed.runnerExec, isBroken: false })));
    removeShims(directory, ['go']);
    expect(visible(directory)).toEqual(['cargo', 'x y']);
    removeShims(directory, []);
    expect(readdirSync(join(directory, '..'))).toEqual([]);
  });

  it('takes over shims that lead nowhere any more, and says which do', () => {
    const directory = join(scratch(), 'shims');
    installShims(directory, ['go']);
    rmSync(join(directory, 'go'));
    symlinkSync('/nowhere/runner-exec', join(directory, 'go'));
    expect(listShims(directory)).toEqual([{ tool: 'go', program: '/nowhere/runner-exec', isBroken: true }]);
    installShims(directory, ['go']);
    expect(listShims(directory)).toMatchObject([{ isBroken: false }]);
  });

  it('is not one that holds other programs', () => {
    const directory = scratch();
    writeFileSync(join(directory, 'ls'), '');
    expect(() => installShims(directory, ['go'])).toThrow(expect.objectContaining({ code: 'SHIM_DIRECTORY' }));
    expect(readdirSync(directory)).toEqual(['ls']);
    for (const strange of [directory, '/nowhere']) {
      expect(() => listShims(strange)).toThrow(expect.objectContaining({ code: 'SHIM_DIRECTORY' }));
      expect(() => removeShims(strange, [])).toThrow(expect.objectContaining({ code: 'SHIM_DIRECTORY' }));
    }
  });

  it('never loses a file that is no shim', () => {
    const directory = join(scratch(), 'shims');
    installShims(directory, ['go']);
    writeFileSync(join(directory, 'mine'), 'text');
    expect(() => installShims(directory, ['cargo', 'mine'])).toThrow(expect.objectContaining({ code: 'SHIM_DIRECTORY' }));
    expect(visible(directory)).toEqual(['go', 'mine']);
    expect(() => removeShims(directory, ['go', 'mine'])).toThrow(expect.objectContaining({ code: 'USAGE' }));
    expect(visible(directory)).toEqual(['go', 'mine']);
    removeShims(directory, []);
    expect(readdirSync(directory)).toEqual(['mine']);
  });

  it.each(['', '.', '..', 'a/b', '/bin/ls', 'runner-exec', 'holdfast', 'a\0b'])(
    'has no shim called %j, and none of the others then',
    (tool) => {
      const directory = join(scratch(), 'shims');
      expect(() => installShims(directory, ['go', tool])).toThrow(expect.objectContaining({ code: 'USAGE' }));
      expect(() => readdirSync(directory)).toThrow();
    },
  );

  it('cannot be where no directory can be', () => {
    expect(() => installShims('/dev/null/shims', ['go'])).toThrow(
      expect.objectContaining({ code: 'SHIM_DIRECTORY', message: expect.stringContaining('Not a directory') }),
    );
  });
});

describe('the PATH that an environment is entered with', () => {
  it('has no directory of shims, and all others in their order', () => {
    const top = scratch();
    const shims = join(top, 'mine');
    const plain = join(top, 'plain');
    mkdirSync(plain);
    installShims(shims, ['go']);
    expect(pathWithoutShims(`/bin:${shims}::${plain}:${shims}/:/none`)).toBe(`/bin::${plain}:/none`);
    const host = new Map([['PATH', `${shims}:/bin`]]);
    const launch = { style: 'enter', argv: ['env'] } as const;
    expect(launchEnvironment({ launch, launchPassEnv: [] }, host, { share: '/s', isBash: false }).get('PATH')).toBe('/bin');
  });

  it('may be of any bytes', () => {
    const shims = join(scratch(), 'Größe');
    installShims(shims, ['go']);
    const latin1 = Buffer.from(shims).toString('latin1');
    expect(pathWithoutShims(`/bin:${latin1}:/x\xff`)).toBe('/bin:/x\xff');
  });
});
