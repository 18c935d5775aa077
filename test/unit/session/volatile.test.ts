// Pins docs/config.md "Fingerprint": which variables are left out, and what counts of a list.

import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { isVolatile, ownDirectories, VOLATILE_NAMES } from '../../../src/session/volatile.js';

describe('volatile variables', () => {
  it('are those that docs/config.md lists', () => {
    const section =
      /### Fingerprint\n(.*?)\n## /s.exec(readFileSync(new URL('../../../docs/config.md', import.meta.url), 'utf8'))?.[1] ?? '';
    const rows = section.split('\n').filter((line) => /^\| (the|temporary) /.test(line));
    const listed = rows.map((row) => [...(row.split('|')[2] ?? '').matchAll(/`([^`]+)`/g)].map((match) => match[1]));
    expect(listed).toEqual(Object.values(VOLATILE_NAMES));
  });

  it('are told by name, or by its beginning', () => {
    for (const name of ['_', 'PWD', 'BASH_ENV', 'LC_ALL', 'DIRENV_DIFF', 'XDG_RUNTIME_DIR', 'SSH_AUTH_SOCK', 'TMUX', 'TMUX_PANE']) {
      expect(isVolatile(name), name).toBe(true);
    }
    for (const name of ['GREETING', 'PATH', 'PATHS', 'NIX_CFLAGS_COMPILE', 'BASH_FUNC_greet%%', 'XDG_DATA_DIRS', 'TERMINAL', 'LCX']) {
      expect(isVolatile(name), name).toBe(false);
    }
  });

  it('may be more, by the word of the session', () => {
    expect(isVolatile('BUILD_ID', ['CI_*', 'BUILD_ID'])).toBe(true);
    expect(isVolatile('CI_JOB', ['CI_*'])).toBe(true);
    expect(isVolatile('BASH_FUNC_now%%', ['BASH_FUNC_now%%'])).toBe(true);
    expect(isVolatile('PATH', ['PATH'])).toBe(true);
    expect(isVolatile('CI', ['CI_*'])).toBe(false);
  });
});

describe('what an environment puts into PATH', () => {
  it.each([
    ['is what stands before the caller’s', '/n/a:/n/b:/home/u/bin:/usr/bin', '/home/u/bin:/usr/bin', ['/n/a', '/n/b', '(host)']],
    ['is what stands behind it', '/home/u/bin:/usr/bin:/n/a', '/home/u/bin:/usr/bin', ['(host)', '/n/a']],
    ['is the same where the caller has it already', '/n/a:/n/b:/n/a:/usr/bin', '/n/a:/usr/bin', ['/n/a', '/n/b', '(host)']],
    ['is nothing where it is the caller’s', '/home/u/bin:/usr/bin', '/home/u/bin:/usr/bin', ['(host)']],
    ['is all of it where the caller has none', '/n/a', undefined, ['/n/a']],
    ['is told from the system’s, whoever names it', '/n/a:/usr/bin:/bin', '/home/u/bin:/bin', ['/n/a', '(host)']],
    ['is told from what is left of the caller’s', '/n/a:/x:/n/b:/bin', '/y:/x:/bin', ['/n/a', '(host)', '/n/b', '(host)']],
    ['keeps its place', '/usr/bin:/n/a', '/usr/bin', ['(host)', '/n/a']],
  ])('%s', (_, value, given, own) => {
    expect(ownDirectories(value, given)).toEqual(own);
  });
});
