// Pins src/agent/wrapper-words.ts: what is put before a command as it came is what the rewriting would have made of it.

import { describe, expect, it } from 'vitest';
import { NO_CHANGES, WrapperWords } from '../../../src/agent/wrapper-words.js';
import type { RunRequest } from '../../../src/protocol/run.js';
import { packStrings, splitStrings } from '../../../src/protocol/strings.js';
import { wrapCommand } from '../../../src/wrap/command.js';
import type { WrapDefinition } from '../../../src/wrap/definition.js';
import type { StartProof } from '../../../src/wrap/inside.js';
import { NASTY, wrapOf } from '../wrap/wraps.js';

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

/** Only what is looked at. */
function runOf(argv: readonly string[], cwd = '/', program = ''): RunRequest {
  const nothing = { exact: false, detach: false, report: false, cwdByDescriptor: cwd === '', hasCaller: false, nice: undefined, umask: 0 };
  return {
    ...nothing,
    terminal: { kind: 'plain' },
    ignored: 0n,
    killGraceMs: undefined,
    timeoutMs: undefined,
    fds: [],
    limits: [],
    argv: packStrings(argv.map(latin1)),
    program: latin1(program),
    env: packStrings([]),
    cwd: latin1(cwd),
  };
}

function words(wrap: WrapDefinition, run: RunRequest, told?: StartProof): string[] | undefined {
  const before = new WrapperWords(wrap).before(run, told);
  if (before === undefined) return undefined;
  const all = [...splitStrings(before), ...splitStrings(run.argv)];
  expect(before.count).toBe(all.length - run.argv.count);
  return all.map((word) => word.toString('latin1'));
}

const UNSHARE = wrapOf({ prefix: ['unshare', '--mount'], cwdOption: '--wd=', endOfOptions: '--' });
const CHROOT = wrapOf({ prefix: ['chroot'], operand: ['/r'], startsIn: '/' });
const BWRAP = wrapOf({ prefix: ['bwrap'], cwdOption: '--chdir', endOfOptions: '--', tells: 'status', statusOption: '--status' });

describe('the words of a wrapper', () => {
  it.each([
    ['unshare', UNSHARE, '/a b', undefined],
    ['chroot', CHROOT, '/', undefined],
    ['bwrap', BWRAP, '/a', { kind: 'status', fd: 7 } as const],
  ])('are those of the rewriting: %s', (_, wrap, cwd, proof) => {
    for (const argv of [['make'], ['make', ...NASTY], ['\xff', '']]) {
      const { argv: whole } = wrapCommand(wrap, { argv, environment: NO_CHANGES, cwd, isTerminal: false, proof });
      expect(words(wrap, runOf(argv, cwd), proof)).toEqual(whole);
    }
  });

  it('follow the directory, and the number that the status has', () => {
    const unshare = new WrapperWords(UNSHARE);
    const text = (run: RunRequest): string => unshare.before(run, undefined)?.block.toString('latin1') ?? '';
    expect(text(runOf(['x'], '/a'))).toBe('unshare\0--mount\0--wd=/a\0--\0');
    expect(text(runOf(['y'], '/a'))).toBe('unshare\0--mount\0--wd=/a\0--\0');
    expect(text(runOf(['x'], '/b'))).toBe('unshare\0--mount\0--wd=/b\0--\0');
    expect(text(runOf(['x'], ''))).toBe('unshare\0--mount\0--\0');
    const bwrap = new WrapperWords(BWRAP);
    expect([3, 4].map((fd) => bwrap.before(runOf(['x']), { kind: 'status', fd })?.block.toString())).toEqual([
      'bwrap\0--status\x003\0--chdir\0/\0--\0',
      'bwrap\0--status\x004\0--chdir\0/\0--\0',
    ]);
  });

  it.each<[string, WrapDefinition, RunRequest, StartProof | undefined]>([
    ['a directory that a shell has to enter', CHROOT, runOf(['x'], '/a'), undefined],
    ['another name for the command', UNSHARE, runOf(['x'], '/', '/bin/y'), undefined],
    ['a word that the wrapper would take for its own', CHROOT, runOf(['-x']), undefined],
    ['a sign', UNSHARE, runOf(['x']), { kind: 'descriptor', fd: 3 }],
    ['words that are mapped', { ...UNSHARE, mapArgv: true }, runOf(['x']), undefined],
    ['words that have to be text', { ...UNSHARE, textOnly: true }, runOf(['x']), undefined],
    ['a terminal that is given', { ...UNSHARE, ttyOption: ['-t'] }, runOf(['x']), undefined],
    ['a marker', { ...UNSHARE, farSide: 'marker' }, runOf(['x']), undefined],
    ['variables that go another way', { ...UNSHARE, envStyle: 'option' }, runOf(['x']), undefined],
    ['a string', { ...UNSHARE, commandStyle: 'string' }, runOf(['x']), undefined],
  ])('are made anew for %s', (_, wrap, run, told) => {
    expect(words(wrap, run, told)).toBeUndefined();
  });
});
