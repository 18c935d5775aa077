// The harness's terminal, tried on plain programs: what it shows of ours is only worth as much as this.

import { expect, it } from 'vitest';
import { eventually } from '../../harness/eventually.js';
import { descriptorsOf } from '../../harness/processes.js';
import { Terminal } from '../../harness/terminal.js';

const env = { PATH: process.env.PATH ?? '', TERM: 'dumb' };

it('shows all that a program writes, to the last line', async () => {
  for (let round = 0; round < 20; round++) {
    const terminal = new Terminal(['sh', '-c', 'seq 4000; exit 3'], { env });
    const { code, text } = await terminal.ended();
    expect(code).toBe(3);
    expect(text.trimEnd().split('\r\n')).toHaveLength(4000);
  }
});

it('is a controlling terminal with the size asked for, and can be resized', async () => {
  const terminal = new Terminal(['sh', '-c', 'trap "stty size; exit" WINCH; stty size </dev/tty; while read -r _; do :; done'], {
    env,
    columns: 100,
    rows: 30,
  });
  await terminal.sees('30 100');
  terminal.resize(120, 40);
  await terminal.sees('40 120');
  terminal.close();
  await terminal.exited;
});

it('types keys that are signals', async () => {
  const terminal = new Terminal(['cat'], { env });
  terminal.type('hello\r');
  await terminal.sees(/hello\r\nhello/);
  terminal.type('\x03');
  expect((await terminal.ended()).signal).toBe(2);
});

it('leaves no descriptor open', async () => {
  const before = descriptorsOf('self');
  await new Terminal(['true'], { env }).ended();
  await eventually(() => {
    const left = [...descriptorsOf('self')].filter(([fd, target]) => before.get(fd) !== target && !target.startsWith('anon_inode:'));
    expect(left).toEqual([]);
  });
});
