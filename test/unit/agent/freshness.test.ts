// Pins when the agent reads content and when a stat is enough, and that no change is ever missed.

import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Freshness } from '../../../src/agent/freshness.js';
import { type Asker, StalePolicy } from '../../../src/agent/stale-policy.js';
import { findMoved, newStamps } from '../../../src/native/files.js';
import { RefusalCode } from '../../../src/protocol/numbers.js';
import { type Change, changesText, findPlaceOf, hashInputs } from '../../../src/session/freshness.js';
import { eventually } from '../../harness/eventually.js';

function scratch(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-fresh-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const watch = (directory: string, ...inputs: string[]): Freshness =>
  new Freshness({ inputs: hashInputs({ directory, inputs }), sources: [], place: undefined });

describe('stamps', () => {
  const look = (path: string, places: 0 | 1 = 0): (() => number) => {
    const [stamps, moved, block] = [newStamps(1), new Int32Array(1), Buffer.from(`${path}\0`)];
    return () => findMoved(block, places, stamps, moved);
  };

  it('tell a change, a coming and a going, and nothing once the file has rested', async () => {
    const path = join(scratch(), 'file');
    const moved = look(path);
    expect(moved()).toBe(1);
    expect(moved()).toBe(0);
    writeFileSync(path, 'one');
    expect(moved()).toBe(1);
    // So soon after its change the stamp is not believed: the next change might leave the same one.
    expect(moved()).toBe(1);
    await eventually(() => expect(moved()).toBe(0));
    writeFileSync(path, 'two');
    expect(moved()).toBe(1);
    rmSync(path);
    expect(moved()).toBe(1);
    expect(moved()).toBe(0);
  });

  it('of a place tell only whether it is the same one', () => {
    const directory = join(scratch(), 'place');
    mkdirSync(directory);
    const moved = look(directory, 1);
    expect(moved()).toBe(1);
    writeFileSync(join(directory, 'file'), '');
    expect(moved()).toBe(0);
    renameSync(directory, `${directory}.old`);
    mkdirSync(directory);
    expect(moved()).toBe(1);
  });

  it('that do not fit their paths are refused', () => {
    expect(() => findMoved(Buffer.from('/a\0/b\0'), 0, newStamps(1), new Int32Array(1))).toThrow('EINVAL');
    expect(() => findMoved(Buffer.from('/a'), 0, newStamps(1), new Int32Array(1))).toThrow('EINVAL');
    expect(() => findMoved(Buffer.from('/a\0'), 2, newStamps(1), new Int32Array(1))).toThrow('EINVAL');
    expect(() => findMoved(Buffer.from('/a\0'), 0, newStamps(2), new Int32Array(1))).toThrow('EINVAL');
  });
});

describe('freshness', () => {
  it('is told by content, and comes back with it', () => {
    const directory = scratch();
    const path = join(directory, 'a');
    writeFileSync(path, 'one');
    const freshness = watch(directory, 'a', 'b');
    expect(freshness.look()).toEqual([]);
    utimesSync(path, 1, 1);
    expect(freshness.look()).toEqual([]);
    writeFileSync(path, 'two');
    const changes = freshness.look();
    expect(changes).toEqual([{ path, how: 'changed' }]);
    expect(freshness.look()).toBe(changes);
    writeFileSync(join(directory, 'b'), '');
    expect(freshness.look()).toEqual([
      { path, how: 'changed' },
      { path: join(directory, 'b'), how: 'new' },
    ]);
    writeFileSync(path, 'one');
    rmSync(join(directory, 'b'));
    expect(freshness.look()).toEqual([]);
    rmSync(path);
    expect(freshness.look()).toEqual([{ path, how: 'gone' }]);
  });

  it('never misses one of many changes in quick succession', () => {
    const directory = scratch();
    const path = join(directory, 'a');
    writeFileSync(path, '0');
    const freshness = watch(directory, 'a');
    // All of the same length, and more than one within a tick of the clock.
    for (let i = 1; i < 500; i++) {
      const text = String(i % 2);
      writeFileSync(path, text);
      if (freshness.look().length !== (text === '0' ? 0 : 1)) expect.fail(`change ${i} was missed`);
    }
  });

  it('of a directory is that of all in it, also of what comes into it later', () => {
    const directory = scratch();
    mkdirSync(join(directory, 'tree/deep'), { recursive: true });
    symlinkSync('..', join(directory, 'tree/deep/loop'));
    const freshness = watch(directory, 'tree');
    const changed = [{ path: join(directory, 'tree'), how: 'changed' }];
    expect(freshness.look()).toEqual([]);
    mkdirSync(join(directory, 'tree/new'));
    expect(freshness.look()).toEqual(changed);
    rmSync(join(directory, 'tree/new'), { recursive: true });
    expect(freshness.look()).toEqual([]);
    writeFileSync(join(directory, 'tree/deep/file'), 'x');
    expect(freshness.look()).toEqual(changed);
    rmSync(join(directory, 'tree/deep/file'));
    expect(freshness.look()).toEqual([]);
    rmSync(join(directory, 'tree'), { recursive: true });
    writeFileSync(join(directory, 'tree'), 'a file now');
    expect(freshness.look()).toEqual(changed);
  });

  it('follows a link to another file', () => {
    const directory = scratch();
    for (const name of ['a', 'b']) writeFileSync(join(directory, name), name);
    symlinkSync('a', join(directory, 'link'));
    const freshness = watch(directory, 'link');
    rmSync(join(directory, 'link'));
    symlinkSync('b', join(directory, 'link'));
    expect(freshness.look()).toEqual([{ path: join(directory, 'link'), how: 'changed' }]);
  });

  it('counts from the entry on for a lock file and for what the environment told', () => {
    const directory = scratch();
    const inputs = hashInputs({ directory, inputs: ['my.lock', 'my.nix'] });
    for (const name of ['my.lock', 'my.nix', 'told']) writeFileSync(join(directory, name), 'by the entry');
    const freshness = new Freshness({ inputs, sources: [], place: undefined }, [join(directory, 'told'), join(directory, 'my.nix')]);
    expect(freshness.look()).toEqual([{ path: join(directory, 'my.nix'), how: 'new' }]);
    expect(freshness.inputs.map(({ path }) => path)).toEqual(['my.lock', 'my.nix'].map((name) => join(directory, name)));
    expect(freshness.sources.map(({ path }) => path)).toEqual([join(directory, 'told')]);
    writeFileSync(join(directory, 'told'), 'changed');
    expect(freshness.look()).toHaveLength(2);
  });

  it('ends with the directory that the session belongs to, though another takes its name and inode', () => {
    const directory = join(scratch(), 'place');
    mkdirSync(directory);
    const freshness = new Freshness({ inputs: [], sources: [], place: findPlaceOf(directory) });
    expect([freshness.look(), freshness.isDeserted]).toEqual([[], false]);
    rmSync(directory, { recursive: true });
    expect(freshness.look()).toEqual([{ path: directory, how: 'gone' }]);
    mkdirSync(directory);
    expect([freshness.look(), freshness.isDeserted]).toEqual([[{ path: directory, how: 'replaced' }], true]);
  });
});

describe('a stale session', () => {
  const changes: Change[] = [{ path: '/p/a', how: 'changed' }];
  const asker = (isInside: boolean, isSeen: boolean): Asker => ({ isInside: () => isInside, isSeen: () => isSeen });
  const stranger = asker(false, false);
  const person = asker(false, true);

  it('is to be opened again, or is refused, but serves who is inside', () => {
    for (const [onStale, code] of [
      ['reopen', RefusalCode.REOPEN],
      ['refuse', RefusalCode.STALE],
    ] as const) {
      const policy = new StalePolicy('web', onStale);
      expect(policy.judge([], stranger)).toEqual({ kind: 'serve' });
      expect(policy.judge(changes, asker(true, true))).toEqual({ kind: 'serve' });
      expect(policy.judge(changes, stranger)).toMatchObject({ kind: 'refuse', code, hint: "'holdfast reopen web' enters it again" });
    }
  });

  it('is told of once, and once more to a person', () => {
    const policy = new StalePolicy('web', 'warn');
    const kinds = (...askers: Asker[]): string[] => askers.map((each) => policy.judge(changes, each).kind);
    expect(kinds(stranger, stranger, person, person, stranger)).toEqual(['tell', 'serve', 'tell', 'serve', 'serve']);
    expect(policy.judge([...changes], person).kind).toBe('tell');
    expect(policy.judge([...changes], asker(true, true)).kind).toBe('serve');
  });

  it('names what has changed, and not without end', () => {
    const hows = ['changed', 'new', 'gone', 'replaced'] as const;
    expect(changesText(hows.slice(1).map((how) => ({ path: `/${how}`, how })))).toBe(
      "'/new' is new, '/gone' is gone, '/replaced' is another directory now",
    );
    expect(changesText(Array.from({ length: 5 }, (_, i) => ({ path: `/${i}`, how: 'changed' })))).toBe(
      "'/0' changed, '/1' changed, '/2' changed and 2 more",
    );
  });
});
