// Pins STYLE "Errors" and DESIGN section 4 "Outcome": one ending, one way to exit, in the words of the C client. That every word is
// really in its sources is checked at the end, so neither client can be changed alone.

import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { type Asked, type Exit, exitOfFailure, exitOfNoName, exitOfOutcome, exitOfTooLarge } from '../../../src/client/exit-policy.js';
import { HoldfastError } from '../../../src/errors.js';
import type { Outcome } from '../../../src/protocol/outcome.js';

const { ENOENT, EACCES, E2BIG, ENOEXEC, EPERM, EAGAIN, EISDIR, ELOOP } = constants.errno;
const asked: Asked = { session: 'web', isSocket: false, command: 'tool', timeoutText: '5', pid: 77, isDirectory: () => false };

const notStarted = (step: Extract<Outcome, { kind: 'notStarted' }>['step'], errno: number, subject = ''): Outcome => ({
  kind: 'notStarted',
  step,
  errno,
  subject: Buffer.from(subject),
  searched: Buffer.alloc(0),
});

const texts = new Set<string>();

function ours(exit: Exit): [code: number, message: string | undefined, hint: string | undefined] {
  if (exit.kind !== 'code') throw new Error('a death by signal');
  if (exit.message !== undefined) texts.add(exit.message);
  return [exit.code, exit.message, exit.hint];
}

describe("the target's own ending", () => {
  it('is ours too, without a word', () => {
    expect(exitOfOutcome({ kind: 'exited', code: 125 }, asked)).toEqual({ kind: 'code', code: 125 });
    expect(exitOfOutcome({ kind: 'signaled', signal: 9, core: false }, asked)).toEqual({ kind: 'signal', signal: 9 });
    const ending = { kind: 'exited', code: 3 } as const;
    expect(exitOfOutcome({ kind: 'cancelled', by: 'client', ending }, asked)).toEqual({ kind: 'code', code: 3 });
  });
});

describe('a target that was ended', () => {
  const ending = { kind: 'signaled', signal: 15, core: false } as const;

  it('at its deadline is 124, and names it', () => {
    const outcome: Outcome = { kind: 'cancelled', by: 'deadline', ending };
    expect(ours(exitOfOutcome(outcome, asked))).toEqual([124, "'tool' did not end within 5s and was ended", undefined]);
    expect(ours(exitOfOutcome(outcome, { ...asked, timeoutText: '200ms' }))[1]).toBe("'tool' did not end within 200ms and was ended");
    expect(ours(exitOfFailure(new HoldfastError('DEADLINE', 'late'), asked))[0]).toBe(124);
  });

  it('with its session is 125', () => {
    expect(ours(exitOfOutcome({ kind: 'cancelled', by: 'shutdown', ending }, asked))).toEqual([
      125,
      "session 'web' was closed while 'tool' ran",
      "'holdfast open' starts it again",
    ]);
  });
});

describe('a target that was not started', () => {
  it.each([
    ['PROGRAM', ENOENT, 'tool', 127, "cannot run 'tool': not found on the PATH of session 'web'", /holdfast explain web PATH/],
    ['PROGRAM', ENOENT, 'cd', 127, "cannot run 'cd': not found on the PATH of session 'web'", /shell builtin: run it as sh -c 'cd \.\.\.'/],
    ['PROGRAM', ENOENT, './x', 127, "cannot run './x': no such file", "a path with a slash is taken from the command's working directory"],
    ['PROGRAM', EACCES, './x', 126, "cannot run './x': permission denied", /chmod \+x/],
    ['EXEC', ENOEXEC, './x', 126, "cannot run './x': not a program of this machine", /#!/],
    ['EXEC', E2BIG, 'tool', 126, "cannot run 'tool': Argument list too long", /give long lists in a file/],
    ['EXEC', EISDIR, '/tmp', 126, "cannot run '/tmp': is a directory", undefined],
    ['EXEC', ELOOP, './x', 126, "cannot run './x': Symbolic link loop", undefined],
    ['INTERPRETER', ENOENT, './s', 127, "cannot run './s': its interpreter '/no/sh' is missing", /first line/],
    ['INTERPRETER', EACCES, './s', 126, "cannot run './s': its interpreter '/no/sh' cannot be run: Permission denied", undefined],
    ['DIRECTORY', ENOENT, 'tool', 125, "cannot enter the directory '/no/sh': No such file or directory", /--cwd/],
    ['LIMIT', EPERM, 'tool', 125, "cannot set the limit '/no/sh' of 'tool': Operation not permitted", /lowered/],
    ['FORK', EAGAIN, 'tool', 125, "cannot start 'tool': fork: Resource temporarily unavailable", /processes or memory/],
  ] as const)('%s %i of %s is %i', (step, errno, command, code, message, hint) => {
    const [gotCode, gotMessage, gotHint] = ours(exitOfOutcome(notStarted(step, errno, '/no/sh'), { ...asked, command }));
    expect([gotCode, gotMessage]).toEqual([code, message]);
    if (hint === undefined) expect(gotHint).toBeUndefined();
    else expect(gotHint).toMatch(hint);
  });

  it.each(['DESCRIPTOR', 'NICE', 'UMASK', 'GROUP', 'SESSION', 'TERMINAL', 'SIGNALS', 'CONTAINMENT'] as const)(
    'at %s is 125 and names both',
    (step) => {
      const [code, message] = ours(exitOfOutcome(notStarted(step, EPERM, '5'), asked));
      expect([code, message]).toEqual([125, expect.stringMatching(/'tool'.*: Operation not permitted$/)]);
    },
  );

  it.each([
    [
      'snapshot',
      /which session 'web' lacks: a snapshot keeps variables alone$/,
      /^open it with mode = "session", and run it as bash -c 'tool \.\.\.'$/,
    ],
    [
      'filtered',
      /which session 'web' lacks: its 'functions' leaves it out$/,
      /^name it there, open the session again, and run it as bash -c/,
    ],
    ['session', /a shell function of session 'web', and no program$/, /^run it as bash -c 'tool \.\.\.'$/],
  ])('because it is a shell function (%s) is 127 and says so', (why, message, hint) => {
    const [code, gotMessage, gotHint] = ours(exitOfOutcome(notStarted('FUNCTION', ENOENT, why), asked));
    expect(code).toBe(127);
    expect(gotMessage).toMatch(message);
    expect(gotHint).toMatch(hint);
  });

  it('because it is a directory says so', () => {
    const exit = exitOfOutcome(notStarted('PROGRAM', EACCES), { ...asked, command: '/tmp', isDirectory: () => true });
    expect(ours(exit)).toEqual([126, "cannot run '/tmp': is a directory", undefined]);
  });

  it('because the request is too large, or names no program, is told as the kernel would', () => {
    expect(ours(exitOfTooLarge(asked))[0]).toBe(126);
    expect(ours(exitOfNoName())[0]).toBe(127);
  });
});

describe('a session that is lost', () => {
  it('is 125, with what is known', () => {
    expect(ours(exitOfOutcome({ kind: 'lost', when: 'before-spawn' }, asked))).toEqual([
      125,
      "session 'web' was lost before 'tool' was started",
      "'holdfast logs web' may tell why",
    ]);
    expect(ours(exitOfOutcome({ kind: 'lost', when: 'unknown' }, asked))[1]).toBe(
      "session 'web' was lost; whether 'tool' was started is not known",
    );
    expect(ours(exitOfOutcome({ kind: 'lost', when: 'after-spawn' }, asked))[1]).toBe("session 'web' was lost while 'tool' ran (pid 77)");
    const died = { kind: 'lost', when: 'after-spawn', ending: { kind: 'signaled', signal: 9, core: false } } as const;
    // The library does not tell it the pid.
    expect(ours(exitOfOutcome(died, { ...asked, pid: undefined }))[1]).toBe(
      "session 'web' was lost while 'tool' ran, which then died of SIGKILL",
    );
    const ending = { kind: 'signaled', signal: 9, core: false } as const;
    expect(ours(exitOfOutcome({ kind: 'lost', when: 'after-spawn', ending }, asked))[1]).toContain('(pid 77, which then died of SIGKILL)');
    expect(ours(exitOfFailure(new HoldfastError('PROTOCOL', 'x'), asked))[1]).toContain('(pid 77): its agent speaks another language');
  });
});

describe('a failure of ours', () => {
  it('is 125 in its own words', () => {
    expect(ours(exitOfFailure(new HoldfastError('BUSY', "session 'web' refused: full", { hint: 'wait' }), asked))).toEqual([
      125,
      "session 'web' refused: full",
      'wait',
    ]);
  });
});

describe('the words', () => {
  it('are those of the C client', () => {
    const native = join(import.meta.dirname, '../../../native');
    const sources = readdirSync(native).filter((name) => /^client.*\.c$/.test(name));
    const code = sources.map((name) => readFileSync(join(native, name), 'utf8')).join('\n');
    // What stands between the things that are filled in, as far as it is long enough to be told from chance.
    const parts = [...texts].flatMap((text) => text.split(/'[^']*'|\d+|[:,]|SIG\w+/)).map((part) => part.replace(/ms|[(),]/g, '').trim());
    const lost = [...new Set(parts)].filter((part) => part.length > 8 && !code.includes(part));
    expect(lost.filter((part) => !FROM_THE_C_LIBRARY.includes(part) && part !== 'refused')).toEqual([]);
  });
});

const FROM_THE_C_LIBRARY = [
  'Symbolic link loop',
  'Permission denied',
  'No such file or directory',
  'Operation not permitted',
  'Resource temporarily unavailable',
];
