// Pins native/spawn.c: each way in which a target cannot be started is named by step, errno and subject (docs/protocol.md §5), and
// leaves nothing behind.

import { chmodSync, closeSync, copyFileSync, mkdirSync, openSync, readFileSync, rmdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Step } from '../../../src/protocol/numbers.js';
import { needs } from '../../harness/needs.js';
import { expectNoDescriptorsLeft, openFilesLimit } from './descriptors.js';
import { executable, failureOf, outputOf, scratch } from './targets.js';

const { EACCES, E2BIG, EBADF, EINVAL, EISDIR, ELOOP, ENAMETOOLONG, ENOENT, ENOEXEC, ENOTDIR, ENOTTY, ETXTBSY } = constants.errno;
const RLIMIT_NOFILE = 7;
/** Of an x86-64 and of an arm64 ELF file, where the other one's may stand. */
const ELF_MACHINE_AT = 18;

/** A copy of a program that the machine has, with other bytes in it. */
function patched(directory: string, name: string, change: (bytes: Buffer) => void): string {
  const bytes = readFileSync('/bin/true');
  change(bytes);
  return executable(directory, name, bytes);
}

describe('a target that cannot be started', () => {
  expectNoDescriptorsLeft();

  it('has no program on its PATH', () => {
    expect(failureOf(['no-such-program'])).toEqual({ step: Step.PROGRAM, errno: ENOENT, subject: 'no-such-program' });
    expect(failureOf([''], { program: '' })).toEqual({ step: Step.PROGRAM, errno: ENOENT, subject: '' });
  });

  it('has no program at its path', () => {
    expect(failureOf(['/nowhere/program'])).toEqual({ step: Step.PROGRAM, errno: ENOENT, subject: '/nowhere/program' });
    expect(failureOf(['/dev/null/program'])).toEqual({ step: Step.PROGRAM, errno: ENOENT, subject: '/dev/null/program' });
    expect(failureOf(['./program'], { cwd: scratch() })).toEqual({ step: Step.PROGRAM, errno: ENOENT, subject: './program' });
  });

  it('is a script whose interpreter is missing', () => {
    const directory = scratch();
    executable(directory, 'one', '#!/nowhere/python -u\n');
    executable(directory, 'two', '#! \t/nowhere/perl\n');
    executable(directory, 'three', '#!/nowhere/without-line-end');
    executable(directory, 'four', '#!/dev/null/sh\n');
    const named = ['one', 'two', 'three', 'four'].map((name) => failureOf([name], { path: directory }));
    expect(named.map(({ step }) => step)).toEqual(Array(4).fill(Step.INTERPRETER));
    expect(named.map(({ subject }) => subject)).toEqual(['/nowhere/python', '/nowhere/perl', '/nowhere/without-line-end', '/dev/null/sh']);
  });

  it('is a program whose ELF loader is missing', () => {
    const directory = scratch();
    const loader = /\/lib[\w/.-]*\/ld-[\w.-]+\.so[\w.]*/.exec(readFileSync('/bin/true', 'latin1'))?.[0] ?? '';
    const bogus = `/gone${loader.slice(5)}`;
    const program = patched(directory, 'program', (bytes) => bytes.write(bogus, bytes.indexOf(loader), 'latin1'));
    expect(failureOf([program])).toEqual({ step: Step.INTERPRETER, errno: ENOENT, subject: bogus });
  });

  it('has no directory', () => {
    const directory = scratch();
    writeFileSync(join(directory, 'file'), '');
    expect(failureOf(['true'], { cwd: join(directory, 'none') })).toEqual({
      step: Step.DIRECTORY,
      errno: ENOENT,
      subject: join(directory, 'none'),
    });
    expect(failureOf(['true'], { cwd: join(directory, 'file') })).toEqual({
      step: Step.DIRECTORY,
      errno: ENOTDIR,
      subject: join(directory, 'file'),
    });
    const file = openSync(join(directory, 'file'), 'r');
    expect(failureOf(['true'], { cwd: file })).toEqual({ step: Step.DIRECTORY, errno: ENOTDIR, subject: '' });
    closeSync(file);
  });

  it('has a descriptor past the limit, named by its number', () => {
    const limit = openFilesLimit();
    expect(failureOf(['true'], { fds: { [limit]: 2 } })).toEqual({ step: Step.DESCRIPTOR, errno: EBADF, subject: String(limit) });
    expect(failureOf(['true'], { fds: { 7: 1_000_000_000 } })).toEqual({ step: Step.DESCRIPTOR, errno: EBADF, subject: '7' });
  });

  it('has a limit that cannot be, named by its number', () => {
    const below = { step: Step.LIMIT, errno: EINVAL, subject: '7' };
    expect(failureOf(['true'], { limits: [RLIMIT_NOFILE, 20, 10] })).toEqual(below);
    expect(failureOf(['true'], { limits: [99, 1, 1] })).toEqual({ step: Step.LIMIT, errno: EINVAL, subject: '99' });
  });

  it('is found but may not be run', () => {
    const directory = scratch();
    const plain = executable(directory, 'plain', 'echo\n', 0o644);
    mkdirSync(join(directory, 'folder'));
    expect(failureOf([plain])).toEqual({ step: Step.EXEC, errno: EACCES, subject: plain });
    expect(failureOf(['plain'], { path: directory })).toEqual({ step: Step.EXEC, errno: EACCES, subject: plain });
    expect(failureOf([join(directory, 'folder')])).toEqual({ step: Step.EXEC, errno: EISDIR, subject: join(directory, 'folder') });
    expect(failureOf(['folder'], { path: directory })).toEqual({ step: Step.PROGRAM, errno: ENOENT, subject: 'folder' });
  });

  it('is a binary of another machine', () => {
    const directory = scratch();
    const program = patched(directory, 'program', (bytes) => bytes.writeUInt16LE(0xabcd, ELF_MACHINE_AT));
    expect(failureOf([program])).toEqual({ step: Step.EXEC, errno: ENOEXEC, subject: program });
    const data = executable(directory, 'data', Buffer.from([1, 2, 0, 3, 10, 5]));
    expect(failureOf([data])).toEqual({ step: Step.EXEC, errno: ENOEXEC, subject: data });
  });

  it('has more arguments than the kernel takes', () => {
    expect(failureOf(['true', 'x'.repeat(200_000)])).toEqual({ step: Step.EXEC, errno: E2BIG, subject: '/usr/bin/true' });
  });

  it('has a name that the kernel does not take', () => {
    const directory = scratch();
    symlinkSync('loop', join(directory, 'loop'));
    expect(failureOf([join(directory, 'loop')])).toEqual({ step: Step.EXEC, errno: ELOOP, subject: join(directory, 'loop') });
    const long = 'n'.repeat(300);
    expect(failureOf([long])).toMatchObject({ step: Step.EXEC, errno: ENAMETOOLONG });
  });

  it('is being written', () => {
    const program = executable(scratch(), 'program', readFileSync('/bin/true'));
    const writer = openSync(program, 'r+');
    expect(failureOf([program])).toEqual({ step: Step.EXEC, errno: ETXTBSY, subject: program });
    closeSync(writer);
  });

  it('is to lead a terminal that is none', () => {
    expect(failureOf(['true'], { terminal: { kind: 1, fd: 0 } })).toEqual({ step: Step.TERMINAL, errno: ENOTTY, subject: '0' });
  });

  it('is to be born in a cgroup that is gone', (t) => {
    needs(t, 'root', 'cgroup2 (writable)');
    const place =
      readFileSync('/proc/self/mounts', 'utf8')
        .split('\n')
        .map((line) => line.split(' '))
        .find(([, , type]) => type === 'cgroup2')?.[1] ?? '';
    const directory = join(place, `holdfast-test-${process.pid}`);
    mkdirSync(directory);
    const cgroupFd = openSync(directory, 'r');
    rmdirSync(directory);
    expect(failureOf(['true'], { cgroupFd })).toMatchObject({ step: Step.CONTAINMENT });
    closeSync(cgroupFd);
  });

  it('does not keep the next one from starting', async () => {
    const directory = scratch();
    copyFileSync('/bin/true', join(directory, 'true'));
    chmodSync(join(directory, 'true'), 0o600);
    for (let i = 0; i < 50; i++) failureOf([join(directory, 'true')]);
    expect(await outputOf(['echo', 'fine'])).toBe('fine\n');
  });
});
