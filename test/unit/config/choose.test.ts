// Pins docs/config.md "Which session is opened", and what each setting becomes in a definition.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { chooseSession, type OpenRequest } from '../../../src/config/choose.js';
import type { SessionSettings } from '../../../src/config/settings.js';
import { HoldfastError } from '../../../src/errors.js';
import { parseDefinition, type SessionDefinition } from '../../../src/session/definition.js';

let root: string;
let here: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-choose-')));
  here = join(root, 'project', 'deep', 'down');
  mkdirSync(here, { recursive: true });
  vi.spyOn(process, 'cwd').mockImplementation(() => here);
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(root, { recursive: true });
});

function file(path: string, text = ''): string {
  const absolute = join(root, path);
  writeFileSync(absolute, text);
  return absolute;
}

function choose(request: Partial<OpenRequest> = {}): SessionDefinition {
  const definition = chooseSession({ name: undefined, config: undefined, project: undefined, settings: {}, ...request });
  // What is chosen can be written into a record and read again.
  expect(parseDefinition(JSON.parse(JSON.stringify(definition)))).toEqual(definition);
  return definition;
}

function failure(request: Partial<OpenRequest> = {}): HoldfastError {
  try {
    choose(request);
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('open without a name', () => {
  it('means the [session] of the nearest holdfast.toml', () => {
    file('project/holdfast.toml', '[session]\nlauncher = ["enter", "--"]\n');
    expect(choose()).toMatchObject({
      name: join(root, 'project'),
      directory: join(root, 'project'),
      launch: { style: 'enter', argv: ['enter', '--'] },
      onStale: 'reopen',
    });
  });

  it('means what an environment file stands for', () => {
    file('project/flake.nix');
    expect(choose()).toMatchObject({ name: join(root, 'project'), mode: 'session', inputs: ['flake.nix', 'flake.lock'] });
  });

  it('means the environment file beside a holdfast.toml that only adds to it', () => {
    file('project/.envrc');
    file('project/holdfast.toml', '[session]\nenv = { A = "1" }\n');
    expect(choose()).toMatchObject({ env: { A: '1' }, launch: { style: 'enter', argv: ['direnv', 'exec', join(root, 'project')] } });
  });

  it('searches from --project', () => {
    file('project/shell.nix');
    expect(choose({ project: '../..' }).name).toBe(join(root, 'project'));
    here = '/';
    symlinkSync(join(root, 'project'), join(root, 'link'));
    expect(choose({ project: join(root, 'link') }).name).toBe(join(root, 'project'));
    expect(failure({ project: '/no/such/directory' }).code).toBe('USAGE');
  });

  it('fails where there is no project', () => {
    expect(failure()).toMatchObject({ code: 'NO_PROJECT', message: `no session is named, and '${here}' is in no project` });
  });

  it('fails where a holdfast.toml says nothing', () => {
    file('project/holdfast.toml', '[sessions.box]\nsource = "env.sh"\n');
    expect(failure()).toMatchObject({ code: 'CONFIG_INVALID', hint: "it declares 'box': 'holdfast open box'" });
    file('project/holdfast.toml', '[session]\nidle_timeout = "never"\n');
    expect(failure().hint).toContain('launcher, source');
  });
});

describe('open with a name', () => {
  it('means what the command line says, in the working directory, whatever files there are', () => {
    file('project/holdfast.toml', 'this is not TOML');
    expect(choose({ name: 'web', settings: { launcher: ['devenv', 'shell', '--'] } })).toEqual({
      name: 'web',
      mode: 'session',
      directory: here,
      launch: { style: 'enter', argv: ['devenv', 'shell', '--'] },
      env: {},
      runtimeEnv: {},
      passEnv: [],
      runtimePassEnv: [],
      launchPassEnv: [],
      pathPrepend: [],
      functions: 'all',
      inputs: [],
      onStale: 'warn',
      idleTimeoutMs: 3_600_000,
      openTimeoutMs: 600_000,
      killGraceMs: 2000,
      maxConcurrent: 0,
      maxQueue: 1024,
      jobOutputLimitBytes: 67_108_864,
      containment: 'auto',
      volatile: [],
    });
  });

  it('means [sessions.NAME] of the nearest holdfast.toml', () => {
    file('project/holdfast.toml', '[sessions.sdk]\nsource = "env.sh"\n');
    file('project/deep/.envrc');
    const script = file('project/env.sh');
    expect(choose({ name: 'sdk' })).toMatchObject({
      name: 'sdk',
      directory: join(root, 'project'),
      launch: { style: 'source', script },
      inputs: [script],
      onStale: 'warn',
    });
    expect(failure({ name: 'sdkk' })).toMatchObject({ code: 'NO_SESSION', hint: "did you mean 'sdk'?" });
    expect(failure({ name: 'other' }).hint).toContain('[sessions.other]');
  });

  it('fails where nothing says what it is', () => {
    expect(failure({ name: 'web' })).toMatchObject({ code: 'NO_SESSION' });
    expect(failure({ name: 'web' }).hint).toContain('holdfast open web -- LAUNCHER...');
  });

  it('takes a directory for the project in it', () => {
    file('project/shell.nix');
    here = '/';
    expect(choose({ name: join(root, 'project') }).launch).toEqual({ style: 'enter-string', argv: ['nix-shell', '--run'] });
    expect(choose({ name: root, settings: { launcher: ['env'] } })).toMatchObject({ name: root, directory: root, onStale: 'reopen' });
  });
});

describe('open with --config', () => {
  it('takes the session of that name, else the only one', () => {
    const config = file('box.toml', '[session]\nsource_command = ["print"]\n[sessions.two]\nlauncher = ["two"]\n');
    expect(choose({ name: 'web', config })).toMatchObject({
      name: 'web',
      directory: root,
      launch: { style: 'source-command', argv: ['print'] },
    });
    expect(choose({ name: 'two', config }).launch).toEqual({ style: 'enter', argv: ['two'] });
    expect(choose({ name: 'web', config, project: here }).directory).toBe(here);
  });

  it('lays the flags over it', () => {
    const config = file('box.toml', '[session]\nlauncher = ["one"]\nenv = { A = "1" }\nidle_timeout = "1m"\n');
    const settings: SessionSettings = { source_command: ['print'], env: { B: '2' }, idle_timeout: null };
    expect(choose({ name: 'web', config, settings })).toMatchObject({
      launch: { style: 'source-command', argv: ['print'] },
      env: { A: '1', B: '2' },
      idleTimeoutMs: null,
    });
  });

  it('needs a name, unless the file is a project', () => {
    const session = '[session]\nlauncher = ["one"]\n';
    expect(failure({ config: file('box.toml', session) })).toMatchObject({ code: 'USAGE' });
    expect(choose({ config: file('project/holdfast.toml', session) }).name).toBe(join(root, 'project'));
  });

  it('fails where the file is missing, or lacks the session', () => {
    expect(failure({ name: 'web', config: join(root, 'none.toml') }).code).toBe('CONFIG_UNREADABLE');
    expect(failure({ name: 'web', config: file('empty.toml') }).code).toBe('NO_SESSION');
  });
});

describe('settings', () => {
  it('become the launch that they mean', () => {
    const launchOf = (settings: SessionSettings) => choose({ name: 'web', settings }).launch;
    const script = file('project/deep/down/env.sh');
    expect(launchOf({ launcher: ['su', '-c'], launcher_style: 'string' })).toEqual({ style: 'enter-string', argv: ['su', '-c'] });
    expect(launchOf({ source: 'env.sh' })).toEqual({ style: 'source', script });
    expect(launchOf({ source_command: ['x', 'y'] })).toEqual({ style: 'source-command', argv: ['x', 'y'] });
    expect(launchOf({ provider: 'mise' })).toEqual({ style: 'enter', argv: ['mise', 'exec', '--'] });
    expect(launchOf({ mode: 'host' })).toEqual({ style: 'enter', argv: [] });
  });

  it('become a wrap', () => {
    const settings: SessionSettings = { prefix: ['docker', 'exec'], operand: ['box'], env_style: 'option', cwd_option: '-w' };
    expect(choose({ name: 'box', settings })).toMatchObject({
      mode: 'wrap',
      wrap: { prefix: ['docker', 'exec'], operand: ['box'], envStyle: 'option', envOption: '-e', cwdOption: '-w' },
    });
    expect(choose({ name: 'box', settings: { prefix: ['x'], env_style: 'setenv' } }).wrap?.envOption).toBe('--setenv');
    expect(choose({ name: 'box', settings: { prefix: ['x'] } }).wrap).toEqual({
      prefix: ['x'],
      operand: [],
      envStyle: 'inherit',
      ttyOption: [],
      pathMap: {},
      mapArgv: false,
      failureCodes: [],
      farSide: 'local',
    });
    expect(choose({ name: 'box', settings: { prefix: ['x'], kill: ['y', '{marker}'] } }).wrap).toMatchObject({ farSide: 'marker' });
    expect(choose({ name: 'box', settings: { prefix: ['./x', 'a/b'] } }).wrap?.prefix).toEqual([join(here, 'x'), 'a/b']);
    expect(choose({ name: 'box', settings: { prefix: ['bwrap'], launcher: ['env'] } })).toMatchObject({
      mode: 'wrap',
      launch: { style: 'enter', argv: ['env'] },
    });
  });

  it('have their paths from the working directory', () => {
    const settings: SessionSettings = { launcher: ['env'], path_prepend: ['bin'], inputs: ['../lock'] };
    expect(choose({ name: 'web', settings })).toMatchObject({ pathPrepend: [join(here, 'bin')], inputs: [join(here, '..', 'lock')] });
  });

  it('are refused when they cannot be together', () => {
    expect(failure({ name: 'web', settings: { launcher: ['x'], provider: 'mise' } })).toMatchObject({ code: 'USAGE' });
    expect(failure({ name: 'web', settings: { mode: 'host', launcher: ['x'] } }).message).toBe(
      '\'launcher\' has no meaning with mode "host" (--launcher)',
    );
    expect(failure({ name: 'web', settings: { source: 'no-such.sh' } }).code).toBe('CONFIG_UNREADABLE');
  });
});
