import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';

import { findOwnCgroup } from '../../../src/cli/check-cgroup.js';
import { checkExitInfo, checkKernel, kernelVersion } from '../../../src/cli/check-kernel.js';
import { checkNode, isStatic } from '../../../src/cli/check-programs.js';
import { checkTools } from '../../../src/cli/check-tools.js';
import { formatChecks } from '../../../src/cli/doctor.js';
import { PLAIN } from '../../../src/cli/style.js';
import { findProgram } from '../../../src/session/find-program.js';

describe('the place of our own cgroup', () => {
  const hybrid = `30 23 0:26 / /sys/fs/cgroup ro - tmpfs tmpfs ro
31 30 0:27 / /sys/fs/cgroup/unified rw,nosuid shared:9 - cgroup2 cgroup2 rw
32 30 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory`;

  it('is found in a hybrid set-up', () => {
    expect(findOwnCgroup(hybrid, '5:memory:/x\n0::/user.slice/a\n')).toBe('/sys/fs/cgroup/unified/user.slice/a');
  });

  it('is found where the mount shows only a part of the hierarchy', () => {
    const partial = '31 30 0:27 /docker/abc /sys/fs/cg\\040v2 rw - cgroup2 cgroup2 rw';
    expect(findOwnCgroup(partial, '0::/docker/abc/inner\n')).toBe('/sys/fs/cg v2/inner');
    expect(findOwnCgroup(partial, '0::/docker/abc\n')).toBe('/sys/fs/cg v2');
    expect(findOwnCgroup(partial, '0::/docker/abcd\n')).toBeUndefined();
    expect(findOwnCgroup(partial, '0::/elsewhere\n')).toBeUndefined();
  });

  it('is not found where there is no cgroup v2, or it is outside our namespace', () => {
    expect(findOwnCgroup(hybrid, '5:memory:/x\n')).toBeUndefined();
    expect(findOwnCgroup('32 30 0:28 / /sys/fs/cgroup rw - cgroup cgroup rw', '0::/\n')).toBeUndefined();
    expect(findOwnCgroup(hybrid, '0::/../outside\n')).toBeUndefined();
  });
});

describe('versions', () => {
  it.each([
    ['6.1.0-18-amd64', [6, 1]],
    ['5.10.0', [5, 10]],
    ['6.15-rc1', [6, 15]],
    ['odd', [0, 0]],
  ])('are read: %s', (text, version) => {
    expect(kernelVersion(text)).toEqual(version);
  });

  it('are compared by number', () => {
    expect(checkKernel('5.9.16').state).toBe('fail');
    expect(checkKernel('5.10.0').state).toBe('ok');
    expect(checkKernel('10.0.0').state).toBe('ok');
    expect(checkExitInfo('6.2.0')).toMatchObject({ state: 'warn' });
    expect(checkExitInfo('6.15.1')).toMatchObject({ state: 'ok' });
    expect(checkNode('18.20.0').state).toBe('fail');
  });
});

describe('programs', () => {
  it('are found on a PATH', () => {
    expect(findProgram('sh', '/nowhere:/bin')).toBe('/bin/sh');
    expect(findProgram('sh', '/nowhere')).toBeUndefined();
  });

  it('are told static or not by their headers', () => {
    expect(isStatic(process.execPath)).toBe(false);
    expect(isStatic('/etc/passwd')).toBe(false);
  });

  it('are only missed where they are needed', () => {
    const others = { name: 'other tools', state: 'ok' };
    expect(checkTools(undefined, '/nowhere')).toMatchObject([{ ...others, detail: expect.stringMatching(/: devenv, nix, .*micromamba$/) }]);
    expect(checkTools('holdfast.toml', '/nowhere')).toHaveLength(1);
    expect(checkTools('environment.yml', '/nowhere')).toMatchObject([
      {
        name: 'micromamba',
        state: 'warn',
        detail: 'micromamba or conda or mamba is not on the PATH',
        cure: 'install micromamba or conda or mamba: the project here is entered with it',
      },
      others,
    ]);
    const bin = mkdtempSync(join(tmpdir(), 'holdfast-tools-'));
    onTestFinished(() => rmSync(bin, { recursive: true }));
    writeFileSync(join(bin, 'conda'), '', { mode: 0o755 });
    expect(checkTools('environment.yml', bin)).toMatchObject([{ name: 'conda', state: 'ok', detail: `'${bin}/conda'` }, others]);
  });
});

describe('the report', () => {
  it('has a line for each check, with its cure beneath', () => {
    expect(
      formatChecks(
        [
          { name: 'a', state: 'ok', detail: 'fine' },
          { name: 'long', state: 'fail', detail: 'broken', cure: 'mend it' },
        ],
        PLAIN,
      ),
    ).toBe('ok    a     fine\nFAIL  long  broken\n            cure: mend it\n');
  });
});
