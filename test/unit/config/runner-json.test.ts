// Pins docs/config.md "runner.json": what is read, and what is said of what is wrong.

import { describe, expect, it } from 'vitest';

import { isRunnerJson, parseRunnerJson, type RunnerSettings } from '../../../src/config/runner-json.js';
import { HoldfastError } from '../../../src/errors.js';

const PATH = '/tools/runner.json';

function read(document: unknown): RunnerSettings {
  return parseRunnerJson(PATH, typeof document === 'string' ? document : JSON.stringify(document, undefined, 1));
}

function failure(document: unknown): { message: string; hint: string } {
  try {
    read(document);
  } catch (error) {
    if (error instanceof HoldfastError && error.code === 'CONFIG_INVALID') return { message: error.message, hint: error.hint ?? '' };
    throw error;
  }
  throw new Error('nothing was thrown');
}

const head = { version: 1, fingerprint: 'devenv:9f2c' };

describe('a runner.json', () => {
  it('is told by its name, or by how it begins', () => {
    expect(isRunnerJson('runner.json', '')).toBe(true);
    expect(isRunnerJson('runner', ' \n{ "version": 1 }')).toBe(true);
    expect(isRunnerJson('holdfast.toml', '[session]\n')).toBe(false);
  });

  it('of runner "session" enters an environment', () => {
    expect(read({ ...head, runner: 'session', config: { launch: ['devenv', 'shell', '--'], cwd: '/work' } })).toEqual({
      settings: { mode: 'session', launcher: ['devenv', 'shell', '--'], identity: 'devenv:9f2c' },
      directory: '/work',
    });
    const more = { launch: ['enter'], cwd: '../work', env: { A: '1' }, runtime_pass_env: ['SSH_AUTH_SOCK'] };
    expect(read({ ...head, runner: 'session', config: more })).toEqual({
      settings: { mode: 'session', launcher: ['enter'], env: { A: '1' }, runtime_pass_env: ['SSH_AUTH_SOCK'], identity: 'devenv:9f2c' },
      directory: '/work',
    });
    expect(read({ ...head, runner: 'session', config: { launch: ['enter'] } }).directory).toBe('/tools');
  });

  it('of runner "wrap" puts something in front of each command', () => {
    const config = {
      prefix: ['nix', 'develop', '--command'],
      env: { PATH: '/n/bin', __proto__x: '' },
      runtime_pass_env: ['SSH_AUTH_SOCK'],
    };
    expect(read({ ...head, runner: 'wrap', config })).toEqual({
      settings: { mode: 'wrap', ...config, identity: 'devenv:9f2c' },
      directory: '/tools',
    });
  });

  it('of runner "wrap" with nothing to put in front runs commands here', () => {
    const settings = { mode: 'host', env: { A: '1' }, identity: 'devenv:9f2c' };
    expect(read({ ...head, runner: 'wrap', config: { prefix: [], env: { A: '1' } } }).settings).toEqual(settings);
    expect(read({ ...head, runner: 'wrap', config: { env: { A: '1' } } }).settings).toEqual(settings);
  });

  it('may begin with a mark of its encoding', () => {
    const marked = `\ufeff${JSON.stringify({ ...head, runner: 'local' })}`;
    expect(isRunnerJson('runner', marked)).toBe(true);
    expect(read(marked).settings.mode).toBe('host');
  });

  it('of runner "local" is the host', () => {
    const local = { settings: { mode: 'host', identity: 'devenv:9f2c' }, directory: '/tools' };
    expect(read({ ...head, runner: 'local' })).toEqual(local);
    expect(read({ ...head, runner: 'local', config: {} })).toEqual(local);
  });
});

describe('a runner.json that is wrong', () => {
  const DEEP = `{"version":1,"fingerprint":"x","runner":"wrap","config":{"env":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`;
  const session = { ...head, runner: 'session', config: { launch: ['x'] } };
  it.each<[string, unknown, string, string]>([
    ['no JSON', '{\n "version": 1,\n}', ':3: not valid JSON', 'one object'],
    ['JSON that is cut', '{\n "version": 1', ':2: not valid JSON', 'one object'],
    ['no object', '[1]', ':1: a runner.json must be an object', ''],
    ['another version', { ...session, version: 2 }, ":2: 'version' is 2: this Holdfast reads version 1, and no other", 'version 1'],
    ['a version in quotes', { ...session, version: '1' }, `:2: 'version' is "1": this Holdfast reads version 1`, ''],
    ['no version', { fingerprint: 'x', runner: 'local' }, ":1: 'version' is missing: this Holdfast reads version 1", ''],
    [
      'no fingerprint',
      { version: 1, runner: 'local' },
      ":1: 'fingerprint' must be text that is not empty, and is missing",
      'holdfast fingerprint',
    ],
    ['a fingerprint with a NUL', { ...session, fingerprint: 'a\0b' }, ":3: 'fingerprint' must be text that is not empty", ''],
    ['what is nested too deeply', DEEP, ":1: 'config.env' must be a table of variables", ''],
    ['an empty fingerprint', { ...session, fingerprint: '' }, `:3: 'fingerprint' must be text that is not empty, not ""`, 'cache'],
    ['a blank fingerprint', { ...session, fingerprint: ' ' }, `:3: 'fingerprint' must be text that is not empty`, ''],
    [
      'a runner of a plugin',
      { ...session, runner: 'oci' },
      `:4: 'runner' must be one of "local", "wrap", "session", not "oci"`,
      'the tool',
    ],
    ['a runner with a slip', { ...session, runner: 'sesion' }, ":4: 'runner' must be one of", 'did you mean "session"?'],
    [
      'a member with a slip',
      { ...head, fingerprnt: 'x', runner: 'local' },
      ":4: unknown member 'fingerprnt' at the top",
      "did you mean 'fingerprint'?",
    ],
    ['a config that is a list', { ...session, config: [] }, ":5: 'config' must be an object, not []", 'launch'],
    ['no launch', { ...session, config: {} }, `:5: 'config.launch' is missing: runner "session"`, 'devenv'],
    ['a launch in one text', { ...session, config: { launch: 'x' } }, `:6: 'config.launch' must be a list of words`, ''],
    ['an empty launch', { ...session, config: { launch: [] } }, `:6: 'config.launch' must be a list of words`, ''],
    [
      'a prefix under session',
      { ...session, config: { launch: ['x'], prefix: ['y'] } },
      `unknown member 'prefix' in the config of runner "session"`,
      'there are',
    ],
    [
      'a number as a variable',
      { ...head, runner: 'wrap', config: { prefix: ['x'], env: { A: 1 } } },
      ":9: 'config.env.A' must be text in quotes",
      '',
    ],
    [
      'a cwd that is none',
      { ...session, config: { launch: ['x'], cwd: 7 } },
      ":9: 'config.cwd' must be a directory in quotes, not 7",
      'relative',
    ],
  ])('is refused for %s', (_, document, message, hint) => {
    const error = failure(document);
    expect(error.message.startsWith(PATH)).toBe(true);
    expect(error.message).toContain(message);
    expect(error.message).not.toContain('\n');
    expect(error.hint).toContain(hint);
  });
});
