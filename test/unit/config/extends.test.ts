// Pins docs/config.md "One session on top of another".

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { settleFlags, settleSession } from '../../../src/config/extends.js';
import { readConfigFile } from '../../../src/config/file.js';
import type { SessionSettings } from '../../../src/config/settings.js';
import { HoldfastError } from '../../../src/errors.js';

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-extends-')));
});
afterEach(() => rmSync(root, { recursive: true }));

function file(path: string, text: string): string {
  const absolute = join(root, path);
  mkdirSync(dirname(absolute), { recursive: true });
  writeFileSync(absolute, text);
  return absolute;
}

function settle(path: string, name?: string): SessionSettings | undefined {
  return settleSession(readConfigFile(join(root, path)), name);
}

function failure(action: () => unknown): HoldfastError {
  try {
    action();
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('a session that extends another one', () => {
  it('of its file says more, as flags do over a file', () => {
    file(
      'holdfast.toml',
      `[session]
launcher = ["devenv", "shell", "--"]
env = { A = "1", B = "1" }
pass_env = ["X"]
path_prepend = ["bin"]
idle_timeout = "1h"

[sessions.ci]
extends = "#"
env = { B = "2" }
pass_env = ["CI"]
path_prepend = ["ci/bin"]
idle_timeout = "never"

[sessions.slow]
extends = "ci"
source = "env.sh"
`,
    );
    const ci = {
      launcher: ['devenv', 'shell', '--'],
      env: { A: '1', B: '2' },
      pass_env: ['X', 'CI'],
      path_prepend: [join(root, 'ci/bin'), join(root, 'bin')],
      idle_timeout: null,
    };
    expect(settle('holdfast.toml', 'ci')).toEqual(ci);
    const { launcher: _, ...rest } = ci;
    expect(settle('holdfast.toml', 'slow')).toEqual({ ...rest, source: join(root, 'env.sh') });
    expect(settle('holdfast.toml', 'other')).toBeUndefined();
  });

  it('of another file has its paths from there', () => {
    file('base/holdfast.toml', '[session]\nsource = "env.sh"\ninputs = ["lock"]\n[sessions.tool]\nlauncher = ["./enter", "./arg"]\n');
    file('project/holdfast.toml', '[session]\nextends = "../base/holdfast.toml"\ninputs = ["own"]\n');
    expect(settle('project/holdfast.toml')).toEqual({
      source: join(root, 'base/env.sh'),
      inputs: [join(root, 'base/lock'), join(root, 'project/own')],
    });
    file('project/holdfast.toml', '[session]\nextends = "../base/holdfast.toml#tool"\n');
    // Only the program is a path for sure.
    expect(settle('project/holdfast.toml')).toEqual({ launcher: [join(root, 'base/enter'), './arg'] });
  });

  it('may have a name that looks like a file', () => {
    file('holdfast.toml', '[sessions."a/b.toml"]\nsource = "x"\n[sessions.c]\nextends = "#a/b.toml"\n');
    expect(settle('holdfast.toml', 'c')).toEqual({ source: join(root, 'x') });
  });

  it('may complete what contradicts itself alone', () => {
    file('holdfast.toml', '[sessions.box]\nprefix = ["docker", "exec"]\n[sessions.other]\nextends = "box"\noperand = ["other"]\n');
    expect(settle('holdfast.toml', 'other')).toEqual({ prefix: ['docker', 'exec'], operand: ['other'] });
  });

  it('stands on as many as sixteen', () => {
    const tables = (count: number): string =>
      Array.from({ length: count }, (_, i) => `[sessions.s${i}]\n${i + 1 === count ? 'source = "x"' : `extends = "s${i + 1}"`}\n`).join('');
    file('holdfast.toml', tables(16));
    expect(settle('holdfast.toml', 's0')).toEqual({ source: join(root, 'x') });
    file('holdfast.toml', tables(17));
    expect(failure(() => settle('holdfast.toml', 's0'))).toMatchObject({
      code: 'CONFIG_INVALID',
      message: `${root}/holdfast.toml:32: 'extends' leads through more than 16 tables`,
    });
  });
});

describe('an extends that is wrong', () => {
  it('names what is not declared, with the nearest name', () => {
    file('holdfast.toml', '[sessions.base]\nsource = "x"\n\n[sessions.a]\nextends = "bsae"\n[sessions.b]\nextends = "#"');
    expect(failure(() => settle('holdfast.toml', 'a'))).toMatchObject({
      code: 'CONFIG_INVALID',
      message: `${root}/holdfast.toml:5: 'extends' names session 'bsae', which is not declared here`,
      hint: "did you mean 'base'?",
    });
    expect(failure(() => settle('holdfast.toml', 'b'))).toMatchObject({
      message: `${root}/holdfast.toml:7: 'extends' names [session], which is not declared here`,
      hint: "it declares 'base', 'a', 'b'",
    });
  });

  it('names a file that is not there, or that lacks the session', () => {
    file('holdfast.toml', '[session]\nextends = "no.toml"\n[sessions.a]\nextends = "other.toml#b"\n');
    expect(failure(() => settle('holdfast.toml'))).toMatchObject({
      code: 'CONFIG_INVALID',
      message: `${root}/holdfast.toml:2: 'extends': cannot read '${root}/no.toml': ENOENT: no such file or directory`,
    });
    file('other.toml', '');
    expect(failure(() => settle('holdfast.toml', 'a'))).toMatchObject({
      message: `${root}/holdfast.toml:4: 'extends' names session 'b', which '${root}/other.toml' does not declare`,
      hint: 'it declares no session at all',
    });
  });

  it('names a file that is wrong: the line is the one there', () => {
    file('holdfast.toml', '[session]\nextends = "other.toml"\n');
    file('other.toml', '[session]\nsorce = "x"\n');
    expect(failure(() => settle('holdfast.toml'))).toMatchObject({
      message: `${root}/other.toml:2: unknown key 'sorce' in [session]`,
      hint: "did you mean 'source'?",
    });
  });

  it('names a runner.json', () => {
    file('holdfast.toml', '[session]\nextends = "runner.json"\n');
    file('runner.json', '{ "version": 1 }');
    expect(failure(() => settle('holdfast.toml'))).toMatchObject({
      message: `${root}/holdfast.toml:2: 'extends' names '${root}/runner.json', which is a runner.json`,
    });
  });

  it('goes round, also through files and links', () => {
    file('holdfast.toml', '[sessions.a]\nextends = "b"\n[sessions.b]\nextends = "a"\n[session]\nextends = "link/other.toml"\n');
    expect(failure(() => settle('holdfast.toml', 'a'))).toMatchObject({
      code: 'CONFIG_INVALID',
      message: `${root}/holdfast.toml:4: 'extends' goes round: session 'a', then session 'b', then session 'a'`,
    });
    file('real/other.toml', '[session]\nextends = "../holdfast.toml"\n');
    symlinkSync('real', join(root, 'link'));
    expect(failure(() => settle('holdfast.toml')).message).toMatch(
      /^.*link\/other\.toml:2: 'extends' goes round: \[session\], then \[session\] of /,
    );
  });

  it('brings together what cannot be together: the line is that of the key', () => {
    file('base.toml', '[session]\n\noperand = ["box"]\nprefix = ["x"]\n');
    file('holdfast.toml', '[session]\nextends = "base.toml"\nmode = "session"\n');
    expect(failure(() => settle('holdfast.toml')).message).toMatch(
      /^.*base\.toml:4: 'prefix' has no meaning with mode "session" in \[session\]/,
    );
  });

  it('is no text, or empty', () => {
    file('holdfast.toml', '[session]\nextends = ["a"]\n');
    expect(failure(() => settle('holdfast.toml')).message).toContain(`holdfast.toml:2: 'extends' must be text in quotes`);
  });
});

describe('--extends', () => {
  it('begins with the session of a file', () => {
    file('base/holdfast.toml', '[session]\nlauncher = ["./enter"]\nenv = { A = "1" }\n[sessions.b]\nextends = "#"\nenv = { B = "1" }\n');
    expect(settleFlags({ extends: 'base/holdfast.toml#b', env: { B: '2' } }, root)).toEqual({
      launcher: [join(root, 'base/enter')],
      env: { A: '1', B: '2' },
    });
    expect(settleFlags({ extends: './base/holdfast.toml' }, root)).toMatchObject({ env: { A: '1' } });
  });

  it('names a file, and one that has the session', () => {
    file('base.toml', '[sessions.box]\nsource = "x"\n');
    expect(failure(() => settleFlags({ extends: 'box' }, root))).toMatchObject({ code: 'USAGE', message: "'--extends box' names no file" });
    expect(failure(() => settleFlags({ extends: 'base.toml' }, root))).toMatchObject({ code: 'USAGE', hint: "it declares 'box'" });
    expect(failure(() => settleFlags({ extends: 'no.toml' }, root))).toMatchObject({ code: 'CONFIG_UNREADABLE' });
  });
});
