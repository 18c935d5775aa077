// Pins DESIGN section 4 "Environment policy" for what the launcher gets and what a session declares.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Launch } from '../../../src/session/definition.js';
import { hostEnvironment } from '../../../src/session/host-environment.js';
import { isBashLauncher, launchArgv, quoteForShell, withRawVariables } from '../../../src/session/launch-command.js';
import { declaredVariables, launchEnvironment, weakVariables } from '../../../src/session/launch-environment.js';

const enter: Launch = { style: 'enter', argv: ['devenv', 'shell', '--'] };
const files = { share: '/share', isBash: false };
const script: Launch = { style: 'source', script: 'env.sh' };
const SHIM = ['/x/runner-exec', '__enter', '/usr/bin/node', "/it's/holdfast.cjs", '/run/web'];

function namesOf(host: Record<string, string>, launch: Launch = script, launchPassEnv: string[] = []): string[] {
  return [...launchEnvironment({ launch, launchPassEnv }, new Map(Object.entries(host)), files).keys()].sort();
}

describe('the launcher’s environment', () => {
  it('is who, where and how to reach the network, and nothing else', () => {
    const passed = [
      'HOME',
      'HTTPS_PROXY',
      'LC_ALL',
      'NIX_PATH',
      'NIX_SSL_CERT_FILE',
      'PATH',
      'SSL_CERT_FILE',
      'TERM',
      'TZ',
      'XDG_RUNTIME_DIR',
      'no_proxy',
    ];
    const dropped = [
      'GOFLAGS',
      'NODE_OPTIONS',
      'NODE_EXTRA_CA_CERTS',
      'LD_PRELOAD',
      'PWD',
      'BASH_ENV',
      'BASH_FUNC_ls%%',
      'HOLDFAST_SESSION',
      'NOTIFY_SOCKET',
      'PS1',
    ];
    const host = Object.fromEntries([...passed, ...dropped].map((name) => [name, 'x']));
    expect(namesOf(host)).toEqual(passed);
  });

  it('has what launch_pass_env names, and with "*" all but what speaks of the caller’s shell', () => {
    const host = { PATH: '/bin', GOFLAGS: 'x', SECRET: 'y', PWD: '/', SHLVL: '1', _: 'z', HOLDFAST_SESSION: 's' };
    expect(namesOf(host, script, ['GOFLAGS', 'ABSENT'])).toEqual(['GOFLAGS', 'PATH']);
    expect(namesOf(host, script, ['*'])).toEqual(['GOFLAGS', 'PATH', 'SECRET']);
  });

  it('has our BASH_ENV for launchers that are entered, and the user’s own beside it', () => {
    const host = new Map([['BASH_ENV', '/home/me/env.sh']]);
    expect([...launchEnvironment({ launch: enter, launchPassEnv: [] }, host, files)]).toEqual([
      ['BASH_ENV', '/share/bash-env.sh'],
      ['HOLDFAST_LAUNCH', '/share/bash-env.sh'],
    ]);
    expect(launchEnvironment({ launch: enter, launchPassEnv: ['BASH_ENV'] }, host, files).get('HOLDFAST_USER_BASH_ENV')).toBe(
      '/home/me/env.sh',
    );
    expect(launchEnvironment({ launch: script, launchPassEnv: ['BASH_ENV'] }, host, files).get('BASH_ENV')).toBe('/home/me/env.sh');
  });
});

describe('a launcher that is bash', () => {
  it('is known by its name, or by the first line of its script', () => {
    const directory = mkdtempSync(join(tmpdir(), 'holdfast-bash-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const write = (name: string, text: string): void => writeFileSync(join(directory, name), text);
    write('a.sh', '#!/usr/bin/env bash\n');
    write('b.sh', '#!/bin/sh\n# bash\n');
    const is = (...argv: string[]): boolean => isBashLauncher({ style: 'enter', argv }, directory);
    expect([is('bash', 'l.sh'), is('/usr/bin/bash'), is('./a.sh'), is(join(directory, 'a.sh'))]).toEqual([true, true, true, true]);
    expect([is('nix', 'develop'), is('./b.sh'), is('a.sh'), is('./none.sh'), is('.'), is()]).toEqual([
      false,
      false,
      false,
      false,
      false,
      false,
    ]);
  });

  it('reads another file first', () => {
    const environment = launchEnvironment({ launch: enter, launchPassEnv: [] }, new Map(), { share: '/share', isBash: true });
    expect(environment.get('BASH_ENV')).toBe('/share/launcher-env.sh');
    expect(environment.get('HOLDFAST_LAUNCH')).toBe('/share/launcher-env.sh');
  });
});

describe('declared variables', () => {
  it('grow stronger from env over runtime_env to pass_env, and no name is twice', () => {
    const host = new Map([
      ['C', 'host'],
      ['D', 'host'],
    ]);
    const declared = declaredVariables(
      { env: { A: 'env', B: 'env', C: 'env' }, runtimeEnv: { B: 'runtime' }, passEnv: ['C', 'D', 'ABSENT', '*'] },
      host,
    );
    expect(Object.fromEntries(declared)).toEqual({ A: 'env', B: 'runtime', C: 'host', D: 'host' });
    expect(declared).toHaveLength(4);
  });

  it('are bytes as latin1', () => {
    expect(declaredVariables({ env: { é: 'ü' }, runtimeEnv: {}, passEnv: [] }, new Map())).toEqual([['Ã©', 'Ã¼']]);
  });

  it('of "*" lie beneath, without the caller’s shell', () => {
    const host = new Map([
      ['A', '1'],
      ['PWD', '/'],
      ['HOLDFAST_X', '1'],
    ]);
    expect(weakVariables({ passEnv: ['*'] }, host)).toEqual([['A', '1']]);
    expect(weakVariables({ passEnv: ['A'] }, host)).toEqual([]);
  });
});

describe('the host’s environment', () => {
  it('keeps bytes that are not UTF-8, and changes made since the start', () => {
    const initial = (): string => 'RAW=\xff\xfe\0CHANGED=\xff\0PLAIN=old\0';
    const host = hostEnvironment({ RAW: '\ufffd\ufffd', CHANGED: '\ufffd!', PLAIN: 'new', U: 'é' }, initial);
    expect(Object.fromEntries(host)).toMatchObject({ RAW: '\xff\xfe', PLAIN: 'new', U: 'Ã©' });
  });
});

describe('the launcher’s command', () => {
  it('has the shim behind it, in each style', () => {
    expect(launchArgv(enter, '/p', SHIM, '/share')).toEqual(['devenv', 'shell', '--', ...SHIM]);
    expect(launchArgv({ style: 'enter-string', argv: ['nix-shell', '--run'] }, '/p', SHIM, '/share').at(-1)).toBe(
      `'/x/runner-exec' '__enter' '/usr/bin/node' '/it'\\''s/holdfast.cjs' '/run/web'`,
    );
    expect(launchArgv(script, '/p', SHIM, '/share')).toEqual(['bash', '--norc', '--noprofile', '/share/source.bash', '/p/env.sh', ...SHIM]);
    expect(launchArgv({ style: 'source-command', argv: ['nix', 'print-dev-env'] }, '/p', SHIM, '/share').slice(3, 7)).toEqual([
      '/share/source-command.bash',
      '2',
      'nix',
      'print-dev-env',
    ]);
  });

  it('is quoted so that any shell gives the words back', () => {
    const words = ['', "it's", '$HOME `x` "y" \\', 'two\nlines', '*'];
    const { stdout } = spawnSync('sh', ['-c', `printf '%s\\0' ${words.map(quoteForShell).join(' ')}`], { encoding: 'utf8' });
    expect(stdout.split('\0').slice(0, -1)).toEqual(words);
  });

  it('carries values that are not UTF-8, final newlines included', () => {
    const command = withRawVariables(
      ['env', '-0'],
      new Map([
        ['PATH', '/usr/bin:/bin'],
        ['RAW', '\xff%s\\n\xfe\n\n'],
        ['U', 'Ã©'],
      ]),
    );
    const [program = '', ...args] = command.argv;
    const { stdout } = spawnSync(program, args, { env: command.env, encoding: 'latin1' });
    expect(stdout.split('\0')).toEqual(expect.arrayContaining(['RAW=\xff%s\\n\xfe\n\n', 'U=Ã©', 'PATH=/usr/bin:/bin']));
    expect(withRawVariables(['x'], new Map([['A', '1']]))).toEqual({ argv: ['x'], env: { A: '1' } });
  });
});
