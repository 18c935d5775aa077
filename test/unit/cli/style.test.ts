import { describe, expect, it } from 'vitest';

import { formatMemory, formatSessions } from '../../../src/cli/list.js';
import { isColoured, PLAIN, styleFor } from '../../../src/cli/style.js';
import { formatBytes, formatFacts, formatTable } from '../../../src/cli/table.js';
import type { SessionSummary } from '../../../src/session/list.js';

describe('colour', () => {
  const terminal = { isTTY: true };

  it.each([
    [terminal, {}, true],
    [terminal, { TERM: 'xterm' }, true],
    [terminal, { TERM: 'dumb' }, false],
    [terminal, { NO_COLOR: '1' }, false],
    [terminal, { NO_COLOR: '' }, true],
    [terminal, { NO_COLOR: '1', FORCE_COLOR: '1' }, false],
    [{}, {}, false],
    [{}, { FORCE_COLOR: '1' }, true],
    [{}, { FORCE_COLOR: '0' }, false],
    [terminal, { FORCE_COLOR: '0' }, false],
  ])('%j with %j: %s', (stream, env, coloured) => {
    expect(isColoured(stream, env)).toBe(coloured);
    expect(styleFor(stream, env).red('x')).toBe(coloured ? '\x1b[31mx\x1b[39m' : 'x');
  });

  it('takes no room in a table', () => {
    const { red, bold } = styleFor(terminal, {});
    const plain = (text: string): string => text.replace(/\x1b\[\d+m/g, '');
    const rows = [
      [red('aaaa'), '1'],
      ['b', red('2')],
    ];
    expect(plain(formatTable([bold('N'), 'PID'], rows))).toBe('N     PID\naaaa  1\nb     2\n');
    expect(
      plain(
        formatFacts([
          [red('a'), '1'],
          ['', 'more'],
          ['long', '2'],
        ]),
      ),
    ).toBe('a:    1\n      more\nlong: 2\n');
  });
});

describe('the list of sessions', () => {
  const session: SessionSummary = {
    name: 'web',
    mode: 'session',
    state: 'serving',
    stale: false,
    changes: [],
    socket: '/s',
    directory: '/p',
    openedAt: 0,
    agent: {
      pid: 7,
      uptimeMs: 61_000,
      running: 2,
      queued: 0,
      runs: 30,
      rssBytes: 50 * 2 ** 20,
      commandsRssBytes: 3 * 2 ** 30,
      containment: 'cgroup',
    },
  };

  it('tells uptime, runs, staleness and memory', () => {
    const { agent: _, ...dead } = { ...session, name: 'old', state: 'dead' as const, stale: true, openedAt: Date.now() };
    expect(formatSessions([session, dead], PLAIN)).toBe(
      'NAME  MODE     STATE        PID  UPTIME  RUNNING  RUNS  MEMORY\n' +
        'web   session  serving      7    1m 1s   2        30    50 MB + 3.0 GB\n' +
        'old   session  dead, stale  -    0s      -        -     -\n',
    );
  });

  it('has sizes as a person would say them', () => {
    expect([0, 5 * 2 ** 20, 50.4 * 2 ** 20, 1.5 * 2 ** 30].map(formatBytes)).toEqual(['0.0 MB', '5.0 MB', '50 MB', '1.5 GB']);
    expect(formatMemory({ rssBytes: 50 * 2 ** 20, commandsRssBytes: 0 })).toBe('50 MB');
  });
});
