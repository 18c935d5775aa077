// From holdfast.toml to what a wrap session puts in front of a command: presets, what is said over them, and what is held.

import { describe, expect, it } from 'vitest';
import { findContradiction } from '../../../src/config/contradiction.js';
import { defineSession } from '../../../src/config/define.js';
import { parseConfig } from '../../../src/config/file.js';
import { overlay } from '../../../src/config/overlay.js';
import type { SessionSettings } from '../../../src/config/settings.js';
import { HoldfastError } from '../../../src/errors.js';
import type { SessionDefinition } from '../../../src/session/definition.js';

function define(settings: SessionSettings): SessionDefinition {
  return defineSession(settings, { name: 'box', directory: '/src', isProject: false });
}

function refusal(text: string): Pick<HoldfastError, 'message' | 'hint'> {
  try {
    const settings = parseConfig('h.toml', `[session]\n${text}`).session ?? {};
    define(settings);
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  }
  throw new Error(`not refused: ${text}`);
}

describe('a preset', () => {
  it('is all that is needed beside the operand', () => {
    const { mode, wrap, hold } = define({ preset: 'docker', operand: ['box'] });
    expect(mode).toBe('wrap');
    expect(hold).toBeUndefined();
    expect(wrap).toMatchObject({
      prefix: ['docker', 'exec', '-i'],
      operand: ['box'],
      envStyle: 'option-by-name',
      envOption: '-e',
      cwdOption: '-w',
      farSide: 'marker',
    });
  });

  it('is weaker than every key beside it', () => {
    const { wrap } = define({
      preset: 'docker',
      operand: ['box'],
      prefix: ['sudo', 'docker', 'exec', '-i'],
      options: { user: 'me' },
      env_style: 'env-command',
      cwd_option: '--workdir=',
      tty_option: [],
      failure_codes: [7],
      far_side: 'none',
    });
    expect(wrap).toEqual({
      prefix: ['sudo', 'docker', 'exec', '-i'],
      operand: ['-u', 'me', 'box'],
      envStyle: 'env-command',
      cwdOption: '--workdir=',
      ttyOption: [],
      textOnly: true,
      pathMap: {},
      mapArgv: false,
      failureCodes: [7],
      farSide: 'none',
    });
  });

  it('of another name on the command line drops the options of the file', () => {
    const file: SessionSettings = { preset: 'docker', operand: ['box'], options: { user: 'me' }, env: { A: '1' } };
    expect(overlay(file, { preset: 'bubblewrap', options: { bind: ['/'] } })).toEqual({
      preset: 'bubblewrap',
      options: { bind: ['/'] },
      env: { A: '1' },
    });
    expect(overlay(file, { options: { privileged: true } }).options).toEqual({ user: 'me', privileged: true });
  });

  it('may take its command as one word', () => {
    expect(define({ preset: 'nix-shell' }).wrap).toMatchObject({ commandStyle: 'string', operand: ['--run'] });
  });

  it.each([
    ['preset = "dokcer"\noperand = ["a"]', /^h\.toml:2: 'preset' must be one of "chroot".*not "dokcer"/, 'did you mean "docker"?'],
    ['preset = "docker"\noptions = { imgae = "a" }', /^h\.toml:3: preset "docker" has no option 'imgae'/, "did you mean 'image'?"],
    [
      'preset = "docker"\noptions = { image = true }',
      /^h\.toml:3: option 'image' of preset "docker" must be text in quotes/,
      'hold a container of this image while the session is open',
    ],
    [
      'preset = "ssh"\noptions = { send_env = "yes" }',
      /must be true or false/,
      'variables by SendEnv, in no command line; the server must accept them',
    ],
    ['preset = "ssh"', /^session 'box': preset "ssh" needs one operand: the host/, 'such as operand = ["box"], or --operand box'],
    [
      'preset = "bubblewrap"\noperand = ["a"]\noptions = { bind = "/" }',
      /takes no operand/,
      'what it needs is in its options: see docs/config.md',
    ],
    [
      'preset = "ssh"\noperand = ["-oProxyCommand=x"]',
      /^session 'box': operand '-oProxyCommand=x' would be taken for an option of the wrapper$/,
      'options have a table of their own: options = { … }',
    ],
    ['preset = "docker"\noperand = ["--help"]', /operand '--help' would be/, 'options have a table of their own: options = { … }'],
    ['preset = "podman"\noptions = { image = "-v" }', /image '-v' would be/, 'options have a table of their own: options = { … }'],
    ['preset = "nsenter"\noptions = { container = "-f" }', /container '-f' would be/, 'options have a table of their own: options = { … }'],
    ['options = { image = "a" }\nprefix = ["a"]', /'options' has no meaning without 'preset'/, 'they are those of a preset'],
    ['prefix = ["a"]\nstop = ["b"]', /'stop' has no meaning without 'start'/, 'it ends what start has made'],
    ['preset = "docker"\nmode = "session"\nlauncher = ["a"]', /'preset' has no meaning with mode "session"/, 'it belongs to mode = "wrap"'],
  ])('that is not right is said in one line: %j', (text, message, hint) => {
    const error = refusal(text);
    expect(error.message).toMatch(message);
    expect(error.hint).toBe(hint);
  });
});

describe('what is held', () => {
  it('is the operand, where its place is not said', () => {
    expect(define({ prefix: ['vm', 'exec'], start: ['vm', 'up'] }).wrap?.operand).toEqual(['{id}']);
    expect(define({ prefix: ['vm', '-n', '{name}', 'exec'], start: ['vm', 'up'] }).wrap?.operand).toEqual([]);
    expect(define({ preset: 'docker', start: ['my', 'start'] }).wrap?.operand).toEqual(['{id}']);
    expect(define({ prefix: ['vm', 'exec'], operand: ['x', '{id}'], start: ['vm', 'up'] }).wrap?.operand).toEqual(['x', '{id}']);
  });

  it('is what the user says, over what the preset says', () => {
    expect(define({ preset: 'docker', options: { image: 'a' }, start: ['my', 'start'] }).hold).toMatchObject({
      start: ['my', 'start'],
      stop: ['docker', 'rm', '-f', '{name}'],
    });
    expect(define({ preset: 'docker', start: ['my', 'start'], stop: ['my', 'stop'] }).hold).toEqual({
      start: ['my', 'start'],
      stop: ['my', 'stop'],
    });
  });

  it('is entered by the variables of its process 1, with nsenter, unless a launcher says otherwise', () => {
    const { launch } = define({ preset: 'nsenter', options: { container: 'box' } });
    expect(launch).toMatchObject({ style: 'enter', argv: ['bash', '-c', expect.stringContaining('</proc/{id}/environ'), 'enter'] });
    expect(define({ preset: 'nsenter', options: { target: '1' }, source_command: ['true'] }).launch).toEqual({
      style: 'source-command',
      argv: ['true'],
    });
  });

  it('is no contradiction', () => {
    expect(findContradiction({ preset: 'runc', operand: ['a'], env_option: '--env' })).toBeUndefined();
    expect(findContradiction({ preset: 'crun', operand: ['a'], env_option: '--env' })?.key).toBe('env_option');
  });
});
