// Two programs, one behaviour: whoever runs `runner-exec` must not see whether it is the C client or, where that cannot run,
// `holdfast __runner-exec`. Each line of the table is run through both. What Node cannot do is left out: it forgets at its start
// which signals were ignored, opens /dev/null for a closed descriptor, and loses the tail of a pseudo-terminal.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { programs, useHoldfast } from '../harness/holdfast.js';
import type { Ended, RunOptions } from '../harness/running.js';
import type { Session } from '../harness/session.js';

const holdfast = useHoldfast();

const CLIENTS: [string, ...string[]][] = [[programs.runnerExec], [process.execPath, programs.holdfast, '__runner-exec']];

let opened: Promise<Session> | undefined;
/** One for the whole file. */
function shared(): Promise<Session> {
  opened ??= holdfast.open('parity', {
    shared: true,
    script: `export BASE=base PATH="$PWD/session-bin:$PATH" RAW=$'\\xff'\ngreet() { echo "hi $1"; }`,
  });
  return opened;
}

interface Seen {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

function seenOf({ code, signal, stdout, stderr }: Ended): Seen {
  return { code, signal, stdout: stdout.toString('latin1'), stderr: stderr.toString('latin1') };
}

/** What both clients do with `args`; fails when they differ. */
async function both(args: readonly string[], options: RunOptions = {}): Promise<Seen> {
  const [c, node] = await Promise.all(CLIENTS.map(async (client) => seenOf(await holdfast.run([...client, ...args], options))));
  if (c === undefined) throw new Error('no client');
  expect(node).toEqual(c);
  return c;
}

/** The same for a script in which `$RX` stands for the client and its session. */
async function bothInShell(script: string, options: RunOptions = {}): Promise<Seen> {
  const runs = CLIENTS.map(async (client) => {
    const words = [...client, '--session', 'parity'].map((word) => `'${word}'`).join(' ');
    return seenOf(await holdfast.run(['bash', '-c', script.replaceAll('$RX', words)], options));
  });
  const [c, node] = await Promise.all(runs);
  if (c === undefined) throw new Error('no client');
  expect(node).toEqual(c);
  return c;
}

const say = (script: string): string[] => ['--', 'sh', '-c', script];
const S = ['--session', 'parity'];

/** All of it at once where the machine can, four at a time; throws with every difference, not only the first. */
async function eachOf<T extends readonly [string, ...unknown[]]>(cases: readonly T[], check: (one: T) => Promise<void>): Promise<void> {
  const failures: string[] = [];
  const left = [...cases];
  const worker = async (): Promise<void> => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) {
      await check(one).catch((error: unknown) =>
        failures.push(`${JSON.stringify(one)}: ${error instanceof Error ? error.message : error}`),
      );
    }
  };
  await Promise.all(Array.from({ length: 4 }, worker));
  expect(failures.join('\n\n')).toBe('');
}

describe('both clients', () => {
  it('find the project around a path, as the tool does with its NAME', async () => {
    const project = holdfast.folder('around');
    mkdirSync(join(project, 'deep/er'), { recursive: true });
    writeFileSync(join(project, 'holdfast.toml'), '[session]\nlauncher = ["env", "AROUND=yes"]\n');
    expect((await holdfast.holdfast(['open', '.'], { cwd: project })).code).toBe(0);
    for (const [path, cwd] of [
      ['.', ''],
      ['..', 'deep/er'],
      ['./er', 'deep'],
      ['../deep/', 'deep'],
    ] as const) {
      const seen = await both(['--session', path, '--', 'printenv', 'AROUND'], { cwd: join(project, cwd) });
      expect([path, seen.code, seen.stdout]).toEqual([path, 0, 'yes\n']);
    }
    expect((await holdfast.holdfast(['close', '.'], { cwd: project })).code).toBe(0);
  });

  const cases: [what: string, args: string[], code: number][] = [
    ['end with the status of the command', [...S, ...say('exit 0')], 0],
    ['end with the status of the command', [...S, ...say('exit 77')], 77],
    ['end with the status of the command', [...S, ...say('exit 125')], 125],
    ['end with the status of the command', [...S, ...say('exit 127')], 127],
    ['keep its output and its errors apart', [...S, ...say('echo out; echo err >&2')], 0],
    ['carry a function of the session', [...S, '--', 'bash', '-c', 'greet you'], 0],
    ['pass words on as they are', [...S, '--', 'printf', '[%s]', 'a b', '', '$HOME', '--', '-x', '\n'], 0],
    ['take the first word without dashes as the command', [...S, 'echo', '--session', 'x'], 0],
    ['set a variable', [...S, '-e', 'A=1', '--env', 'B=', '--env=C=x=y', ...say('echo "$A-${B-unset}-$C"')], 0],
    [
      'pass a variable on, and none that is not there',
      [...S, '--pass-env', 'GIVEN', '--pass-env', 'ABSENT', ...say('echo "$GIVEN-${ABSENT-unset}"')],
      0,
    ],
    ['pass all on, beneath the session', [...S, '--pass-env', '*', ...say('echo "$GIVEN-$BASE-${HOLDFAST_RUNTIME_DIR:+named}"')], 0],
    ['leave a variable out', [...S, '--unset', 'BASE', ...say('echo "${BASE-unset}"')], 0],
    ['put directories in front of PATH', [...S, '--path-prepend', '/a', '--path-prepend', '/b', ...say('echo "${PATH%%session-bin*}"')], 0],
    ['give what is said and no more', [...S, '--exact', '-e', 'A=1', '--', '/usr/bin/env'], 0],
    ['change the directory', [...S, '--cwd', '/usr/bin', ...say('pwd; echo $PWD')], 0],
    ['change the directory, relative to the own', [...S, '--cwd', 'tmp', ...say('pwd')], 0],
    ['name the program otherwise', [...S, '--argv0', 'odd', '--', 'bash', '-c', 'echo $0'], 0],
    [
      'set limits and niceness',
      [...S, '--limit', 'nofile=100', '--limit', 'core=0:0', '--nice', '5', ...say('ulimit -n; ulimit -c; nice')],
      0,
    ],
    ['find a program that is not there missing', [...S, '--', 'no-such-program'], 127],
    ['find a path that is not there missing', [...S, '--', './no-such-program'], 127],
    ['tell that a word is of the shell', [...S, '--', 'cd', '/'], 127],
    ['find a directory not runnable', [...S, '--', '/'], 126],
    ['find a plain file not runnable', [...S, '--', '/etc/passwd'], 126],
    ['miss an empty name', [...S, '--', ''], 127],
    ['miss the directory', [...S, '--cwd', '/no/such', '--', 'true'], 125],
    ['refuse a directory of one process', [...S, '--cwd', '/proc/self/fd', '--', 'true'], 125],
    ['refuse a limit that cannot be', [...S, '--limit', 'nofile=9999999:9999999', '--', 'true'], 125],
    ['end a command at its deadline', [...S, '--timeout', '100ms', '--kill-grace', '100ms', '--', 'sleep', '600'], 124],
    ['name a session that is not open', ['--session', 'absent', '--', 'true'], 125],
    ['name a socket that is not there', ['--socket', '/no/such', '--', 'true'], 125],
    ['miss a project', ['--project-less', '--', 'true'], 125],
    ['miss a project by its path', ['--session', '../../../../../../../../..', '--', 'true'], 125],
    ['miss a directory', ['--session', './none', '--', 'true'], 125],
    ['take a name with a dot for a name', ['--session', '.none', '--', 'true'], 125],
    ['miss a command', S, 125],
    ['miss a value', ['--cwd'], 125],
    ['know no such option', ['--sesion', 'x', '--', 'true'], 125],
    ['know no such option', ['-x', '--', 'true'], 125],
    ['refuse an empty name', ['--session', '', '--', 'true'], 125],
    ['refuse a value that an option does not take', ['--exact=1', '--', 'true'], 125],
    ['refuse a variable without a value', ['--env', 'X', '--', 'true'], 125],
    ['refuse a variable without a name', ['--env', '=X', '--', 'true'], 125],
    ['refuse a descriptor that is not open', [...S, '--fd', '9', '--', 'true'], 125],
    ['refuse a descriptor that is none', [...S, '--fd', 'x', '--', 'true'], 125],
    ['refuse a limit that is none', [...S, '--limit', 'foo=1', '--', 'true'], 125],
    ['refuse a niceness that is none', [...S, '--nice', '20', '--', 'true'], 125],
    ['refuse a time that is none', [...S, '--timeout', 'soon', '--', 'true'], 125],
    ['refuse what excludes each other', [...S, '--detach', '--pty', '--', 'true'], 125],
    ['refuse a report that cannot be written', [...S, '--report', '/no/such/report', '--', 'true'], 125],
    ['print the same help', ['--help'], 0],
    ['print the same version', ['--version'], 0],
  ];

  it('do the same with each option, and say the same', async () => {
    await shared();
    await eachOf(cases, async ([, args, code]) => {
      expect(await both(args, { env: { GIVEN: 'given' } })).toMatchObject({ code, signal: null });
    });
  });

  it('die of the signal that the command died of', async () => {
    await shared();
    const signals = ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGKILL', 'SIGSEGV', 'SIGPIPE', 'SIGUSR1'] as const;
    await eachOf(
      signals.map((signal) => [signal] as const),
      async ([signal]) => {
        expect(await both([...S, ...say(`kill -${signal.slice(3)} $$`)])).toMatchObject({ code: null, signal });
      },
    );
  });

  it('are one to a shell', async () => {
    await shared();
    const scripts: [what: string, script: string][] = [
      ['hand on what is typed, and leave the rest', `printf '1\\n2\\n' | { $RX -- sh -c 'read x; echo $x'; cat; }`],
      ['pass bytes that are no text', `$RX -- printf %s $'\\xff\\xc3(' $'\\n'; $RX -e $'B=\\xfe' -- sh -c 'printf %s "$B$RAW"'`],
      ['work in a directory whose name is no text', `mkdir -p "$TMPDIR"/$'d\\xe9' && cd "$TMPDIR"/$'d\\xe9' && $RX -- pwd`],
      ['work in a directory that is gone', `d=$(mktemp -d); cd "$d"; rmdir "$d"; $RX -- sh -c 'echo here'`],
      ['keep the mask', 'for m in 0077 0002; do umask $m; $RX -- sh -c umask; done'],
      ['close what is closed', `$RX -- sh -c 'echo x >&2' >&-; $RX -- sh -c 'echo x' 2>&-`],
      ['pass a descriptor', `exec 7< <(echo seven); $RX --fd 7 -- cat /proc/self/fd/7; $RX -- sh -c 'ls /proc/$$/fd; :'`],
      ['end as a pipeline wants it', `$RX -- yes | head -n1; echo \${PIPESTATUS[*]}`],
      ['write in order', `{ echo a; $RX -- echo b; echo c; } 2>&1; $RX -- sh -c 'echo d; echo e >&2' 2>&1`],
      [
        'name the logical directory',
        `ln -sfn /usr "$TMPDIR/link-$$" && cd "$TMPDIR/link-$$" && $RX -- sh -c 'echo "\${PWD##*/}" | tr -d 0-9'; rm "$TMPDIR/link-$$"`,
      ],
      ['take the session from the environment', `HOLDFAST_SESSION=absent $RX -- echo flag`],
    ];
    await eachOf(scripts, async ([, script]) => {
      const { code, stderr } = await bothInShell(script);
      expect(code).toBe(0);
      expect(stderr).not.toContain('runner-exec');
    });
  });

  it('write the same report, but for times and numbers', async () => {
    await shared();
    const report = join(holdfast.folder(), 'report');
    const flags = ['--report', report, '-e', 'A=secret', '--pass-env', 'GIVEN', '--unset', 'BASE', '--path-prepend', '/x'];
    const commands = [say('sleep 600 & exit 3'), say('kill -9 $$'), ['--', 'no-such-program'], ['--timeout', '50ms', '--', 'sleep', '600']];
    for (const command of commands) {
      const reports: unknown[] = [];
      for (const client of CLIENTS) {
        writeFileSync(report, '');
        await holdfast.start([...client, ...S, ...flags, ...command], { env: { GIVEN: 'secret' }, stdout: 'ignore' }).exited;
        const text = readFileSync(report, 'utf8');
        expect(text).not.toContain('secret');
        const parsed = JSON.parse(text);
        for (const pid of parsed.leftovers ?? []) process.kill(pid, 'SIGKILL');
        reports.push(withoutNumbers(parsed));
      }
      expect(reports[1]).toEqual(reports[0]);
    }
  });

  it('say the same of a session that is lost', async () => {
    const seen: string[] = [];
    for (const client of CLIENTS) {
      const session = await holdfast.open('lost');
      const running = holdfast.start([...client, '--session', 'lost', '--', 'sh', '-c', 'echo ready; exec sleep 600']);
      await running.outputLine('ready');
      // The target may be faster than the word of its start.
      await eventually(async () => expect(await session.status()).toMatchObject({ running: 1 }));
      process.kill(session.pid, 'SIGKILL');
      const { code, stderr } = await running.ended;
      seen.push(`${code} ${stderr}`.replace(/pid \d+(, which then died of SIGKILL)?/g, 'pid N'));
      await session.close();
    }
    expect(seen[0]).toMatch(/^125 runner-exec: session 'lost' was lost while 'sh' ran \(pid N\).*; hint: .*\n$/);
    expect(seen[1]).toBe(seen[0]);
  });

  it('say the same of a session that is busy', async () => {
    const session = await holdfast.open('busy', { flags: ['--max-concurrent', '1', '--max-queue', '0'] });
    const first = session.start(['sh', '-c', 'echo ready; read line'], { stdin: 'open' });
    await first.outputLine('ready');
    const { code, stderr } = await both(['--session', 'busy', '--', 'true']);
    expect(`${code} ${stderr}`).toMatch(/^125 runner-exec: session 'busy' refused: .*; hint: .*\n$/);
    first.endInput();
    await first.ended;
  });
});

/** Pids, times and sizes differ from run to run; that they are there does not. */
function withoutNumbers(value: unknown): unknown {
  if (typeof value === 'number') return value > 255 || value === 0 ? 'number' : value;
  if (Array.isArray(value)) return value.map(withoutNumbers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [
      key,
      ['usage', 'timings', 'tree'].includes(key) ? Object.keys(Object(each)) : withoutNumbers(each),
    ]),
  );
}
