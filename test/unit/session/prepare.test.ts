// Pins DESIGN section 7: a session is a pure transformation of a command.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { CommandSpec } from '../../../src/session/exec-session.js';
import { type PrepareContext, prepareForClient, prepareOnHost } from '../../../src/session/prepare.js';

const context: PrepareContext = {
  runnerExec: '/opt/runner-exec',
  socket: '/run/s.sock',
  runtimePassEnv: [],
  caller: { env: { HOME: '/home/u', A: 'caller' }, cwd: '/work' },
};

/** What the client makes of its words: those before the first `--` that is no option's value are its own, each with a value. */
function split(args: readonly string[]): { own: string[]; command: string[] } {
  const boundary = args.findIndex((word, index) => index % 2 === 0 && word === '--');
  return { own: args.slice(0, boundary), command: args.slice(boundary + 1) };
}

describe('in a session', () => {
  it('a command becomes the client, its socket, names of variables, the directory, and itself', () => {
    const prepared = prepareForClient({ program: 'cargo', args: ['build', '-v'], env: { A: '1', B: '' }, cwd: 'sub' }, context);
    expect(prepared).toEqual({
      program: '/opt/runner-exec',
      args: ['--socket', '/run/s.sock', '--pass-env', 'A', '--pass-env', 'B', '--cwd', '/work/sub', '--', 'cargo', 'build', '-v'],
      env: { HOME: '/home/u', A: '1', B: '' },
      cwd: '/',
    });
  });

  it('a command that says nothing more runs where the caller is', () => {
    expect(prepareForClient({ program: 'true' }, context)).toMatchObject({
      args: ['--socket', '/run/s.sock', '--', 'true'],
      cwd: '/work',
    });
  });

  it('no value of a variable is among the words', () => {
    const { args } = prepareForClient({ program: 'true', env: { TOKEN: 's3cret' } }, context);
    expect(args.join(' ')).not.toContain('s3cret');
  });

  it('a variable without a value is taken out', () => {
    const { args, env } = prepareForClient({ program: 'true', env: { A: undefined } }, context);
    expect(split(args).own.slice(2)).toEqual(['--unset', 'A']);
    expect(env['A']).toBe('caller');
  });

  it('what the session reads per request is passed by name, unless the command says it itself', () => {
    const reading = { ...context, runtimePassEnv: ['A', 'HOME', 'NONE'] };
    const { args } = prepareForClient({ program: 'true', env: { A: '1' } }, reading);
    expect(split(args).own.slice(2)).toEqual(['--pass-env', 'HOME', '--pass-env', 'A']);
  });

  it('words of the command cannot steer the client', () => {
    const { args } = prepareForClient({ program: '--socket', args: ['/tmp/evil', '--', '-e'] }, context);
    expect(args).toEqual(['--socket', '/run/s.sock', '--', '--socket', '/tmp/evil', '--', '-e']);
  });

  it('the same command gives the same, and is not changed', () => {
    const spec: CommandSpec = Object.freeze({ program: 'a', args: Object.freeze(['b']), env: Object.freeze({ C: 'd' }), cwd: '/e' });
    expect(prepareForClient(spec, context)).toEqual(prepareForClient(spec, context));
  });

  it('any command arrives whole, and no variable twice', () => {
    const word = fc.string().filter((text) => !text.includes('\0'));
    const name = word.filter((text) => text !== '' && text !== '*' && !text.includes('='));
    fc.assert(
      fc.property(word.filter(Boolean), fc.array(word), fc.dictionary(name, word), (program, args, env) => {
        const prepared = prepareForClient({ program, args, env }, context);
        const { own, command } = split(prepared.args);
        expect(command).toEqual([program, ...args]);
        const passed = own.filter((_, index) => index % 2 === 1 && own[index - 1] === '--pass-env');
        expect(passed.toSorted()).toEqual(Object.keys(env).toSorted());
        for (const [key, value] of Object.entries(env)) expect(prepared.env[key]).toBe(value);
      }),
    );
  });
});

describe('on the host', () => {
  it('a command is itself', () => {
    const spec = { program: 'cargo', args: ['build'], env: { A: '1' }, cwd: '/x' };
    expect(prepareOnHost(spec, context.caller)).toEqual(spec);
  });

  it('what a command does not say is what child_process would take', () => {
    expect(prepareOnHost({ program: 'true' }, context.caller)).toEqual({
      program: 'true',
      args: [],
      env: { HOME: '/home/u', A: 'caller' },
      cwd: '/work',
    });
  });
});

describe('a command that no program can be given is refused', () => {
  it.each<[string, CommandSpec, string]>([
    ['no name', { program: '' }, "cannot run '': a program needs a name"],
    ['a NUL in an argument', { program: 'a', args: ['x\0y'] }, `cannot run 'a': "x\\u0000y" has a NUL in it`],
    ['a NUL in a value', { program: 'a', env: { A: '\0' } }, `cannot run 'a': "\\u0000" has a NUL in it`],
    ['a directory without a name', { program: 'a', cwd: '' }, "the working directory is ''"],
    ['a variable without a name', { program: 'a', env: { '': 'x' } }, '"" cannot be the name of a variable'],
    ['a name with an equals sign', { program: 'a', env: { 'A=B': 'x' } }, '"A=B" cannot be the name of a variable'],
  ])('%s', (_, spec, message) => {
    expect(() => prepareForClient(spec, context)).toThrow(expect.objectContaining({ code: 'REQUEST_INVALID', message }));
    expect(() => prepareOnHost(spec, context.caller)).toThrow(expect.objectContaining({ code: 'REQUEST_INVALID', message }));
  });

  it("the name '*', which means all variables to the client", () => {
    expect(() => prepareForClient({ program: 'a', env: { '*': 'x' } }, context)).toThrow(/'\*' cannot be the name/);
  });
});
