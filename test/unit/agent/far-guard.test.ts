// Pins src/agent/far-guard.ts and native/guard.c: when the agent is gone, and did not say that all is well, its last word is carried out.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WrapperPlace } from '../../../src/agent/errands.js';
import { FarGuard } from '../../../src/agent/far-guard.js';
import { packLatin1 } from '../../../src/agent/far-side.js';
import { watchChildren } from '../../../src/native/children.js';
import { closeFd } from '../../../src/native/descriptors.js';
import { eventually } from '../../harness/eventually.js';
import { descriptorsOf, isAlive } from '../../harness/processes.js';
import { wrapOf } from '../wrap/wraps.js';

let scratch = '';
const ended: number[] = [];
watchChildren(({ pid }) => void ended.push(pid));
beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'far-guard.'));
});
afterEach(() => rmSync(scratch, { recursive: true, force: true }));

function place(...variables: string[]): WrapperPlace {
  return { env: { ...packLatin1(['PATH=/usr/bin:/bin', ...variables]), path: undefined }, cwd: Buffer.from('/\0') };
}

/** Says what it was told, and in which environment. */
function guardWith(log: string): FarGuard {
  return new FarGuard(wrapOf({ kill: ['sh', '-c', `echo "$1 $2 $V" >>${log}`, 'sh', '{marker}', '{signal}'] }), 'mark.', '', 300);
}

/** The descriptor through which it is told: it is the only pipe that was not there before. */
function pipesOf(before: Map<number, string>): number[] {
  return [...descriptorsOf('self')].filter(([fd, target]) => target.startsWith('pipe:') && before.get(fd) !== target).map(([fd]) => fd);
}

describe('the guard of what is behind a wrapper', () => {
  it('does nothing after an orderly end', async () => {
    const log = join(scratch, 'log');
    const guard = guardWith(log);
    const count = ended.length;
    guard.remember(place('V=1'));
    guard.end();
    await eventually(() => expect(ended.length).toBe(count + 1));
    expect(existsSync(log)).toBe(false);
  });

  it('carries out the last word when its pipe ends', async () => {
    const log = join(scratch, 'log');
    const before = descriptorsOf('self');
    const guard = guardWith(log);
    guard.remember(place('V=old'));
    guard.remember(place(`LARGE=${'x'.repeat(200_000)}`.slice(0, 100_000), 'V=new'));
    guard.remember(place('V=newest'));
    const [pipe] = pipesOf(before);
    if (pipe === undefined) throw new Error('no pipe to the guard');
    closeFd(pipe); // as the kernel does for an agent that is killed
    await eventually(() => expect(readFileSync(log, 'utf8')).toBe('mark. KILL newest\n'));
  });

  it('is another one when it was killed', async () => {
    const log = join(scratch, 'log');
    const guard = guardWith(log);
    guard.remember(place('V=1'));
    const pid = Number([...Array(40_000).keys()].find((each) => guard.isHelper(each)) ?? 0);
    expect(isAlive(pid)).toBe(true);
    process.kill(pid, 'SIGKILL');
    await eventually(() => expect(ended).toContain(pid));
    expect(
      guard.changed({
        pid,
        waitStatus: 9,
        userUs: 0,
        systemUs: 0,
        maxRssKib: 0,
        minorFaults: 0,
        majorFaults: 0,
        blocksIn: 0,
        blocksOut: 0,
        voluntarySwitches: 0,
        involuntarySwitches: 0,
      }),
    ).toBe(true);
    guard.remember(place('V=1'));
    expect(guard.isHelper(pid)).toBe(false);
    guard.end();
  });

  it('tries the host when the wrapper fails', async () => {
    const file = join(scratch, 'file');
    writeFileSync(file, '');
    const before = descriptorsOf('self');
    // What the script does last on the host is to be seen: it removes the file.
    const guard = new FarGuard(wrapOf({ prefix: ['false'] }), 'nobody.has.this.', file, 0);
    guard.remember(place());
    const [pipe] = pipesOf(before);
    if (pipe === undefined) throw new Error('no pipe to the guard');
    closeFd(pipe);
    await eventually(() => expect(existsSync(file)).toBe(false));
  });
});
