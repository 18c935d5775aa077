// Pins `runner-exec __enter __capture STEM`: the environ as bytes in a file of its own, whole or not at all, and without what the way
// in has put there.

import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { installed } from '../../../src/install.js';

const folder = mkdtempSync(join(tmpdir(), 'holdfast-capture-'));
const stem = join(folder, 'web');

beforeEach(() => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** @param script bash code before the shim; bash, since Node gives no raw bytes. */
function capture(script: string, to = stem): { status: number | null; stderr: string } {
  const code = `${script}\nexec "$0" __enter __capture "$1"`;
  const { status, stderr } = spawnSync('bash', ['--norc', '-c', code, installed.runnerExec, to], {
    env: { PATH: '/usr/bin:/bin' },
    encoding: 'utf8',
  });
  return { status, stderr };
}

const captured = (): string[] => readFileSync(`${stem}.capture`, 'latin1').split('\0').slice(0, -1);

describe('the capture for a snapshot', () => {
  it('is every variable, byte for byte, in a file of mode 0600', () => {
    expect(
      capture(`umask 0; export RAW=$'\\xff\\n=' EMPTY= BIG=$(head -c 120000 /dev/zero | tr '\\0' x); f() { :; }; export -f f`),
    ).toEqual({ status: 0, stderr: '' });
    expect(captured()).toEqual(expect.arrayContaining(['RAW=\xff\n=', 'EMPTY=', `BIG=${'x'.repeat(120_000)}`, 'BASH_FUNC_f%%=() {  :\n}']));
    expect(captured().filter((pair) => pair.startsWith('_='))).toEqual([]);
    expect(statSync(`${stem}.capture`).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['web.capture']);
  });

  it('has the user’s own BASH_ENV back, and nothing of ours', () => {
    capture('export BASH_ENV=/ours HOLDFAST_LAUNCH=/ours HOLDFAST_USER_BASH_ENV=/users');
    expect(captured().filter((pair) => /^(BASH_ENV|HOLDFAST_\w+)=/.test(pair))).toEqual(['BASH_ENV=/users']);
    capture('export BASH_ENV=/ours HOLDFAST_LAUNCH=/ours');
    expect(captured().filter((pair) => /^(BASH_ENV|HOLDFAST_\w+)=/.test(pair))).toEqual([]);
  });

  it('replaces what a killed one left, and a whole one', () => {
    writeFileSync(`${stem}.capture.new`, 'half');
    writeFileSync(`${stem}.capture`, 'old');
    expect(capture('export MARK=new').status).toBe(0);
    expect(captured()).toContain('MARK=new');
    expect(readdirSync(folder)).toEqual(['web.capture']);
  });

  it('that cannot be written is said, and leaves nothing', () => {
    expect(capture('', join(folder, 'missing/web'))).toEqual({
      status: 126,
      stderr: 'runner-exec: cannot write down the environment: No such file or directory\n',
    });
    expect(capture('', `${folder}/${'x'.repeat(5000)}`)).toEqual({ status: 126, stderr: expect.stringMatching(/File ?name too long/) });
    mkdirSync(`${stem}.capture`);
    writeFileSync(`${stem}.capture/in-the-way`, '');
    expect(capture('').status).toBe(126);
    chmodSync(`${stem}.capture`, 0o700);
    expect(readdirSync(folder)).toEqual(['web.capture']);
  });

  it('is for the opener alone: other words are refused', () => {
    const { status, stderr } = spawnSync(installed.runnerExec, ['__enter', '__capture'], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([125, expect.stringContaining("'__enter' needs NODE, CLI and STEM")]);
  });
});
