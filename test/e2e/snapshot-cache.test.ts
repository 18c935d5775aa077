// Pins the cache of snapshots: a file that is not as we left it is never trusted, one that cannot be used is no reason not to open,
// and what nobody uses goes. docs/security.md.

import {
  chmodSync,
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { CountedProject } from '../fixtures/counted-project.js';
import { programs, useHoldfast } from '../harness/holdfast.js';
import { needs } from '../harness/needs.js';

const holdfast = useHoldfast();
const cache = join(holdfast.directory, 'home/.cache/holdfast');

beforeEach(() => {
  rmSync(dirname(cache), { recursive: true, force: true });
  mkdirSync(dirname(cache), { recursive: true });
});

const files = (): string[] => readdirSync(cache).sort();
const file = (): string => {
  const [only, ...more] = files();
  if (only === undefined || more.length > 0) throw new Error(`not one file: ${files()}`);
  return join(cache, only);
};

describe('a file of the cache that is not as we left it', () => {
  const replace = (path: string, from: string | RegExp, to: string): void =>
    writeFileSync(path, readFileSync(path, 'latin1').replace(from, to), 'latin1');
  const spoils: [what: string, spoil: (path: string) => unknown, needed?: string][] = [
    ['cut', (path) => writeFileSync(path, readFileSync(path).subarray(0, -1))],
    ['longer', (path) => writeFileSync(path, 'x', { flag: 'a' })],
    ['empty', (path) => writeFileSync(path, '')],
    ['changed in one byte', (path) => replace(path, 'MARK=good', 'MARK=evil')],
    ['of an older format', (path) => replace(path, /SNAPSHOT \d+/, 'SNAPSHOT 0')],
    ['of a newer format', (path) => replace(path, /SNAPSHOT \d+/, 'SNAPSHOT 999')],
    ['a symbolic link to a good one', (path) => linkTo(path)],
    ['a hard link to a good one', (path) => linkSync(path, join(holdfast.directory, 'hard'))],
    ['somebody else’s', (path) => chownSync(path, 1234, 1234), 'root'],
    ['open to others', (path) => chmodSync(path, 0o644)],
    ['a pipe', async (path) => await becomePipe(path)],
  ];

  function linkTo(path: string): void {
    const good = join(holdfast.folder(), 'good');
    renameSync(path, good);
    symlinkSync(good, path);
  }

  async function becomePipe(path: string): Promise<void> {
    rmSync(path);
    await holdfast.run(['mkfifo', '-m', '600', path]); // Node makes none
  }

  it.for(spoils)('%s is made anew', async ([, spoil, needed], t) => {
    if (needed !== undefined) needs(t, needed);
    const project = new CountedProject(holdfast, 'export MARK=good; exec "$@"');
    await (await project.open()).close();
    const path = file();
    await spoil(path);
    const session = await project.open();
    expect(await session.output(['printenv', 'MARK'])).toBe('good\n');
    expect(project.entries).toBe(2);
    expect(statSync(path)).toMatchObject({ nlink: 1, uid: process.getuid?.() });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, 'latin1')).toContain('MARK=good');
    rmSync(join(holdfast.directory, 'hard'), { force: true });
  });

  it('is made anew also when it is whole, but for another environment', async () => {
    const project = new CountedProject(holdfast, 'export MARK=$(cat lock); exec "$@"');
    writeFileSync(join(project.directory, 'lock'), 'one');
    await (await project.open('snap', ['--input', 'lock'])).close();
    const one = file();
    writeFileSync(join(project.directory, 'lock'), 'two');
    await (await project.open('snap', ['--input', 'lock'])).close();
    const two = join(cache, files().find((each) => join(cache, each) !== one) ?? '');
    renameSync(one, two);
    const session = await project.open('snap', ['--input', 'lock']);
    expect(await session.output(['printenv', 'MARK'])).toBe('two\n');
    expect(project.entries).toBe(3);
  });
});

describe('a cache that cannot be used', () => {
  const spoils: [what: string, spoil: () => void, needed?: string][] = [
    ['is a file', () => writeFileSync(cache, '')],
    ['is a link', () => symlinkSync(holdfast.folder(), cache)],
    ['is open to others', () => mkdirAs(0o755)],
    ['is somebody else’s', () => mkdirAs(0o700, 1234), 'root'],
  ];

  function mkdirAs(mode: number, user?: number): void {
    mkdirSync(cache);
    chmodSync(cache, mode);
    if (user !== undefined) chownSync(cache, user, user);
  }

  it.for(spoils)('since it %s: the session opens all the same, and it is said once', async ([, spoil, needed], t) => {
    if (needed !== undefined) needs(t, needed);
    spoil();
    const project = new CountedProject(holdfast, 'export MARK=in; exec "$@"');
    const flags = ['--mode', 'snapshot', '--', 'bash', './enter.sh'];
    const { code, stderr } = await holdfast.holdfast(['open', 'snap', ...flags], { cwd: project.directory });
    expect(code).toBe(0);
    expect(`${stderr}`).toMatch(/^holdfast: the snapshot of session 'snap' is not kept: '.*\/holdfast' .*\n$/);
    const session = await holdfast.adopt('snap');
    expect(await session.output(['printenv', 'MARK'])).toBe('in\n');
    rmSync(cache, { recursive: true, force: true });
  });

  it('since its disk is full: the session opens all the same, and it is said once', async (t) => {
    needs(t, 'root');
    const project = new CountedProject(
      holdfast,
      `export MARK=in\nfor i in {1..12}; do export BIG_$i=$(head -c 120000 /dev/zero | tr '\\0' a); done; exec "$@"`,
    );
    mkdirSync(cache);
    const mounted = await holdfast.run(['mount', '-t', 'tmpfs', '-o', 'size=64k,mode=700', 'tmpfs', cache]);
    if (mounted.code !== 0) {
      if (process.env.CI) throw new Error(`CI cannot mount a file system: ${mounted.stderr}`);
      t.skip('no file system can be mounted here');
    }
    try {
      const { code, stderr } = await holdfast.holdfast(['open', 'snap', '--mode', 'snapshot', '--', 'bash', './enter.sh'], {
        cwd: project.directory,
      });
      expect(code).toBe(0);
      expect(`${stderr}`).toMatch(
        /^holdfast: the snapshot of session 'snap' is not kept: nothing can be written .*: No space left on device\n$/,
      );
      const session = await holdfast.adopt('snap');
      expect(await session.output(['printenv', 'MARK'])).toBe('in\n');
      expect(files()).toEqual([]);
    } finally {
      await holdfast.run(['umount', cache]);
    }
  });

  it('is none that stands in the way of XDG_CACHE_HOME', async () => {
    const elsewhere = holdfast.folder('cache');
    const project = new CountedProject(holdfast, 'exec "$@"');
    await project.open('snap', [], { XDG_CACHE_HOME: elsewhere });
    expect(readdirSync(join(elsewhere, 'holdfast'))).toHaveLength(1);
    expect(existsSync(cache)).toBe(false);
  });
});

describe('the cache', () => {
  it('is a directory of mode 0700 with files of mode 0600, whatever the umask', async () => {
    const project = new CountedProject(holdfast, 'exec "$@"');
    const opened = await holdfast.run(
      [
        'sh',
        '-c',
        `umask 0; exec "$@"`,
        'sh',
        process.execPath,
        programs.holdfast,
        'open',
        'snap',
        '--mode',
        'snapshot',
        '--',
        'bash',
        './enter.sh',
      ],
      { cwd: project.directory },
    );
    expect(opened).toMatchObject({ code: 0 });
    await holdfast.adopt('snap');
    expect(statSync(cache).mode & 0o777).toBe(0o700);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  it('loses what nobody used for 30 days', async () => {
    const old = new CountedProject(holdfast, 'export MARK=old; exec "$@"');
    await (await old.open()).close();
    const path = file();
    const then = new Date(Date.now() - 31 * 24 * 3_600_000);
    utimesSync(path, then, then);
    await (await new CountedProject(holdfast, 'export MARK=new; exec "$@"').open()).close();
    expect(existsSync(path)).toBe(false);
    expect(files()).toHaveLength(1);
  });
});

describe('holdfast snapshot', () => {
  interface Listed {
    readonly key: string;
    readonly state: string;
    readonly facts?: { readonly name: string; readonly directory: string; readonly launcher: string[]; readonly entryMs: number };
  }

  const listed = async (): Promise<Listed[]> => {
    const { code, stdout, stderr } = await holdfast.holdfast(['snapshot', 'list', '--json']);
    expect({ code, stderr: `${stderr}` }).toEqual({ code: 0, stderr: '' });
    return JSON.parse(`${stdout}`);
  };
  const clear = async (...args: string[]): Promise<[number | null, string]> => {
    const { code, stdout, stderr } = await holdfast.holdfast(['snapshot', 'clear', ...args]);
    return [code, `${stdout}${stderr}`];
  };

  it('lists each with its session, launcher, age, size and state', async () => {
    expect(await listed()).toEqual([]);
    const fresh = new CountedProject(holdfast, 'exec "$@"');
    await (await fresh.open('fresh')).close();
    const stale = new CountedProject(holdfast, 'exec "$@"');
    stale.write('lock', 'one');
    await (await stale.open('stale', ['--input', 'lock'])).close();
    stale.write('lock', 'two');
    const all = await listed();
    const states = Object.fromEntries(all.map(({ state, facts }) => [facts?.name, state]));
    expect(states).toEqual({ fresh: 'fresh', stale: 'stale' });
    expect(all.find(({ state }) => state === 'fresh')?.facts).toMatchObject({
      directory: fresh.directory,
      launcher: ['bash', './enter.sh'],
    });
    const [first] = all;
    writeFileSync(join(cache, `${first?.key}.snapshot`), 'damaged');
    const other = all[1]?.key ?? '';
    chmodSync(join(cache, `${other}.snapshot`), 0o666);
    expect((await listed()).map(({ key, state, facts }) => [key, state, facts]).sort()).toEqual(
      [
        [first?.key, 'damaged', undefined],
        [other, 'foreign', undefined],
      ].sort(),
    );
    const { stdout } = await holdfast.holdfast(['snapshot', 'list']);
    expect(`${stdout}`).toMatch(
      /^KEY +PROJECT +SESSION +STATE +AGE +UNUSED +SIZE +LAUNCHER\n[0-9a-f]{12} +- +- +(damaged|foreign) +- +\d+s +\d+K +-\n/,
    );
  });

  it('clears those of a session, of a project, of a key, or all', async () => {
    const project = new CountedProject(holdfast, 'exec "$@"');
    const other = new CountedProject(holdfast, 'exec "$@"');
    const fill = async (): Promise<void> => {
      await (await project.open('one')).close();
      await (await other.open('two')).close();
      expect(await listed()).toHaveLength(2);
    };
    await fill();
    expect(await clear('one')).toEqual([0, '']);
    expect((await listed()).map(({ facts }) => facts?.name)).toEqual(['two']);
    await fill();
    expect(await clear(project.directory)).toEqual([0, '']);
    expect(await listed()).toHaveLength(1);
    await fill();
    expect(await clear((await listed())[0]?.key.slice(0, 8) ?? '')).toEqual([0, '']);
    expect(await listed()).toHaveLength(1);
    await fill();
    // Another session that uses it: its name is good as well.
    await project.open('user');
    expect(await clear('user')).toEqual([0, '']);
    expect((await listed()).map(({ facts }) => facts?.name)).toEqual(['two']);
    await fill();
    writeFileSync(join(cache, 'not-ours'), '');
    expect(await clear('--all')).toEqual([0, '']);
    expect(files()).toEqual(['not-ours']);
    expect(project.entries + other.entries).toBe(6);
  });

  it('says what it cannot do', async () => {
    expect(await clear('nothing')).toEqual([
      1,
      "holdfast: no snapshot is kept of 'nothing'\nhint: 'holdfast snapshot list' shows those that are\n",
    ]);
    expect(await clear('x', '--all')).toEqual([2, "holdfast: both 'x' and '--all' are given\nhint: keep one\n"]);
    writeFileSync(cache, '');
    expect(await clear('--all')).toEqual([
      1,
      expect.stringMatching(/^holdfast: the cache of snapshots cannot be used: .* is a link, or no directory\nhint: /),
    ]);
  });
});
