// Pins DESIGN section 4 "Descriptors" for those that have a meaning: the slots of a make above, the sockets of systemd, and as
// many others as one message carries.

import { closeSync, mkdirSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { listenUnix } from '../../src/native/sockets.js';
import { programs, useHoldfast } from '../harness/holdfast.js';
import { needs } from '../harness/needs.js';
import type { Session } from '../harness/session.js';

const holdfast = useHoldfast();
let session: Session;

beforeAll(async () => {
  session = await holdfast.open('s', { shared: true });
});

/** Goes in, waits until three are inside or have been, and comes out: what overlaps does so whatever the machine's speed. */
const LEAF = `#!/bin/bash
echo in >>"$LOG"
until [ -e "$LOG.full" ] || [ $((n++)) -gt 400 ]; do
  [ $(($(grep -c in "$LOG") - $(grep -c out "$LOG"))) -ge 3 ] && touch "$LOG.full"
  sleep 0.01
done
echo out >>"$LOG"
`;

/** Two makes below, of four leaves each, started through the session. */
function project(recipe: string): string {
  const folder = holdfast.folder('make');
  writeFileSync(join(folder, 'leaf'), LEAF, { mode: 0o755 });
  writeFileSync(join(folder, 'Makefile'), `all: a b\na b:\n\t${recipe}\n`);
  for (const name of ['a', 'b']) {
    mkdirSync(join(folder, `sub-${name}`));
    writeFileSync(join(folder, `sub-${name}`, 'Makefile'), 'all: 1 2 3 4\n1 2 3 4:\n\t@../leaf\n');
  }
  return folder;
}

function mostInside(log: string): number {
  let inside = 0;
  return Math.max(
    ...readFileSync(log, 'utf8')
      .trim()
      .split('\n')
      .map((line) => (inside += line === 'in' ? 1 : -1)),
  );
}

describe('the slots of make', () => {
  const runner = `'${programs.runnerExec}' --session s`;

  it('are shared by the makes that it starts through a session', async (test) => {
    needs(test, 'make');
    const folder = project(`@${runner} --pass-env LOG -- $(MAKE) --no-print-directory -C sub-$@`);
    const log = join(folder, 'log');
    const { code, stderr } = await holdfast.run(['make', '-j3'], { cwd: folder, env: { LOG: log } });
    // A make that finds no slots, or too few or too many at its end, says so.
    expect([code, `${stderr}`, mostInside(log)]).toEqual([0, '', 3]);
    expect(readFileSync(log, 'utf8').match(/out/g)).toHaveLength(8);
  });

  it('are not given when they are not to be', async (test) => {
    needs(test, 'make');
    for (const flags of ['--no-jobserver', '--exact --pass-env PATH']) {
      const folder = project(`@${runner} ${flags} -- printenv MAKEFLAGS || echo none`);
      const { code, stdout } = await holdfast.run(['make', '-j3'], { cwd: folder });
      expect([code, `${stdout}`]).toEqual([0, 'none\nnone\n']);
    }
    // A job would keep them beyond the make's end.
    const folder = project(`@+${runner} --detach -- sh -c 'readlink /proc/self/fd/*; printenv MAKEFLAGS; echo end'`);
    const { stdout } = await holdfast.run(['make', '-j3'], { cwd: folder });
    for (const id of `${stdout}`.trim().split('\n')) {
      await holdfast.holdfast(['job', 'wait', 's', id]);
      const log = await holdfast.holdfast(['job', 'logs', 's', id]);
      expect(`${log.stdout}`).toMatch(/^\/dev\/null\npipe:(\[\d+\])\npipe:\1\n(\/proc\/\d+\/fd\n)?end\n$/);
    }
  });

  it('that are a fifo are opened by whoever wants one', async () => {
    const fifo = join(holdfast.folder(), 'slots');
    expect((await holdfast.run(['mkfifo', fifo])).code).toBe(0);
    const held = openSync(fifo, 'r+');
    writeFileSync(held, '+-');
    const flags = ` -j3 --jobserver-auth=fifo:${fifo}`;
    const script = 'printf "%s\\n" "$MAKEFLAGS"; exec 9<>"${MAKEFLAGS#*fifo:}"; head -c1 <&9; printf - >&9';
    expect(await session.output(['sh', '-c', script], { env: { MAKEFLAGS: flags } })).toBe(`${flags}\n+`);
    const left = Buffer.alloc(3);
    expect(readSync(held, left)).toBe(2);
    expect(`${left.subarray(0, 2)}`).toBe('--');
    closeSync(held);
    rmSync(fifo);
  });

  it('that were asked for and are not there are an error', async () => {
    const missing = await session.exec(['true'], { flags: ['--jobserver'], env: { MAKEFLAGS: ' -j --jobserver-auth=77,78' } });
    expect([missing.code, `${missing.stderr}`]).toEqual([
      125,
      expect.stringContaining('make did not pass its descriptors to this recipe line'),
    ]);
  });
});

describe('sockets from systemd', () => {
  it('are passed with LISTEN_FDS, as the same numbers', async () => {
    const [listening, file] = [listenUnix(join(holdfast.folder(), 's'), 1), openSync(join(holdfast.folder(), 'file'), 'w')];
    const fds = { 3: listening, 4: file };
    const script = 'echo $LISTEN_FDS; readlink /proc/$$/fd/3 /proc/$$/fd/4; [ -e /proc/$$/fd/5 ] || echo no more';
    const output = await session.output(['sh', '-c', script], { flags: ['--pass-env', 'LISTEN_FDS'], env: { LISTEN_FDS: '2' }, fds });
    expect(output).toMatch(/^2\nsocket:\[\d+\]\n.*\/file\nno more\n$/);
    expect(await session.output(['sh', '-c', '[ -e /proc/$$/fd/3 ] || echo none'], { env: { LISTEN_FDS: '2' }, fds })).toBe('none\n');
    const closed = await session.exec(['true'], { flags: ['--pass-env', 'LISTEN_FDS'], env: { LISTEN_FDS: '3' }, fds });
    expect([closed.code, `${closed.stderr}`]).toEqual([
      125,
      expect.stringContaining('cannot pass descriptor 5 of LISTEN_FDS: it is not open'),
    ]);
    closeSync(file);
    closeSync(listening);
  });
});

describe('as many descriptors as one message carries', () => {
  /** How many a command has that is passed so many from 3 on; or what is said in place of that. */
  async function pass(count: number, before = '', name = 's'): Promise<[number | null, number, string]> {
    const numbers = Array.from({ length: count }, (_, index) => index + 3);
    const open = numbers.map((number) => `exec ${number}</dev/null`).join('\n');
    const flags = numbers.map((number) => `--fd ${number}`).join(' ');
    const script = `${open}\n${before}\nexec '${programs.runnerExec}' --session ${name} ${flags} -- ls /proc/self/fd`;
    const { code, stdout, stderr } = await holdfast.run(['bash', '-c', script]);
    return [code, `${stdout}`.split('\n').length - 1, `${stderr}`];
  }

  // Each time, ls has opened one itself.
  it('arrive; the next one is refused by its number', async () => {
    expect(await pass(250)).toEqual([0, 254, '']);
    expect(await pass(251)).toEqual([125, 0, expect.stringContaining('cannot pass descriptor 253: a command takes at most 253 of them')]);
  });

  it('arrive also where a warden needs one of its own', async () => {
    await holdfast.open('warden', { flags: ['--containment', 'warden'] });
    expect(await pass(250, '', 'warden')).toEqual([0, 254, '']);
  });

  it('count the working directory, where only a descriptor leads to it', async () => {
    const gone = 'cd "$(mktemp -d)" && rmdir "$PWD"';
    expect(await pass(249, gone)).toEqual([0, 253, '']);
    expect(await pass(250, gone)).toEqual([125, 0, expect.stringContaining('from a directory that has no name: the kernel passes 253')]);
  });
});
