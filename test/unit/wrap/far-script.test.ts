// The script that ends what a wrapper left elsewhere, in the shells that may be there, on processes of this machine.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { endWords, FAR_DONE, FAR_LEFT, FAR_NONE, FAR_SCRIPT, signalWords } from '../../../src/wrap/far-script.js';
import { eventually } from '../../harness/eventually.js';
import { needs } from '../../harness/needs.js';
import { isAlive } from '../../harness/processes.js';
import { SHELLS } from './wraps.js';

const started: ChildProcess[] = [];

afterEach(() => {
  for (const child of started.splice(0)) if (child.exitCode === null) child.kill('SIGKILL');
});

function mark(): string {
  return randomBytes(8).toString('hex');
}

/** A command that carries the marker, among other variables, and says when it is ready. */
async function start(marker: string, script: string): Promise<ChildProcess & { pid: number }> {
  const child = spawn('bash', ['-c', `${script}`], {
    env: { PATH: process.env.PATH ?? '', LINES_: 'a\nHOLDFAST=no\n', HOLDFAST_RUN: marker, LAST: 'x' },
    stdio: ['ignore', 'pipe', 'ignore'], // bash tells of what is ended
    detached: true,
  });
  started.push(child);
  await new Promise((resolve) => child.stdout?.once('data', resolve));
  const { pid } = child;
  if (pid === undefined) throw new Error('it did not start');
  return Object.assign(child, { pid });
}

function runScript(shell: readonly string[], words: readonly string[], path = process.env.PATH): number | null {
  const [program = '', ...args] = shell;
  return spawnSync(program, [...args, '-c', FAR_SCRIPT, 'sh', ...words], { env: { PATH: path }, stdio: ['ignore', 'inherit', 'inherit'] })
    .status;
}

describe.each(SHELLS.map((shell) => ({ shell, name: shell.join(' ') })))('the far side, by $name', ({ shell }) => {
  it('is ended with all that it started', async (test) => {
    needs(test, shell[0] ?? '');
    const marker = mark();
    const { pid } = await start(marker, 'setsid sleep 600 & (sleep 601 & echo started; exec sleep 602)');
    expect(runScript(shell, endWords(marker, 2000, 0))).toBe(FAR_DONE);
    await eventually(() => expect(isAlive(pid)).toBe(false));
    expect(runScript(shell, endWords(marker, 2000, 0))).toBe(FAR_NONE);
  });

  it('is killed when it will not go', async (test) => {
    needs(test, shell[0] ?? '');
    const marker = mark();
    const { pid } = await start(marker, 'trap "" TERM; echo started; while :; do sleep 0.1; done');
    expect(runScript(shell, endWords(marker, 300, 0))).toBe(FAR_DONE);
    await eventually(() => expect(isAlive(pid)).toBe(false));
  });

  it('gets a signal once, and what left its group does not', async (test) => {
    needs(test, shell[0] ?? '');
    const marker = mark();
    const child = await start(
      marker,
      `n=0; trap 'n=$((n+1)); echo got $n' USR1; setsid bash -c 'trap "echo strange" USR1; while :; do sleep 0.05; done' & sleep 0.3; echo started; while :; do sleep 0.05; done`,
    );
    let said = '';
    child.stdout?.on('data', (bytes: Buffer) => (said += bytes.toString()));
    expect(runScript(shell, signalWords(marker, 'USR1'))).toBe(FAR_DONE);
    await eventually(() => expect(said).toBe('got 1\n'));
    expect(runScript(shell, signalWords(marker, 'USR1'))).toBe(FAR_DONE);
    await eventually(() => expect(said).toBe('got 1\ngot 2\n'));
    expect(runScript(shell, endWords(marker, 0, 0))).toBe(FAR_DONE);
  });

  it('is found without any tool that looks beyond a NUL', async (test) => {
    needs(test, shell[0] ?? '');
    const marker = mark();
    const { pid } = await start(marker, 'echo started; exec sleep 600');
    const at = spawnSync('which', [shell[0] ?? ''], { encoding: 'utf8' }).stdout.trim();
    expect(runScript([at, ...shell.slice(1)], endWords(marker, 2000, 0), '/nowhere')).toBe(FAR_DONE);
    await eventually(() => expect(isAlive(pid)).toBe(false));
  });
});

describe('the far side', () => {
  it('is waited for while it may be about to start', async () => {
    const marker = mark();
    const script = spawn('dash', ['-c', FAR_SCRIPT, 'sh', ...endWords(marker, 1000, 15_000)], { stdio: 'inherit' });
    const ended = new Promise((resolve) => script.once('exit', resolve));
    void start(marker, 'exec sleep 600'); // ended before it could say anything
    expect(await ended).toBe(FAR_DONE);
  });

  it('has codes that no shell uses for its own', () => {
    expect([FAR_DONE, FAR_NONE, FAR_LEFT].some((code) => code === 1 || code === 2 || code > 100)).toBe(false);
  });
});
