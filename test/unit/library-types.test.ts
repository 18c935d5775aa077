// Pins what the library's types admit: a wrong state must not be writable. The type checker does the work (`npm run types`).

import type { Readable, Writable } from 'node:stream';
import { describe, expectTypeOf, it } from 'vitest';

import type { ExecSession, OpenSessionOptions, Outcome, PreparedCommand, RunHandle, StdioOption } from '../../src/index.js';

/** Never called: only its types are looked at. */
declare const session: ExecSession;

describe('what is opened', () => {
  it('is said in exactly one way', () => {
    const accepted: OpenSessionOptions[] = [
      { mode: 'host' },
      { launcher: ['devenv', 'shell', '--'], cwd: '/x', env: { A: '1' } },
      { mode: 'snapshot', source: 'env.sh' },
      { sourceCommand: ['direnv', 'hook'], killGraceMs: 5, idleTimeoutMs: null },
      { provider: 'nix-develop' },
      { project: '.' },
      { config: 'holdfast.toml', session: 'ci' },
      { mode: 'wrap', prefix: ['chroot', '/srv'], cwdOption: '-w', pathMap: { '/a': '/b' } },
      { mode: 'wrap', preset: 'docker', options: { image: 'alpine' } },
    ];
    expectTypeOf(accepted).toBeArray();
    // @ts-expect-error nothing says what is entered
    const nothing: OpenSessionOptions = {};
    // @ts-expect-error a launcher and a script
    const twice: OpenSessionOptions = { launcher: ['env'], source: 'env.sh' };
    // @ts-expect-error mode host enters nothing
    const host: OpenSessionOptions = { mode: 'host', launcher: ['env'] };
    // @ts-expect-error mode host has no environment to add to
    const declared: OpenSessionOptions = { mode: 'host', env: { A: '1' } };
    // @ts-expect-error a prefix belongs to mode wrap
    const prefix: OpenSessionOptions = { launcher: ['env'], prefix: ['env'] };
    // @ts-expect-error mode wrap needs a prefix or a preset
    const bare: OpenSessionOptions = { mode: 'wrap', envStyle: 'inherit' };
    // @ts-expect-error a style belongs to a launcher
    const style: OpenSessionOptions = { source: 'env.sh', launcherStyle: 'string' };
    // @ts-expect-error a duration is a number of milliseconds
    const text: OpenSessionOptions = { launcher: ['env'], killGraceMs: '5s' };
    // @ts-expect-error no such key
    const unknown: OpenSessionOptions = { launcher: ['env'], colour: 'red' };
    expectTypeOf([nothing, twice, host, declared, prefix, bare, style, text, unknown]).toBeArray();
  });
});

describe('the streams of a handle', () => {
  it('are there where that descriptor is a pipe, and nowhere else', () => {
    const run = <const S extends StdioOption = 'pipe'>(stdio?: S): RunHandle<S> => session.run({ program: 'x', stdio });
    const byDefault = () => session.run({ program: 'x' });
    expectTypeOf<ReturnType<typeof byDefault>['stdin']>().toEqualTypeOf<Writable>();
    expectTypeOf<ReturnType<typeof byDefault>['stdout']>().toEqualTypeOf<Readable>();
    expectTypeOf<ReturnType<typeof run<'inherit'>>['stdout']>().toEqualTypeOf<undefined>();
    expectTypeOf<ReturnType<typeof run<{ terminal: '/dev/pts/1' }>>['stdin']>().toEqualTypeOf<undefined>();
    const mixed = () => session.run({ program: 'x', stdio: ['ignore', 'pipe', { file: 'log' }, undefined, 7] });
    expectTypeOf<ReturnType<typeof mixed>['stdin']>().toEqualTypeOf<undefined>();
    expectTypeOf<ReturnType<typeof mixed>['stdout']>().toEqualTypeOf<Readable>();
    expectTypeOf<ReturnType<typeof mixed>['stderr']>().toEqualTypeOf<undefined>();
    // A list that is short of three has pipes for the rest.
    const short = () => session.run({ program: 'x', stdio: ['ignore'] });
    expectTypeOf<ReturnType<typeof short>['stderr']>().toEqualTypeOf<Readable>();
    expectTypeOf<RunHandle['stdout']>().toEqualTypeOf<Readable | undefined>();
    // @ts-expect-error no such word
    expectTypeOf(() => session.run({ program: 'x', stdio: 'overlapped' })).toBeFunction();
  });

  it('belong to a handle that is awaited for its outcome and iterated for its lines', () => {
    expectTypeOf<Awaited<RunHandle>>().toEqualTypeOf<Outcome>();
    expectTypeOf<RunHandle>().toExtend<AsyncIterable<string>>();
  });
});

describe('an outcome', () => {
  it('is one of five, each with what it alone has', () => {
    expectTypeOf<Outcome['kind']>().toEqualTypeOf<'exited' | 'signaled' | 'notStarted' | 'cancelled' | 'lost'>();
    expectTypeOf<Extract<Outcome, { kind: 'exited' }>>().toEqualTypeOf<{ readonly kind: 'exited'; readonly code: number }>();
    // @ts-expect-error who ended it must be said
    const cancelled: Outcome = { kind: 'cancelled', ending: { kind: 'exited', code: 0 } };
    // @ts-expect-error a command that exited has no signal
    const both: Outcome = { kind: 'exited', code: 0, signal: 15 };
    expectTypeOf([cancelled, both]).toBeArray();
  });
});

describe('a prepared command', () => {
  it('is a command again, whole, so that sessions can be put on top of one another by hand', () => {
    expectTypeOf<PreparedCommand>().toExtend<Parameters<ExecSession['prepare']>[0]>();
    expectTypeOf<PreparedCommand['env']>().toEqualTypeOf<Record<string, string>>();
    expectTypeOf<PreparedCommand['cwd']>().toEqualTypeOf<string>();
  });
});
