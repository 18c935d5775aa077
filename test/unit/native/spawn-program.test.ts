// Pins native/spawn_program.c: which file is executed, and with what arguments and environment.

import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Step } from '../../../src/protocol/numbers.js';
import { expectNoDescriptorsLeft } from './descriptors.js';
import { executable, outputOf, scratch, start } from './targets.js';

const says = (word: string): string => `#!/bin/sh\necho ${word}\n`;

describe('the program', () => {
  expectNoDescriptorsLeft();

  it('is the first on the PATH that may be run', async () => {
    const directory = scratch();
    for (const name of ['none', 'folder', 'plain', 'right', 'late']) mkdirSync(join(directory, name));
    mkdirSync(join(directory, 'folder/program'));
    executable(join(directory, 'plain'), 'program', says('plain'), 0o644);
    executable(join(directory, 'right'), 'program', says('right'));
    executable(join(directory, 'late'), 'program', says('late'));
    const path = ['none', 'absent', 'folder', 'plain', 'right', 'late'].map((name) => join(directory, name)).join(':');
    expect(await outputOf(['program'], { path: `/dev/null:${path}` })).toBe('right\n');
  });

  it('is never a shim, which would ask the session for it again', async () => {
    const directory = scratch();
    for (const name of ['shims', 'right']) mkdirSync(join(directory, name));
    executable(join(directory, 'shims'), 'runner-exec', says('shim'));
    for (const name of ['program', 'lost']) symlinkSync('runner-exec', join(directory, 'shims', name));
    executable(join(directory, 'right'), 'program', says('right'));
    const path = ['shims', 'right'].map((name) => join(directory, name)).join(':');
    expect(await outputOf(['program'], { path })).toBe('right\n');
    expect(await outputOf(['runner-exec'], { path })).toBe('shim\n');
    expect(start(['lost'], { path }).result).toMatchObject({ started: false, step: Step.PROGRAM, errno: 2 });
  });

  it('is looked up in its own directory for an empty or relative entry', async () => {
    const cwd = scratch();
    mkdirSync(join(cwd, 'bin'));
    executable(cwd, 'here', says('here'));
    executable(join(cwd, 'bin'), 'there', says('there'));
    for (const path of ['', ':/bin', '/bin:', '/bin::/usr/bin']) expect(await outputOf(['here'], { path, cwd })).toBe('here\n');
    expect(await outputOf(['there'], { path: '/bin:bin', cwd })).toBe('there\n');
  });

  it('is looked up on the default PATH when the target has none', async () => {
    expect(await outputOf(['echo', 'found'], { path: undefined })).toBe('found\n');
  });

  it('is relative to its own directory when it has a slash', async () => {
    const cwd = scratch();
    mkdirSync(join(cwd, 'bin'));
    executable(join(cwd, 'bin'), 'it', says('it'));
    expect(await outputOf(['bin/it'], { cwd, path: undefined })).toBe('it\n');
  });

  it('is the first word, whether that stands before the others or is one of them', async () => {
    const words = ['-c', 'echo "$0 $*"', 'a'];
    expect(await outputOf(['sh', ...words, 'b'])).toBe('a b\n');
    expect(await outputOf(['b', ''], { before: ['sh', ...words] })).toBe('a b \n');
    expect(await outputOf(['b'], { before: ['other', ...words], program: 'sh' })).toBe('a b\n');
  });

  it('may have a name of any bytes', async () => {
    const cwd = scratch();
    executable(cwd, 'plain', says('odd'));
    expect(await outputOf(['sh', '-c', 'cp plain "$(printf "a\\377\\nb")" && ls | wc -l'], { cwd })).toBe('3\n');
    const name = Buffer.from([0x61, 0xff, 0x0a, 0x62]);
    expect(await outputOf([name], { program: Buffer.concat([Buffer.from('./'), name]), cwd })).toBe('odd\n');
  });

  it('is run by sh when it is a script without #!', async () => {
    const directory = scratch();
    const script = executable(directory, 'script', 'echo "$0" "$#" "$1" "$2"\n');
    expect(await outputOf([script, 'a b', ''])).toBe(`${script} 2 a b \n`);
    expect(await outputOf(['script', 'x'], { path: directory })).toBe(`${script} 1 x \n`);
    expect(await outputOf([executable(directory, 'empty', '')])).toBe('');
    expect(await outputOf([executable(directory, 'binary-tail', 'echo head; exit\n\0\0\0')])).toBe('head\n');
  });

  it('gets argv and the environment byte by byte', async () => {
    const odd = Buffer.from('\x01\xff=\n \t"\'$', 'latin1');
    expect(await outputOf(['printf', '%s', odd, '', odd])).toBe(odd.toString('latin1').repeat(2));
    const env = ['A=', 'B==', Buffer.concat([Buffer.from('C='), odd]), 'BASH_FUNC_f%%=() { :; }'];
    expect(await outputOf(['cat', '/proc/self/environ'], { env })).toBe(`A=\0B==\0C=${odd.toString('latin1')}\0BASH_FUNC_f%%=() { :; }\0`);
    expect(await outputOf(['cat', '/proc/self/environ'], { env: [] })).toBe('');
  });

  it('gets an argv of megabytes', async () => {
    const word = 'w'.repeat(100_000);
    const script = 'for word; do [ ${#word} = 100000 ] || echo ${#word}; done; echo $#';
    expect(await outputOf(['sh', '-c', script, 'sh', ...Array<string>(15).fill(word)])).toBe('15\n');
  });

  it('gets the argv[0] that is asked for', async () => {
    expect(await outputOf(['a name', '-c', 'echo "$0"'], { program: '/bin/sh' })).toBe('a name\n');
  });
});
