// What must be true of a command behind any wrapper: the same questions for all of them, on the real ones.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, type TestContext } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { type Holdfast, programs } from '../harness/holdfast.js';
import { allProcesses } from '../harness/processes.js';
import type { Ended, RunOptions } from '../harness/running.js';
import type { Session } from '../harness/session.js';
import { Terminal } from '../harness/terminal.js';
import type { Engines } from './use-engines.js';

const PATIENCE_MS = 30_000;

export interface Kind {
  readonly name: string;
  /** Flags of `holdfast open`. `folder`: a directory that is to be at the same place inside. */
  flags(test: TestContext, folder: string): readonly string[] | Promise<readonly string[]>;
  /** A second session whose wrapper cannot work: a container that is not there. Absent: there is no such thing. */
  broken?(test: TestContext): readonly string[] | Promise<readonly string[]>;
  /** How the end of a command by a signal looks: as it is, or as the wrapper's exit code. */
  readonly killed: 'signal' | number;
  /** A command takes so little that all 256 are tried. */
  readonly isCheap?: boolean;
  /** The wrapper stays in the command's group, where a terminal that is handed over interrupts both. */
  readonly staysInGroup?: boolean;
  /** The wrapper itself does not start in a directory with a newline in its name. */
  readonly isPlainOnly?: boolean;
  /** Bytes that are no text are refused. */
  readonly isText?: boolean;
  /** Each command has a process 1 of its own, with whom all ends. */
  readonly isOwnWorld?: boolean;
}

/** Words that something on the way would change: a shell, a join, a wrapper that takes them for its own. */
const NASTY: readonly string[] = [
  'a b',
  '',
  '$HOME',
  "x'y",
  '"q"',
  '*',
  'n\nl',
  '\\',
  ';id',
  '-e',
  '--',
  '-i',
  '{id}',
  '`id`',
  '!',
  '~',
  'é',
  '#c',
  '&&',
  '\t',
];
const STATUSES: readonly number[] = [0, 1, 2, 3, 42, 100, 124, 125, 126, 127, 128, 137, 200, 254, 255];

let serial = 0;
/** An argument of `sleep` that no other process has. */
function uniqueSleep(): string {
  return `31${String(process.pid).padStart(5, '0')}${++serial}`;
}

/** Processes of every container and namespace of this machine are processes of this machine. */
function sleeping(mark: string): string[] {
  return allProcesses().flatMap(({ pid, state, command }) =>
    state !== 'Z' && command.includes(`sleep ${mark}`) && !command.includes('sh -c') ? [`${pid} ${command}`] : [],
  );
}

/** Flags of `holdfast open` for a preset and its options. */
export function preset(name: string, options: Readonly<Record<string, string | readonly string[]>>, ...more: readonly string[]): string[] {
  const given = Object.entries(options).flatMap(([key, value]) => [value].flat().flatMap((each) => ['--option', `${key}=${each}`]));
  return ['--preset', name, ...given, ...more];
}

export function describeContract(holdfast: Holdfast, engines: Engines, kinds: readonly Kind[]): void {
  const folder = join(engines.site.scratch, 'work');
  mkdirSync(folder, { mode: 0o755 });
  const odd = join(folder, "it's a\nfolder");
  mkdirSync(odd);
  const plain = join(folder, 'a dir');
  mkdirSync(plain);
  writeFileSync(join(folder, 'not-executable'), 'text\n', { mode: 0o644 });

  describe.each(kinds)('behind $name', (kind) => {
    const { name, killed } = kind;
    let opened: Promise<Session> | undefined;

    async function open(flags: readonly string[], as: string, shared: boolean): Promise<Session> {
      const { code, stderr } = await holdfast.holdfast(['open', as, '--kill-grace', '300ms', ...flags], { cwd: folder });
      if (code !== 0) throw new Error(`'${as}' does not open: ${stderr}`);
      return await holdfast.adopt(as, shared, folder);
    }

    /** One session for all tests of the kind. */
    async function session(test: TestContext): Promise<Session> {
      const flags = await kind.flags(test, folder);
      opened ??= open(flags, name, true);
      return await opened;
    }

    async function exec(
      test: TestContext,
      command: readonly string[],
      options: RunOptions & { flags?: readonly string[] } = {},
    ): Promise<Ended> {
      return await (await session(test)).exec(command, { cwd: folder, ...options });
    }

    it('words arrive as they are', async (t) => {
      const { code, stdout, stderr } = await exec(t, ['printf', '%s\\0', ...NASTY]);
      expect({ code, stdout: `${stdout}`, stderr: `${stderr}` }).toEqual({
        code: 0,
        stdout: NASTY.map((word) => `${word}\0`).join(''),
        stderr: '',
      });
      const bytes: Ended = await holdfast.run(
        ['bash', '-c', `exec "$@" printf '%s' $'\\xff\\xfe\\x01'`, 'bash', programs.runnerExec, '--session', name, '--'],
        { cwd: folder },
      );
      expect({ out: bytes.stdout.toString('latin1'), err: `${bytes.stderr}` }).toEqual(
        kind.isText ? { out: '', err: expect.stringContaining('is not UTF-8') } : { out: '\xff\xfe\x01', err: '' },
      );
    });

    it('variables arrive as they are, and none of the caller’s that is not named', async (t) => {
      const values: Record<string, string> = {
        N1: 'a b',
        N2: '',
        N3: 'it\'s $HOME `id` \\ "q"',
        N4: 'l1\nl2\n',
        N5: '=é=',
        N6: 'x'.repeat(50_000),
      };
      const flags = Object.entries(values).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
      const { code, stdout, stderr } = await exec(t, ['env', '-0'], {
        flags: [...flags, '--pass-env', 'NAMED9'],
        env: { NAMED9: 'yes', STRAY9: 'no' },
      });
      expect({ code, stderr: `${stderr}` }).toEqual({ code: 0, stderr: '' });
      const seen = new Map(`${stdout}`.split('\0').map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
      for (const [key, value] of Object.entries({ ...values, NAMED9: 'yes' })) expect(seen.get(key), key).toBe(value);
      expect(seen.has('STRAY9')).toBe(false);
      expect([...seen.keys()].filter((key) => key.startsWith('HOLDFAST_') && key !== 'HOLDFAST_RUN')).toEqual([]);
    });

    it('the command is in the caller’s directory, whatever its name', async (t) => {
      const own = kind.isPlainOnly ? plain : odd;
      expect((await exec(t, ['pwd'])).stdout.toString()).toBe(`${folder}\n`);
      expect((await exec(t, ['sh', '-c', 'pwd -P'], { cwd: own })).stdout.toString()).toBe(`${own}\n`);
      expect((await exec(t, ['sh', '-c', 'pwd -P'], { flags: ['--cwd', own] })).stdout.toString()).toBe(`${own}\n`);
    });

    it('input and output are passed whole, in bytes', async (t) => {
      const input = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7919) & 0xff));
      const { code, stdout, stderr } = await exec(t, ['sh', '-c', 'cat; echo err >&2'], { stdin: input });
      expect({ code, stderr: `${stderr}` }).toEqual({ code: 0, stderr: 'err\n' });
      expect(stdout.equals(input)).toBe(true);
      expect(await exec(t, ['sh', '-c', 'cat | wc -c'], { stdin: 'ignore' })).toMatchObject({ code: 0, stdout: Buffer.from('0\n') });
    });

    it('the status is the command’s', async (t) => {
      const statuses = kind.isCheap ? Array.from({ length: 256 }, (_, status) => status) : STATUSES;
      await session(t);
      const script = `for c in ${statuses.join(' ')}; do "$@" "exit $c"; printf '%s ' $?; done`;
      const { stdout, stderr } = await holdfast.run(['sh', '-c', script, 'sh', programs.runnerExec, '--session', name, '--', 'sh', '-c'], {
        cwd: folder,
      });
      expect({ stdout: `${stdout}`, stderr: `${stderr}` }).toEqual({ stdout: `${statuses.join(' ')} `, stderr: '' });
      const end = await exec(t, ['sh', '-c', 'kill -9 $$']);
      expect({ code: end.code, signal: end.signal }).toEqual(
        killed === 'signal' ? { code: null, signal: 'SIGKILL' } : { code: killed, signal: null },
      );
    });

    it('a program that is not there is 127, one that cannot be run 126, and only the inside decides', async (t) => {
      const missing = await exec(t, ['no-such-program']);
      expect(missing).toMatchObject({ code: 127, stdout: Buffer.alloc(0) });
      expect(`${missing.stderr}`).toContain('no-such-program');
      expect(await exec(t, ['./not-executable'])).toMatchObject({ code: 126, stdout: Buffer.alloc(0) });
    });

    it('a wrapper that fails is not taken for the command', async (t) => {
      if (kind.broken === undefined) return;
      await session(t);
      const broken = await open(await kind.broken(t), `${name}-broken`, false);
      const { code, stdout, stderr } = await broken.exec(['sh', '-c', 'exit 0'], { cwd: folder });
      expect({ code, stdout: `${stdout}` }).toEqual({ code: 125, stdout: '' });
      expect(`${stderr}`).toContain('runner-exec: ');
    });

    it('a terminal is one inside, and no terminal is none', async (t) => {
      expect(await exec(t, ['test', '-t', '0'], { stdin: 'ignore' })).toMatchObject({ code: 1 });
      const argv = [
        programs.runnerExec,
        '--session',
        name,
        '--',
        'sh',
        '-c',
        'test -t 0 && test -t 1 && until stty size 2>/dev/null | grep "33 101"; do sleep 0.1; done && read x && echo "got-$x"',
      ] as const;
      const terminal = new Terminal([...argv], { env: holdfast.env, cwd: folder, rows: 33, columns: 101 });
      await terminal.sees('33 101', PATIENCE_MS);
      terminal.type('word\r');
      expect(await terminal.ended()).toMatchObject({ code: 0, text: expect.stringContaining('got-word') });
    });

    // Under a shell, as one types it; and on a terminal of its own, which is handed over to the command.
    it.for(['a shell’s', 'its own'])('Ctrl-C at %s terminal interrupts the command once', async (whose, t) => {
      await session(t);
      if (whose === 'its own' && kind.staysInGroup) return;
      const script = 'trap "echo caught-$((40+2)); exit 3" INT; echo ready-$((1+1)); while :; do sleep 0.1; done';
      const client = [programs.runnerExec, '--session', name, '--', 'sh', '-c', script];
      const argv: [string, ...string[]] = ['bash', '-c', whose === 'its own' ? 'exec "$@"' : '"$@"; exit $?', 'bash', ...client];
      const terminal = new Terminal(argv, { env: holdfast.env, cwd: folder });
      await terminal.sees('ready-2', PATIENCE_MS);
      terminal.type('\x03');
      const { code, text } = await terminal.ended();
      expect({ code, caught: text.match(/caught-42/g)?.length }).toEqual({ code: 3, caught: 1 });
    });

    it('a signal reaches the command', async (t) => {
      const running = (await session(t)).start(['sh', '-c', 'trap "echo caught; exit 3" TERM; echo ready; while :; do sleep 0.1; done'], {
        cwd: folder,
      });
      await running.outputLine('ready', PATIENCE_MS);
      running.kill('SIGTERM');
      expect(await running.ended).toMatchObject({ code: 3, stdout: Buffer.from('ready\ncaught\n') });
    });

    it('cancelling ends all of it, inside', async (t) => {
      const mark = uniqueSleep();
      const script = `sleep ${mark} & setsid sleep ${mark} & (trap "" TERM; exec sleep ${mark}) & echo ready; wait`;
      const running = (await session(t)).start(['sh', '-c', script], { cwd: folder });
      await running.outputLine('ready', PATIENCE_MS);
      await eventually(() => expect(sleeping(mark)).toHaveLength(3), PATIENCE_MS);
      running.kill('SIGKILL');
      await eventually(() => expect(sleeping(mark)).toEqual([]), PATIENCE_MS);
    });

    it('a deadline does the same', async (t) => {
      const mark = uniqueSleep();
      const { code } = await exec(t, ['sh', '-c', `sleep ${mark} & wait`], { flags: ['--timeout', '1s', '--kill-grace', '100ms'] });
      expect(code).toBe(124);
      await eventually(() => expect(sleeping(mark)).toEqual([]), PATIENCE_MS);
    });

    it('closing ends what commands left running, and leaves nothing', async (t) => {
      const mark = uniqueSleep();
      const left = await open(await kind.flags(t, folder), `${name}-left`, false);
      expect(await left.exec(['sh', '-c', `sleep ${mark} >/dev/null 2>&1 </dev/null & echo started`], { cwd: folder })).toMatchObject({
        code: 0,
      });
      expect(sleeping(mark)).toHaveLength(kind.isOwnWorld ? 0 : 1);
      await left.close();
      expect(sleeping(mark)).toEqual([]);
    });

    it('ends with the agent, also one that is killed', async (t) => {
      const mark = uniqueSleep();
      const lost = await open(await kind.flags(t, folder), `${name}-lost`, false);
      const running = lost.start(['sh', '-c', `setsid sleep ${mark} & echo ready; sleep ${mark}`], { cwd: folder });
      await running.outputLine('ready', PATIENCE_MS);
      await eventually(() => expect(sleeping(mark)).toHaveLength(2), PATIENCE_MS);
      process.kill(lost.pid, 'SIGKILL');
      await eventually(() => expect(sleeping(mark)).toEqual([]), PATIENCE_MS);
      await running.ended;
    });
  });
}
