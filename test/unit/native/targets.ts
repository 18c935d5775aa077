// Starts targets through src/native.ts as the agent does, with their output in a file, and hears of their changes.

import { closeSync, mkdtempSync, openSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type ChildChange, watchChildren } from '../../../src/native/children.js';
import { closeFd } from '../../../src/native/descriptors.js';
import { killGroup } from '../../../src/native/processes.js';
import { type SpawnRequest, type SpawnResult, spawn } from '../../../src/native/spawn.js';
import { packStrings } from '../../../src/protocol/strings.js';
import { eventually } from '../../harness/eventually.js';

const changes: ChildChange[] = [];
/** What /proc had of each that failed, as nobody had reaped it. */
export const failures: { pid: number; exitCode: number; stat: string }[] = [];
watchChildren(
  (change) => changes.push(change),
  (pid, exitCode) => failures.push({ pid, exitCode, stat: readFileSync(`/proc/${pid}/stat`, 'latin1') }),
);

export interface TargetOptions {
  /** Executed; default: the first word. */
  program?: string | Buffer;
  /** Words in front of argv. */
  before?: readonly string[];
  path?: string | undefined;
  env?: readonly (string | Buffer)[];
  /** A string, or a descriptor of a directory. */
  cwd?: string | number;
  cwdOrRoot?: boolean;
  /** Target number → our descriptor; over 0, 1 and 2, which are /dev/null and the output file. `null`: not passed. */
  fds?: Record<number, number | null>;
  umask?: number;
  ignored?: readonly number[];
  nice?: number;
  limits?: readonly number[];
  terminal?: { kind: number; fd: number };
  cgroupFd?: number;
  /** The program that serves as warden. */
  warden?: string;
}

export interface Target {
  result: SpawnResult;
  /** The target's end. Its output is whole by then. */
  ended(): Promise<{ status: number; output: string; change: ChildChange }>;
}

/** A scratch directory, without links in its path, that is gone after the test. */
export function scratch(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-native-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

export function executable(directory: string, name: string, content: string | Buffer, mode = 0o755): string {
  const path = join(directory, name);
  writeFileSync(path, content, { mode });
  return path;
}

export const terminated = (text: string | Buffer): Buffer => Buffer.concat([Buffer.from(text), Buffer.of(0)]);

const NOWHERE = openSync('/dev/null', 'r');

export function requestFor(argv: readonly (string | Buffer)[], options: TargetOptions, output: number): SpawnRequest {
  const places = new Map<number, number | null>([
    [0, NOWHERE],
    [1, output],
    [2, output],
  ]);
  for (const [number, fd] of Object.entries(options.fds ?? {})) places.set(Number(number), fd);
  const passed = [...places].flatMap(([number, fd]) => (fd === null ? [] : [{ number, fd }]));
  const { cwd = '/' } = options;
  let ignored = 0n;
  for (const signal of options.ignored ?? []) ignored |= 1n << BigInt(signal - 1);
  return {
    program: options.program === undefined ? undefined : terminated(options.program),
    searchPath: 'path' in options ? (options.path === undefined ? undefined : terminated(options.path)) : terminated('/usr/bin:/bin'),
    before: options.before === undefined ? undefined : packStrings(options.before),
    argv: packStrings(argv),
    env: packStrings(options.env ?? ['LC_ALL=C']),
    cwd: typeof cwd === 'string' ? terminated(cwd) : undefined,
    cwdFd: typeof cwd === 'string' ? -1 : cwd,
    cwdOrRoot: options.cwdOrRoot ?? false,
    fds: passed.map(({ fd }) => fd),
    numbers: passed.map(({ number }) => number),
    umask: options.umask ?? 0o022,
    ignored,
    nice: options.nice,
    terminal: options.terminal?.kind ?? 0,
    terminalFd: options.terminal?.fd ?? 0,
    limits: Float64Array.from(options.limits ?? []),
    cgroupFd: options.cgroupFd ?? -1,
    warden: options.warden === undefined ? undefined : terminated(options.warden),
  };
}

/** Starts one; it is killed, with its group, and reaped at the end of the test if it still runs. */
export function start(argv: readonly (string | Buffer)[], options: TargetOptions = {}): Target {
  const outputPath = join(scratch(), 'output');
  const output = openSync(outputPath, 'a');
  let result: SpawnResult;
  try {
    result = spawn(requestFor(argv, options, output));
  } finally {
    closeSync(output);
  }
  if (!result.started) return { result, ended: () => Promise.reject(new Error('it was not started')) };
  if (result.pidfd >= 0) closeFd(result.pidfd);
  const { pid } = result;
  const end = async (): Promise<ChildChange> =>
    await eventually(() => {
      const found = changesOf(pid).find(({ waitStatus }) => waitStatus !== 0xffff && (waitStatus & 0xff) !== 0x7f);
      if (found === undefined) throw new Error(`target ${pid} has not ended`);
      return found;
    });
  onTestFinished(async () => {
    killGroup(pid, 9);
    await end();
  });
  return {
    result,
    async ended() {
      const change = await end();
      return { status: change.waitStatus, output: readFileSync(outputPath, 'latin1'), change };
    },
  };
}

/** All changes of one child so far, in order. */
export function changesOf(pid: number): ChildChange[] {
  return changes.filter((change) => change.pid === pid);
}

/** Runs one to its end and hands back what it wrote; fails when it does not start, or not end with 0. */
export async function outputOf(argv: readonly (string | Buffer)[], options: TargetOptions = {}): Promise<string> {
  const target = start(argv, options);
  if (!target.result.started) throw new Error(`step ${target.result.step}, errno ${target.result.errno}, '${target.result.subject}'`);
  const { status, output } = await target.ended();
  if (status !== 0) throw new Error(`ended with status ${status}: ${output}`);
  return output;
}

/** Why it did not start. */
export function failureOf(
  argv: readonly (string | Buffer)[],
  options: TargetOptions = {},
): { step: number; errno: number; subject: string } {
  const { result } = start(argv, options);
  if (result.started) throw new Error('it was started');
  return { step: result.step, errno: result.errno, subject: result.subject.toString() };
}
