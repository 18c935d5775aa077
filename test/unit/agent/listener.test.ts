// Pins src/agent/listener.ts: the name appears with an agent behind it, is never taken from another, and goes with its owner.

import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Listener } from '../../../src/agent/listener.js';
import { closeFd, closeFds } from '../../../src/native/descriptors.js';
import { connectUnix } from '../../../src/native/sockets.js';
import { eventually } from '../../harness/eventually.js';
import { expectNoDescriptorsLeft } from '../native/descriptors.js';

function directory(...below: string[]): string {
  const made = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-listener-')));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  const path = join(made, ...below);
  mkdirSync(path, { recursive: true });
  return path;
}

describe('a listener', () => {
  expectNoDescriptorsLeft();

  it('has its name, 0600, and nothing else in the directory, until it is closed', async () => {
    const place = directory();
    const accepted: number[] = [];
    const listener = new Listener(join(place, 'S.sock'), (fd) => accepted.push(fd));
    expect(readdirSync(place)).toEqual(['S.sock']);
    expect(statSync(join(place, 'S.sock')).mode & 0o777).toBe(0o600);
    expect(listener.isReachable()).toBe(true);
    const clients = Array.from({ length: 200 }, () => connectUnix(join(place, 'S.sock')));
    await eventually(() => expect(accepted).toHaveLength(200));
    closeFds([...clients, ...accepted]);
    listener.close();
    listener.close();
    expect(readdirSync(place)).toEqual([]);
  });

  it('is only one, and the second does not disturb it', async () => {
    const place = directory();
    const accepted: number[] = [];
    const first = new Listener(join(place, 'S.sock'), (fd) => accepted.push(fd));
    expect(() => new Listener(join(place, 'S.sock'), closeFd)).toThrow('EEXIST');
    expect(readdirSync(place)).toEqual(['S.sock']);
    const client = connectUnix(join(place, 'S.sock'));
    await eventually(() => expect(accepted).toHaveLength(1));
    closeFds([client, ...accepted]);
    first.close();
  });

  it('never takes the place of a plain file', () => {
    const place = directory();
    writeFileSync(join(place, 'S.sock'), 'content');
    expect(() => new Listener(join(place, 'S.sock'), closeFd)).toThrow('EEXIST');
    expect(readFileSync(join(place, 'S.sock'), 'utf8')).toBe('content');
    expect(readdirSync(place)).toEqual(['S.sock']);
  });

  it('leaves a name that is no longer its own', () => {
    const place = directory();
    const first = new Listener(join(place, 'S.sock'), closeFd);
    // Kept under a second name, so that its inode's number is not given to the next one.
    linkSync(join(place, 'S.sock'), join(place, 'kept'));
    rmSync(join(place, 'S.sock'));
    expect(first.isReachable()).toBe(false);
    const second = new Listener(join(place, 'S.sock'), closeFd);
    first.close();
    expect(existsSync(join(place, 'S.sock'))).toBe(true);
    second.close();
    expect(readdirSync(place)).toEqual(['kept']);
  });

  it('closes when its directory is gone', () => {
    const place = directory('runtime');
    const listener = new Listener(join(place, 'S.sock'), closeFd);
    rmSync(place, { recursive: true });
    expect(listener.isReachable()).toBe(false);
    listener.close();
  });

  it('may be deep: the directory’s length does not count', () => {
    const place = directory('d'.repeat(100), 'e'.repeat(100));
    const listener = new Listener(join(place, 'S.sock'), closeFd);
    expect(statSync(join(place, 'S.sock')).isSocket()).toBe(true);
    listener.close();
  });

  it('in a directory that is not there is an error', () => {
    expect(() => new Listener('/nowhere/S.sock', closeFd)).toThrow('ENOENT');
  });
});
