import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { type ConfigFile, parseConfig, readConfigFile } from '../../../src/config/file.js';
import { HoldfastError } from '../../../src/errors.js';

const PATH = '/project/holdfast.toml';

function failure(action: () => unknown): HoldfastError {
  try {
    action();
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

function parse(text: string): ConfigFile {
  return parseConfig(PATH, text);
}

describe('a holdfast.toml that is right', () => {
  it('gives the session and the named sessions', () => {
    const file = parse(`
[session]
launcher = ["devenv", "shell", "--"]
inputs = ["devenv.nix", "devenv.lock"]
env = { CGO_ENABLED = "0" }
runtime_pass_env = ["SSH_AUTH_SOCK"]
idle_timeout = "1h"

[sessions.box]
mode = "wrap"
prefix = ["docker", "exec", "-i"]
operand = ["box1"]
env_style = "option"
env_option = "-e"
cwd_option = "-w"
`);
    expect(file.session).toEqual({
      launcher: ['devenv', 'shell', '--'],
      inputs: ['/project/devenv.nix', '/project/devenv.lock'],
      env: { CGO_ENABLED: '0' },
      runtime_pass_env: ['SSH_AUTH_SOCK'],
      idle_timeout: 3_600_000,
    });
    expect(file.sessions.get('box')).toMatchObject({ mode: 'wrap', operand: ['box1'], cwd_option: '-w' });
  });

  it('may be empty', () => {
    expect(parse('')).toMatchObject({ path: PATH, session: undefined, sessions: new Map() });
  });

  it('says never for a session that does not idle out', () => {
    expect(parse('[session]\nsource = "env.sh"\nidle_timeout = "never"').session).toEqual({
      source: '/project/env.sh',
      idle_timeout: null,
    });
  });

  it('takes a session name of any spelling', () => {
    expect([...parse('[sessions."a b/c"]\nsource = "x"').sessions.keys()]).toEqual(['a b/c']);
  });
});

describe('a holdfast.toml that is wrong', () => {
  it.each([
    ['a syntax error', '[session]\nmode = session\n', `${PATH}:2:8: not valid TOML`, 'quotes'],
    [
      'an unknown key',
      '[session]\n\nidle_timout = "1h"',
      `${PATH}:3: unknown key 'idle_timout' in [session]`,
      "did you mean 'idle_timeout'?",
    ],
    ['an unknown table', '[sesion]\nmode = "host"', `${PATH}:1: unknown key 'sesion' in top level`, "did you mean 'session'?"],
    [
      'a key like no other',
      '[session]\nshell = "x"',
      `${PATH}:2: unknown key 'shell' in [session]`,
      'the keys are extends, mode, launcher',
    ],
    [
      'a wrong choice',
      '[session]\nmode = "warp"',
      `${PATH}:2: 'mode' must be one of "host", "snapshot", "session", "wrap", not "warp"`,
      '',
    ],
    ['a provider with a slip', '[session]\nprovider = "nix-devlop"', `${PATH}:2: 'provider' must be one of`, 'did you mean "nix-develop"?'],
    ['a wrong duration', '[sessions.a]\nidle_timeout = "1 hour"', `${PATH}:2: 'idle_timeout' must be a duration in quotes`, ''],
    ['a bare duration', '[session]\nidle_timeout = 90', `${PATH}:2: 'idle_timeout' must be a duration in quotes`, 'write "90"'],
    ['no end to a grace', '[session]\nkill_grace = "never"', `${PATH}:2: 'kill_grace' must be a duration`, ''],
    [
      'a launcher in one text',
      '[session]\nlauncher = "devenv shell"',
      `${PATH}:2: 'launcher' must be a list of words`,
      'write ["devenv", "shell"]',
    ],
    ['an empty launcher', '[session]\nlauncher = []', `${PATH}:2: 'launcher' must be a list of words`, ''],
    ['a launcher without a name', '[session]\nlauncher = [""]', `${PATH}:2: 'launcher' must be words of which the first is a program`, ''],
    ['no idle time at all', '[session]\nidle_timeout = "0s"', `${PATH}:2: 'idle_timeout' must be longer than nothing, or "never"`, ''],
    [
      'a number as a variable',
      '[session]\nenv = { A = "1",\n  B = 2 }',
      `${PATH}:2: 'env.B' must be text in quotes, such as "0", not 2`,
      'write "2"',
    ],
    ['a number in a table of variables', '[session.env]\nA = "1"\n\nB = 2', `${PATH}:4: 'env.B' must be text in quotes`, 'write "2"'],
    ['a name with =', '[session]\npass_env = [\n  "A",\n  "B=1",\n]', `${PATH}:2: 'pass_env' must be a list of variable names`, ''],
    [
      'a count without end',
      '[session]\nmax_queue = inf',
      `${PATH}:2: 'max_queue' must be a whole number from 0 to 1000000, not Infinity`,
      '',
    ],
    ['a count below zero', '[session]\nmax_queue = -1', `${PATH}:2: 'max_queue' must be a whole number from 0 to 1000000, not -1`, ''],
    [
      'two ways to enter',
      '[session]\nlauncher = ["x"]\nsource = "y"',
      `${PATH}:3: 'launcher' and 'source' both say what is entered`,
      'keep one of',
    ],
    [
      'a wrap key elsewhere',
      '[session]\nsource = "y"\ncwd_option = "-w"',
      `${PATH}:3: 'cwd_option' has no meaning with mode "session"`,
      'wrap',
    ],
    [
      'a launcher under host',
      '[session]\nmode = "host"\nlauncher = ["x"]',
      `${PATH}:3: 'launcher' has no meaning with mode "host"`,
      'host',
    ],
    [
      'a prefix without a program',
      '[session]\nprefix = ["", "x"]',
      `${PATH}:2: 'prefix' must be words of which the first is a program`,
      '',
    ],
    ['an empty prefix', '[session]\nprefix = []', `${PATH}:2: 'prefix' must be a list of words`, ''],
    [
      'a path map that is relative',
      '[session]\nprefix = ["x"]\npath_map = { "/a" = "b" }',
      `${PATH}:3: 'path_map' must be a table of absolute paths`,
      '',
    ],
    [
      'an exit code that cannot be',
      '[session]\nprefix = ["x"]\nfailure_codes = [0]',
      `${PATH}:3: 'failure_codes' must be a list of exit codes`,
      '',
    ],
    ['a session that is no table', 'session = "x"', `${PATH}:1: 'session' must be a table`, ''],
    ['sessions without names', 'sessions = 3', `${PATH}:1: 'sessions' must hold tables`, ''],
  ])('is refused for %s, by line', (_what, text, message, hint) => {
    const error = failure(() => parse(text));
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message.slice(0, message.length)).toBe(message);
    expect(error.message).not.toContain('\n');
    expect(error.hint ?? '').toContain(hint);
    expect(error.hint, 'a cure').toMatch(/\S/);
  });

  it('is not misled by a text that looks like a heading', () => {
    const error = failure(() => parse('[session]\nenv = { A = """\n[session]\nmod = 1\n""" }\n\nmod = 1'));
    expect(error.message).toMatch(/^\/project\/holdfast.toml:7: unknown key 'mod'/);
  });
});

describe('reading a holdfast.toml', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'holdfast-config-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  it('names the file that is not there', () => {
    const error = failure(() => readConfigFile(join(directory, 'none.toml')));
    expect(error.code).toBe('CONFIG_UNREADABLE');
    expect(error.message).toBe(`cannot read '${join(directory, 'none.toml')}': ENOENT: no such file or directory`);
  });

  it('names the file that is a directory', () => {
    expect(failure(() => readConfigFile(directory)).code).toBe('CONFIG_UNREADABLE');
  });

  it('refuses what may never end, or is gone when the session is entered again', () => {
    expect(failure(() => readConfigFile('/dev/zero'))).toMatchObject({
      code: 'CONFIG_UNREADABLE',
      message: "cannot read '/dev/zero': it is no regular file",
      hint: expect.stringContaining('write it to a file'),
    });
  });

  it('refuses bytes that are no text', () => {
    const path = join(directory, 'holdfast.toml');
    writeFileSync(path, Buffer.from([0xff, 0xfe, 0x00]));
    expect(failure(() => readConfigFile(path)).message).toContain('not UTF-8');
  });

  it('refuses a file of megabytes', () => {
    const path = join(directory, 'holdfast.toml');
    writeFileSync(path, '#'.repeat(1024 * 1024 + 1));
    expect(failure(() => readConfigFile(path)).message).toContain('at most 1048576');
  });

  it('takes relative paths from the directory of the file', () => {
    const path = join(directory, 'holdfast.toml');
    writeFileSync(path, '[session]\nsource = "./env.sh"\npath_prepend = ["bin", "/opt/bin"]\n');
    expect(readConfigFile(path).session).toEqual({ source: join(directory, 'env.sh'), path_prepend: [join(directory, 'bin'), '/opt/bin'] });
  });
});
