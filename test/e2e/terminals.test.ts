// Terminals: the caller's own, and one of the target's own (-t) that the client relays: size, modes, end of input, all output, and the
// caller's modes put back on every way out. DESIGN section 4 "Terminals". Shells and hand-over are in job-control.test.ts.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { programs, useHoldfast } from '../harness/holdfast.js';
import { needs } from '../harness/needs.js';
import { descendantsOf, findProcess } from '../harness/processes.js';
import type { Session } from '../harness/session.js';
import { Terminal } from '../harness/terminal.js';

const holdfast = useHoldfast();
let session: Session;
const open = new Set<Terminal>();

beforeAll(async () => {
  session = await holdfast.open('s', { shared: true });
});
// Those that a failed test has not ended.
afterEach(async () => {
  for (const terminal of open) terminal.close();
  for (const terminal of open) await terminal.exited;
  open.clear();
});

/** A program on a fresh terminal. */
function on(argv: readonly [string, ...string[]], size: { columns?: number; rows?: number } = {}): Terminal {
  const terminal = new Terminal(argv, { env: { ...holdfast.env, TERM: 'xterm' }, cwd: holdfast.directory, ...size });
  open.add(terminal);
  return terminal;
}

/** bash code on a fresh terminal; `rx` is the client, `modes` says the terminal's. */
function script(code: string, size: { columns?: number; rows?: number } = {}): Terminal {
  const rx = `rx() { '${programs.runnerExec}' --session s "$@"; }; modes() { stty -a | cksum; }`;
  return on(['bash', '--norc', '-c', `${rx}\n${code}`], size);
}

async function ended(terminal: Terminal): Promise<{ code: number; signal: number; text: string }> {
  const end = await terminal.ended();
  open.delete(terminal);
  return end;
}

function pidIn(text: string, name = 'pid'): number {
  return Number(new RegExp(`${name}-(\\d+)`).exec(text)?.[1]);
}

describe('with -t', () => {
  it('the size is right at the first look, and follows the window', async () => {
    const terminal = script(`rx -t -- bash -c 'trap "stty size" WINCH; stty size; while :; do read -t 0.05 line && exit 3; done'`, {
      columns: 91,
      rows: 33,
    });
    await terminal.sees('33 91');
    terminal.resize(120, 44);
    await terminal.sees('44 120');
    terminal.resize(70, 20);
    await terminal.sees('20 70');
    terminal.type('\r');
    expect(await ended(terminal)).toMatchObject({ code: 3 });
  });

  it('the size is the output terminal’s when the input is piped', async () => {
    const terminal = script('echo | rx -t -- stty size', { columns: 91, rows: 33 });
    expect((await ended(terminal)).text).toContain('33 91');
  });

  it('target has a controlling terminal, and 0, 1 and 2 are it', async () => {
    const terminal = script(`rx -t -- sh -c 'tty </dev/tty; tty; readlink /proc/self/fd/1 /proc/self/fd/2; ps -o tpgid=,pgid= -p $$'`);
    const { text } = await ended(terminal);
    const [control, input, output, error, groups] = text.trim().split('\r\n');
    expect(control).toBe('/dev/tty');
    expect(input).toMatch(/^\/dev\/pts\/\d+$/);
    expect([output, error]).toEqual([input, input]);
    expect(new Set(groups?.trim().split(/ +/)).size).toBe(1);
    expect(input).not.toBe(terminal.device);
  });

  it('keys go through as they are, and Ctrl-C interrupts what is inside', async () => {
    const terminal = script(
      `before=$(modes); rx -t -- bash -c 'echo up; IFS= read -rsN 3 keys; printf %s "$keys" | od -An -tx1; trap "echo caught; exit 4" INT; echo more; sleep 60 & wait'; echo status-$?; [ "$before" = "$(modes)" ] && echo restored`,
    );
    await terminal.sees('up');
    terminal.type('\x01\x7f\t');
    await terminal.sees('01 7f 09');
    await terminal.sees('more');
    terminal.type('\x03');
    const { text } = await ended(terminal);
    expect(text).toMatch(/caught\r\n[\s\S]*status-4\r\nrestored/);
  });

  it('end of a piped input is the end of the target’s', async () => {
    const run = await holdfast.run(['bash', '-c', `printf 'a\\nb' | '${programs.runnerExec}' --session s -t -- cat | tr -d '\\r'`]);
    expect(run.stdout.toString()).toBe('a\nb');
    const many = await holdfast.run([
      'bash',
      '-c',
      `seq 50000 | '${programs.runnerExec}' --session s -t -- sh -c 'cat | cksum'; seq 50000 | cksum`,
    ]);
    const [through, direct] = many.stdout.toString().replaceAll('\r', '').split('\n');
    expect(through).toBe(direct);
  });

  it('end-of-file typed is end of file, and the target decides what then', async () => {
    const terminal = script(`rx -t -- sh -c 'cat; echo first; cat; echo second; exit 6'`);
    await eventually(() => expect(descendantsOf(session.pid).some(({ command }) => command === 'cat')).toBe(true));
    terminal.type('x\r\x04');
    await terminal.sees('first');
    terminal.type('y\r\x04');
    expect(await ended(terminal)).toMatchObject({ code: 6, text: expect.stringContaining('second') });
  });

  it('all output comes, in bursts and at the very end, 50 times of 50', async () => {
    const loop = `for i in $(seq 50); do '${programs.runnerExec}' --session s -t -- sh -c 'head -c 300000 /dev/zero | tr "\\0" x; echo; echo end-$1' sh $i </dev/null | tail -c 400000 | cksum; done | sort | uniq -c | wc -l`;
    // The same length and text but for the last number: 9 runs have one digit, 41 two.
    const run = await holdfast.run(['bash', '-c', loop.replace('end-$1', 'end')]);
    expect(run.stdout.toString().trim()).toBe('1');
    const last = await holdfast.run([
      'bash',
      '-c',
      `for i in $(seq 50); do '${programs.runnerExec}' --session s -t -- seq 1 3000 </dev/null | tail -n 1; done | sort | uniq -c`,
    ]);
    expect(last.stdout.toString().trim()).toBe('50 3000');
  });

  it('a command that is over at once is shown as a longer one is', async () => {
    const { text } = await ended(script('for i in {1..20}; do rx -t -- echo out; done'));
    expect(text).toBe('out\r\n'.repeat(20));
  });

  it('a slow reader gets everything too', async () => {
    const run = await holdfast.run([
      'bash',
      '-c',
      `'${programs.runnerExec}' --session s -t -- seq 1 40000 </dev/null | dd bs=64 status=none | wc -l`,
    ]);
    expect(run.stdout.toString().trim()).toBe('40000');
  });

  it('a reader that goes away hangs the terminal up', async () => {
    const run = await holdfast.run([
      'bash',
      '-c',
      `'${programs.runnerExec}' --session s -t -- sh -c 'trap "exit 7" HUP; while :; do echo y || exit 8; done' </dev/null | head -n 1; echo "\${PIPESTATUS[*]}"`,
    ]);
    expect(run.stdout.toString()).toMatch(/^y\r\n[78] 0\n$/);
  });

  it('output goes where stdout goes, and nothing to the terminal', async () => {
    const folder = holdfast.folder();
    const terminal = script(`rx -t -- sh -c 'test -t 1 && echo to-file' >'${folder}/out'; echo done`);
    expect((await ended(terminal)).text).not.toContain('to-file');
    expect(readFileSync(`${folder}/out`, 'utf8')).toBe('to-file\r\n');
  });

  it('closing the caller’s terminal ends the target', async () => {
    const terminal = script(`rx -t -- sh -c 'echo pid-$$; sleep 60 & wait'`);
    await terminal.sees(/pid-\d+\r/);
    const pid = pidIn(terminal.text);
    terminal.close();
    await terminal.exited;
    await eventually(() => expect(findProcess(pid)).toBeUndefined());
  });

  it('in the background it leaves the keys to the shell', async () => {
    const terminal = script(`set -m; rx -t -- sh -c 'echo pid-$$; read line; echo got-$line' & read mine; echo mine-$mine; fg >/dev/null`);
    await terminal.sees(/pid-\d+\r/);
    terminal.type('one\n');
    await terminal.sees('mine-one');
    terminal.type('two\r');
    await terminal.sees('got-two');
    await ended(terminal);
  });
});

describe('the caller’s modes are put back when with -t', () => {
  const around = (code: string): string =>
    `before=$(modes); ${code}; echo "status-$?"; [ "$before" = "$(modes)" ] && echo restored || { stty -a; echo not-restored; }`;
  const long = `rx -t -- sh -c 'trap "" HUP; echo pid-$$; exec sleep 60'`;

  it('the target ends, or cannot be started', async () => {
    for (const [command, status] of [
      ['true', 0],
      ['no-such', 127],
      ['sh -c "stty raw -echo; exit 3"', 3],
    ] as const) {
      const { text } = await ended(script(around(`rx -t -- ${command}`)));
      expect(text).toContain(`status-${status}\r\nrestored`);
    }
  });

  it.for([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGQUIT', 131],
    ['SIGUSR1', 138],
  ] as const)('%s ends it', async ([name, status]) => {
    const terminal = script(around(long));
    await terminal.sees(/pid-\d+\r/);
    process.kill(clientOn(terminal), name);
    const { text } = await ended(terminal);
    expect(text).toMatch(new RegExp(`status-${status}\r\nrestored`));
  });

  it('the deadline ends it', async () => {
    const { text } = await ended(script(around(long.replace('-t', '-t --timeout 300ms'))));
    expect(text).toMatch(/did not end within 300ms[\s\S]*status-124\r\nrestored/);
  });

  it.for(['SIGKILL', 'SIGTERM'] as const)('the agent ends by %s', async (name) => {
    const lost = await holdfast.open('lost');
    const terminal = script(around(long.replace('rx', 'rx --session lost')));
    await terminal.sees(/pid-\d+\r/);
    process.kill(lost.pid, name);
    const { text } = await ended(terminal);
    expect(text).toMatch(/runner-exec: session 'lost' was (lost|closed)[\s\S]*status-125\r\nrestored/);
  });

  function clientOn(terminal: Terminal): number {
    const client = descendantsOf(terminal.pid).find(({ command }) => command.startsWith(programs.runnerExec));
    if (client === undefined) throw new Error('no client runs there');
    return client.pid;
  }
});

describe('the caller’s own terminal', () => {
  it('is the target’s, unchanged', async () => {
    const terminal = script(
      `before=$(modes); rx -- sh -c 'tty; stty size; readlink /proc/self/fd/2'; [ "$before" = "$(modes)" ] && echo same`,
      { columns: 91, rows: 33 },
    );
    expect((await ended(terminal)).text).toBe(`${terminal.device}\r\n33 91\r\n${terminal.device}\r\nsame\r\n`);
  });

  it('takes no characters from an unprivileged target', async (t) => {
    needs(t, 'root', 'setpriv', 'perl', 'bash');
    // TIOCSTI asks for the controlling terminal or CAP_SYS_ADMIN; also where the machine allows it at all (dev.tty.legacy_tiocsti).
    const push = holdfast.program(
      'push',
      '#!/usr/bin/perl\nfor (split //, "echo pushed-\\$((6*7))\\n") { ioctl(STDIN, 0x5412, $_) or die "$!\\n" }\nprint "was pushed\\n";\n',
    );
    const drop = 'setpriv --bounding-set -sys_admin --inh-caps -sys_admin --ambient-caps -all --reuid 65534 --clear-groups --no-new-privs';
    const terminal = on(['bash', '--norc', '--noediting', '-i']);
    terminal.type(
      `'${programs.runnerExec}' --session s --fd 3 -- ${drop} perl /proc/self/fd/3 3<${push}; '${programs.runnerExec}' --session s -t -- perl ${push}; echo end-$((1+1)); exit\n`,
    );
    const { text } = await ended(terminal);
    expect(text).toContain('end-2');
    expect(text).toMatch(/Operation not permitted|Input\/output error/);
    expect(text).not.toContain('pushed-42');
  });
});

describe('in a tmux pane', () => {
  class Tmux {
    readonly #socket = `${holdfast.folder()}/tmux`;

    run(...args: string[]): string {
      return execFileSync('tmux', ['-S', this.#socket, '-f', '/dev/null', ...args], {
        env: { ...holdfast.env, TERM: 'xterm', SHELL: '/bin/sh' },
        cwd: holdfast.directory,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    }

    start(...command: string[]): void {
      this.run('new-session', '-d', '-x', '60', '-y', '15', ...command);
    }

    type(...keys: string[]): void {
      this.run('send-keys', ...keys);
    }

    /** Waits until the pane shows it. */
    async shows(check: (rows: string[]) => void): Promise<void> {
      await eventually(() => check(this.run('capture-pane', '-p').split('\n')));
    }

    stop(): void {
      this.run('kill-server');
    }
  }

  const text = Array.from({ length: 40 }, (_, i) => `line ${i + 1}`);
  const file = holdfast.program('text', `${text.join('\n')}\n`);

  it.for([
    ['plain', []],
    ['with -t', ['-t']],
  ] as const)('a pager and an editor look right and follow its size: %s', async ([, flags], t) => {
    needs(t, 'tmux', 'vim', 'less');
    for (const [command, quit] of [
      [['less', file], ['q']],
      [
        ['vim', '-u', 'NONE', '-N', file],
        [':q!', 'Enter'],
      ],
    ] as const) {
      const tmux = new Tmux();
      // The pane's command leads the session of its terminal: without -t that is handed over.
      tmux.start(programs.runnerExec, '--session', 's', ...flags, '--', ...command);
      await tmux.shows((rows) => expect(rows.slice(0, 14)).toEqual(text.slice(0, 14)));
      tmux.run('resize-window', '-x', '50', '-y', '25');
      await tmux.shows((rows) => expect(rows.slice(0, 24)).toEqual(text.slice(0, 24)));
      tmux.type('G');
      await tmux.shows((rows) => expect(rows).toContain('line 40'));
      tmux.type(...quit);
      await eventually(() => expect(() => tmux.run('has-session')).toThrow());
    }
  });

  it('a shell inside has job control', async (t) => {
    needs(t, 'tmux', 'bash');
    const tmux = new Tmux();
    tmux.start(programs.runnerExec, '--session', 's', '--', 'bash', '--norc', '-i');
    await tmux.shows((rows) => expect(rows[0]).toMatch(/^bash.*[$#]/));
    tmux.type('cat', 'Enter');
    await eventually(() => expect(descendantsOf(session.pid).some(({ command }) => command === 'cat')).toBe(true));
    tmux.type('C-z');
    await tmux.shows((rows) => expect(rows.join('\n')).toContain('Stopped'));
    tmux.type('fg', 'Enter');
    tmux.type('C-c');
    tmux.type('exit', 'Enter');
    await eventually(() => expect(() => tmux.run('has-session')).toThrow());
  });
});

describe('a node-pty host', () => {
  it('gets every byte and the status, with a slave held open', async () => {
    const terminal = on([programs.runnerExec, '--session', 's', '--', 'sh', '-c', 'seq 1 20000; exit 9']);
    const { code, text } = await ended(terminal);
    expect(code).toBe(9);
    expect(text).toBe(Array.from({ length: 20000 }, (_, i) => `${i + 1}\r\n`).join(''));
  });
});
