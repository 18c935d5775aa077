// Pins docs/config.md "runner.json": what each kind of session becomes. That the commands then run: test/e2e/runner-json.test.ts.

import { describe, expect, it } from 'vitest';

import { parseRunnerJson } from '../../../src/config/runner-json.js';
import { type RunnerFacts, runnerJsonOf } from '../../../src/config/runner-json-writer.js';
import { DEFINITION_DEFAULTS, type SessionDefinition } from '../../../src/session/definition.js';
import type { WrapDefinition } from '../../../src/wrap/definition.js';

const WRAP: WrapDefinition = {
  prefix: ['chroot', '/r'],
  operand: [],
  envStyle: 'inherit',
  ttyOption: [],
  pathMap: {},
  mapArgv: false,
  failureCodes: [],
  farSide: 'local',
};

function facts(more: Partial<SessionDefinition>, declared: [string, string][] = [], captured: [string, string][] = []): RunnerFacts {
  return {
    definition: { ...DEFINITION_DEFAULTS, name: 'web', directory: '/p', launch: { style: 'enter', argv: [] }, ...more },
    fingerprint: 'sha256:x',
    captured: new Map(captured),
    declared: new Map(declared),
    socket: '/run/web.sock',
    runnerExec: '/lib/runner-exec',
  };
}

describe('a session as a runner.json', () => {
  it('of mode session is its launcher and directory', () => {
    expect(runnerJsonOf(facts({ launch: { style: 'enter', argv: ['devenv', 'shell', '--'] }, runtimePassEnv: ['X'] }))).toEqual({
      version: 1,
      fingerprint: 'sha256:x',
      runner: 'session',
      config: { launch: ['devenv', 'shell', '--'], cwd: '/p', runtime_pass_env: ['X'] },
    });
  });

  it('says the variables behind the launcher, where any tool hands them on', () => {
    const { config } = runnerJsonOf(facts({ launch: { style: 'enter', argv: ['enter'] }, pathPrepend: ['bin', '/b'] }, [['A', 'x y']]));
    expect(config.launch?.slice(0, 3)).toEqual(['enter', 'env', 'A=x y']);
    expect(config.launch?.at(-1)).toBe('/p/bin:/b');
  });

  it('of mode host is runner "local", or "wrap" where it has variables', () => {
    expect(runnerJsonOf(facts({ mode: 'host' }))).toMatchObject({ runner: 'local', config: {} });
    expect(runnerJsonOf(facts({ mode: 'host' }, [['A', '1']]))).toMatchObject({ runner: 'wrap', config: { prefix: [], env: { A: '1' } } });
    const prepended = facts({ mode: 'host', pathPrepend: ['/b'] }, [], [['PATH', '/usr/bin']]);
    expect(runnerJsonOf(prepended)).toMatchObject({ runner: 'wrap', config: { env: { PATH: '/b:/usr/bin' } } });
  });

  it('of mode snapshot is what was captured, without what is the caller’s alone', () => {
    const captured: [string, string][] = [
      ['PATH', '/n/bin:/usr/bin'],
      ['TERM', 'xterm'],
      ['BASH_FUNC_f%%', '() { :; }'],
      ['G', 'gr\xc3\xbc\xc3\x9f'],
    ];
    expect(runnerJsonOf(facts({ mode: 'snapshot', runtimePassEnv: ['X'] }, [['A', '1']], captured))).toEqual({
      version: 1,
      fingerprint: 'sha256:x',
      runner: 'wrap',
      config: {
        prefix: [],
        env: { A: '1', 'BASH_FUNC_f%%': '() { :; }', G: 'grüß', PATH: '/n/bin:/usr/bin' },
        runtime_pass_env: ['X'],
      },
    });
  });

  it('of mode wrap is its prefix, where that is all there is to it', () => {
    const wrap = { ...WRAP, operand: ['--chdir=/'], endOfOptions: '--' };
    expect(runnerJsonOf(facts({ mode: 'wrap', wrap }, [['A', '1']]))).toMatchObject({
      runner: 'wrap',
      config: { prefix: ['chroot', '/r', '--chdir=/', '--'], env: { A: '1' } },
    });
  });

  it.each<[string, Partial<WrapDefinition>]>([
    ['a variable at a time', { envStyle: 'option', envOption: '-e' }],
    ['the directory', { cwdOption: '-w' }],
    ['other paths', { pathMap: { '/a': '/b' } }],
  ])('of a wrapper that is told %s goes through the session', (_, more) => {
    const { config } = runnerJsonOf(facts({ mode: 'wrap', wrap: { ...WRAP, ...more } }, [['A', '1']]));
    expect(config).toEqual({ prefix: ['/lib/runner-exec', '--socket', '/run/web.sock', '--pass-env', '*', '--'], env: {} });
  });

  it('cannot hold bytes that are no text', () => {
    expect(() => runnerJsonOf(facts({ mode: 'snapshot' }, [], [['X', '\xff']]))).toThrow("the value of 'X' is not UTF-8");
    expect(runnerJsonOf(facts({ mode: 'snapshot', volatile: ['X'] }, [], [['X', '\xff']])).config.env).toEqual({});
  });

  it('is read as it was written', () => {
    for (const each of [
      facts({ launch: { style: 'source', script: 'env.sh' } }, [['A', '1']]),
      facts({ launch: { style: 'source-command', argv: ['nix', 'print-dev-env'] } }),
      facts({ launch: { style: 'enter-string', argv: ['nix-shell', '--run'] }, runtimePassEnv: ['X'] }),
      facts({ mode: 'host' }),
      facts({ mode: 'host' }, [['A', '1']]),
      facts({ mode: 'snapshot' }, [], [['A', '1']]),
      facts({ mode: 'wrap', wrap: WRAP }),
    ]) {
      const written = runnerJsonOf(each);
      const { settings, directory } = parseRunnerJson('/p/runner.json', JSON.stringify(written));
      const { launcher, prefix, env, runtime_pass_env } = settings;
      const again = { launch: launcher, prefix, env, runtime_pass_env };
      const { cwd: _, ...config } = written.config;
      const said = Object.fromEntries(Object.entries(again).filter(([, value]) => value !== undefined));
      expect({ prefix: [], env: {}, ...said }).toEqual({ prefix: [], env: {}, ...config });
      expect([settings.identity, directory]).toEqual(['sha256:x', '/p']);
    }
  });
});
