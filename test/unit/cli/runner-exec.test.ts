// The small parts of the TypeScript runner-exec: words as bytes, its one line, its help, its report, the job server.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { findJobserver } from '../../../src/cli/runner-exec-jobserver.js';
import { parseOptions, type RunnerOptions } from '../../../src/cli/runner-exec-options.js';
import { reportOf } from '../../../src/cli/runner-exec-report.js';
import { lineOf } from '../../../src/cli/runner-exec-say.js';
import { usageText } from '../../../src/cli/runner-exec-usage.js';
import { lastWords, toBytes, toText } from '../../../src/cli/runner-exec-words.js';
import { initialVariables } from '../../../src/client/environment.js';

describe('the words of the command line', () => {
  it('are its last ones, byte for byte', () => {
    const cmdline = Buffer.from('node\0holdfast.cjs\0__runner-exec\0--\0a\xff\0\0\xc3\xa9\0', 'latin1');
    const words = lastWords(4, cmdline);
    expect(words).toEqual(['--', 'a\xff', '', '\xc3\xa9']);
    expect([toBytes(words[1] ?? ''), toText(words[3] ?? '')]).toEqual([Buffer.of(0x61, 0xff), 'é']);
    expect(lastWords(0, cmdline)).toEqual([]);
  });
});

describe('the one line', () => {
  it('holds the hint too, or at a terminal gives it its own', () => {
    expect(lineOf('no', 'yes', false).toString()).toBe('runner-exec: no; hint: yes\n');
    expect(lineOf('no', 'yes', true).toString()).toBe('runner-exec: no\nhint: yes\n');
    expect(lineOf('no', undefined, true).toString()).toBe('runner-exec: no\n');
  });

  it('stays one, whatever a name holds', () => {
    expect(lineOf("cannot run 'a\nb\t\x1b[2J'", undefined, false).toString()).toBe("runner-exec: cannot run 'a\\nb\\t\\x1b[2J'\n");
    expect(lineOf('x'.repeat(9999), undefined, false).toString()).toBe(`runner-exec: ${'x'.repeat(1535)}…\n`);
  });
});

describe('the help', () => {
  it('is that of the C client, word for word', () => {
    const source = readFileSync(join(import.meta.dirname, '../../../native/client_usage.c'), 'utf8');
    const body = /usage_text\[\] =\n(.*?);\n/s.exec(source)?.[1] ?? '';
    const text = [...body.matchAll(/^ *"(.*)"$/gm)].map(([, line = '']) => line).join('');
    expect(usageText).toBe(text.replaceAll('\\n', '\n').replaceAll('\\"', '"'));
  });
});

describe('the job server', () => {
  const options = (...words: string[]): RunnerOptions => {
    const invocation = parseOptions([...words, 'x']);
    if (invocation.kind !== 'run') throw new Error(invocation.kind);
    return invocation.options;
  };
  const make = (flags: string) => initialVariables(Buffer.from(`MAKEFLAGS=${flags}\0`));
  const all = () => true;

  it.each([
    [' -j4 --jobserver-auth=3,4', { there: true, fds: [3, 4] }],
    [' -j4 --jobserver-fds=3,4 -j', { there: true, fds: [3, 4] }],
    [' --jobserver-auth=3,4 --jobserver-auth=5,6', { there: true, fds: [5, 6] }],
    [' -j --jobserver-auth=fifo:/tmp/x', { there: true, fds: [] }],
    [' --jobserver-auth=-2,-2', { there: false, fds: [] }],
    ['', { there: false, fds: [] }],
  ])('of %j is taken where there is one', (flags, found) => {
    expect(findJobserver(options(), make(flags), all)).toEqual(found);
  });

  it('is not taken when make has closed it, nor for an exact environment, nor when not wanted', () => {
    const flags = make(' --jobserver-auth=3,4');
    expect(findJobserver(options(), flags, (fd) => fd === 3).there).toBe(false);
    expect(findJobserver(options('--exact'), flags, all).there).toBe(false);
    expect(findJobserver(options('--exact', '--jobserver'), flags, all).there).toBe(true);
    expect(findJobserver(options('--no-jobserver'), flags, all).there).toBe(false);
  });

  it('that is asked for and not there is a misuse', () => {
    expect(() => findJobserver(options('--jobserver'), make(' -j'), all)).toThrow('there is no job server: MAKEFLAGS announces none');
    expect(() => findJobserver(options('--jobserver'), make(' --jobserver-auth=3,4'), () => false)).toThrow(
      /make did not pass its descriptors/,
    );
  });
});

describe('the report', () => {
  const facts = { session: 'web', spawned: undefined, exact: false, changes: [], exitCode: 125 };

  it('names variables, and never their values', () => {
    const change = (text: string, passed: boolean) => ({
      bytes: Buffer.from(text),
      passed,
      from: passed ? ('--pass-env' as const) : ('--env' as const),
    });
    const changes = [
      change('=SECRET=hunter2', true),
      change('?B=hunter2', true),
      change('=C=hunter2', false),
      change('-D', true),
      change(':/p', false),
    ];
    const report = reportOf({ ...facts, ended: undefined, changes });
    expect(JSON.stringify(report)).not.toContain('hunter2');
    expect(report).toMatchObject({
      outcome: { kind: 'lost', when: 'before-spawn' },
      environment: { exact: false, passed: ['SECRET', 'B'], set: ['C'], unset: ['D'], pathPrepend: ['/p'] },
      client: { exitCode: 125 },
    });
  });

  it('tells an ending as the library does, with the name of the signal', () => {
    const outcome = { kind: 'cancelled', by: 'deadline', ending: { kind: 'signaled', signal: 9, core: false } } as const;
    const report = reportOf({ ...facts, ended: { kind: 'result', result: { kind: 'ended', outcome, exited: undefined } } });
    expect(report).toMatchObject({
      outcome: { kind: 'cancelled', by: 'deadline', ending: { kind: 'signaled', signal: 'SIGKILL', number: 9, core: false } },
    });
  });
});
