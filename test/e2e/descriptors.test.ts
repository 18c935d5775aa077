// Pins DESIGN section 4 "Descriptors": a command has the caller's own open files, the agent keeps none, and their modes are left alone.

import { closeSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { programs, useHoldfast } from '../harness/holdfast.js';
import { needs } from '../harness/needs.js';
import { descriptorsOf } from '../harness/processes.js';
import type { Session } from '../harness/session.js';

const holdfast = useHoldfast();
const look = join(dirname(fileURLToPath(import.meta.url)), '../fixtures/descriptors.py');

let opened: Promise<Session> | undefined;
/** One for the whole file. */
function shared(): Promise<Session> {
  opened ??= holdfast.open('fds', { shared: true });
  return opened;
}

/** `runner-exec …` as words of a shell. */
const client = `'${programs.runnerExec}' --session fds`;

describe('descriptors of a command', () => {
  it('are the same open files: place, offset and flags, under the same numbers', async (t) => {
    needs(t, 'python3');
    await shared();
    const ended = await holdfast.run(['python3', look, holdfast.folder(), '--', programs.runnerExec, '--session', 'fds']);
    expect({ code: ended.code, stderr: `${ended.stderr}` }).toEqual({ code: 0, stderr: '' });
    const { before, inside, after } = JSON.parse(`${ended.stdout}`);
    const { all, ...seen } = inside;
    expect(seen).toEqual(before);
    expect(after).toEqual(before);
    // And no other.
    expect(all).toEqual([0, 1, 2, 7, 200]);
  });

  it('share their offset with the caller', async () => {
    const session = await shared();
    const path = join(holdfast.folder(), 'lines');
    writeFileSync(path, 'one\ntwo\nthree\n');
    const fd = openSync(path, 'r');
    try {
      readSync(fd, Buffer.alloc(4), 0, 4, null);
      expect(await session.output(['sh', '-c', 'read line; echo "$line"'], { stdin: fd })).toBe('two\n');
      const rest = Buffer.alloc(10);
      expect(rest.toString('utf8', 0, readSync(fd, rest, 0, 10, null))).toBe('three\n');
    } finally {
      closeSync(fd);
    }
    const script = `{ echo a; ${client} -- echo b; echo c; ${client} -- sh -c 'echo d >&2'; } >'${path}' 2>&1`;
    expect(await holdfast.run(['sh', '-c', script])).toMatchObject({ code: 0 });
    expect(readFileSync(path, 'utf8')).toBe('a\nb\nc\nd\n');
  });

  it('may be closed: each, and all of them', async (t) => {
    needs(t, 'python3');
    await shared();
    const report = join(holdfast.folder(), 'report');
    // Looks first and opens its report then: a shell's own redirections would take the places that are to be seen.
    const target = [
      'import os, sys',
      'seen = [os.readlink(f"/proc/self/fd/{n}") if os.path.lexists(f"/proc/self/fd/{n}") else "closed" for n in range(3)]',
      'open(sys.argv[1], "w").write("\\n".join(seen))',
    ].join('\n');
    for (const [closed, numbers] of [
      ['<&-', [0]],
      ['>&-', [1]],
      ['2>&-', [2]],
      ['<&- >&- 2>&-', [0, 1, 2]],
    ] as const) {
      const { code } = await holdfast.run(['sh', '-c', `${client} -- python3 -c '${target}' '${report}' ${closed}`]);
      expect(code).toBe(0);
      const seen = readFileSync(report, 'utf8').split('\n');
      for (const number of numbers) expect(['closed', '/dev/null']).toContain(seen[number]);
    }
  });

  it('leave a caller with a table almost full what the command needs', async () => {
    const session = await shared();
    // A build that looks for leaks has no room left for that.
    const plain = 'ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0; export ASAN_OPTIONS';
    const ended = await holdfast.run(['sh', '-c', `${plain}; ulimit -n 6; exec ${client} -- sh -c 'ulimit -n; exit 3'`]);
    const limit = await session.output(['sh', '-c', 'ulimit -n']);
    expect({ code: ended.code, stdout: `${ended.stdout}`, stderr: `${ended.stderr}` }).toEqual({ code: 3, stdout: limit, stderr: '' });
  });

  it('beyond 0, 1 and 2 are passed by number, and no other is', async () => {
    await shared();
    const folder = holdfast.folder();
    const script = `exec 5>'${folder}/five' 6>'${folder}/six'; ${client} --fd 5 -- sh -c 'echo token >&5; ls /proc/$$/fd; :'`;
    const { code, stdout, stderr } = await holdfast.run(['sh', '-c', script]);
    expect(`${code} ${stdout}${stderr}`).toBe('0 0\n1\n2\n5\n');
    expect(readFileSync(join(folder, 'five'), 'utf8')).toBe('token\n');
    const substitution = await holdfast.run(['bash', '-c', `exec 40< <(echo sub); ${client} --fd 40 -- cat /proc/self/fd/40`]);
    expect(`${substitution.code} ${substitution.stdout}${substitution.stderr}`).toBe('0 sub\n');
    // As many as one message carries: 250, and 0, 1 and 2.
    const many = Array.from({ length: 250 }, (_, i) => i + 300);
    const open = many.map((n) => `exec ${n}</dev/null; `).join('');
    const flags = many.map((n) => `--fd ${n}`).join(' ');
    const all = await holdfast.run(['bash', '-c', `${open} ${client} ${flags} -- ls /proc/self/fd`]);
    // The last one is the folder that ls itself has open.
    expect(`${all.code} ${all.stdout}${all.stderr}`).toBe(`0 ${[0, 1, 2, 3, ...many].join('\n')}\n`);
  });
});

describe('an end that the command closes', () => {
  // The target then waits for a line of input, so that it ends when the test says so.
  it.for([
    ['its output', "sh -c 'echo x; exec >&-; read line; exit 3'", '', 'x\n'],
    ['its output, with 2>&1', "sh -c 'echo x; exec >&- 2>&-; read line; exit 3'", '2>&1', 'x\n'],
    ['its errors alone', "sh -c 'echo x >&2; exec 2>&-; read line; exit 3'", '2>&1 >/dev/null', 'x\n'],
    ['its descriptor 6', "sh -c 'echo x >&6; exec 6>&-; read line; exit 3'", '6>&1 >/dev/null', 'x\n'],
  ] as const)('is seen by the reader at once, while it lives: %s', async ([, target, redirection, text]) => {
    await shared();
    const flags = redirection.startsWith('6') ? '--fd 6' : '';
    const script = `exec 8<&0; ${client} ${flags} -- ${target} <&8 ${redirection} | { cat; echo eof; }; echo \${PIPESTATUS[0]}`;
    const running = holdfast.start(['bash', '-c', script], { stdin: 'open' });
    await running.outputLine('eof');
    expect(running.isAlive).toBe(true);
    running.write('go\n');
    expect(await running.ended).toMatchObject({ code: 0, stdout: Buffer.from(`${text}eof\n3\n`), stderr: Buffer.alloc(0) });
  });

  it('ends a writer to its input by SIGPIPE', async () => {
    await shared();
    const fifo = join(holdfast.folder(), 'go');
    const script = `mkfifo '${fifo}'; { yes; echo $? >&2; } | ${client} -- sh -c 'exec <&-; read line <"$1"; exit 3' sh '${fifo}'`;
    const running = holdfast.start(['bash', '-c', script]);
    await running.errorLine('141');
    expect(running.isAlive).toBe(true);
    writeFileSync(fifo, 'go\n');
    expect(await running.ended).toMatchObject({ code: 3 });
  });
});

describe('the agent', () => {
  it('holds nothing of a command that runs, nor of one that has left something running', async () => {
    const session = await shared();
    const folder = holdfast.folder();
    const seven = openSync(join(folder, 'seven'), 'w');
    const idle = session.descriptors().size;
    const running = session.start(['sh', '-c', 'readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/7; read line'], {
      stdin: 'open',
      fds: { 7: seven },
      flags: ['--fd', '7'],
    });
    await running.outputLine(join(folder, 'seven'));
    const theirs = `${running.stdout}`.trimEnd().split('\n');
    expect(theirs).toHaveLength(3);
    const held = [...descriptorsOf(session.pid).values()];
    expect(held.filter((target) => theirs.includes(target))).toEqual([]);
    running.endInput();
    await running.ended;
    closeSync(seven);

    const left = await session.exec(['sh', '-c', 'sleep 600 >/dev/null 2>&1 & echo $!']);
    // The client may have its answer before the agent has closed the connection.
    await eventually(() => expect(session.descriptors().size).toBeLessThanOrEqual(idle));
    process.kill(Number(`${left.stdout}`), 'SIGKILL');
    await eventually(() => expect(session.descriptors().size).toBeLessThanOrEqual(idle));
  });

  it('lets a pipeline of its own commands end as a shell would see it', async () => {
    await shared();
    const script = `set -o pipefail; ${client} -- yes | ${client} -- head -n 3 | ${client} -- wc -l; echo "\${PIPESTATUS[*]}"`;
    const { code, stdout, stderr } = await holdfast.run(['bash', '-c', script]);
    expect(`${code} ${stdout}${stderr}`).toBe('0 3\n141 0 0\n');
  });
});
