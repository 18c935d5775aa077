// Sessions whose commands run behind a wrapper, on stand-ins for docker exec and ssh, and on chroot and bwrap. DESIGN section 4 "Wrap";
// docs/config.md "Wrap". How the far side ends is in wrap-far-side.test.ts.

import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { programs, useHoldfast } from '../harness/holdfast.js';
import { needs } from '../harness/needs.js';
import type { Session } from '../harness/session.js';
import { Terminal } from '../harness/terminal.js';

const holdfast = useHoldfast();
const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/wrap/${name}`, import.meta.url));
const box = fixture('box');
const BOX = [
  `prefix = [${JSON.stringify(box)}, "exec", "-i"]`,
  'operand = ["box1"]',
  'env_style = "option"',
  'cwd_option = "-w"',
  'tty_option = ["-t"]',
];

let serial = 0;

async function open(lines: readonly string[], env: Record<string, string> = {}): Promise<Session> {
  const name = `wrap-${++serial}`;
  const file = join(holdfast.folder(), 'holdfast.toml');
  writeFileSync(file, ['[session]', ...lines].join('\n'));
  const { code, stderr } = await holdfast.holdfast(['open', name, '--config', file], { env });
  expect([code, stderr.toString()]).toEqual([0, '']);
  return await holdfast.adopt(name);
}

describe('a command behind a wrapper', () => {
  it('has the variables of all who may give them, the strongest last', async () => {
    const session = await open(
      [
        ...BOX,
        'env = { A = "env", B = "env", IMAGE_ = "x" }',
        'runtime_env = { R = "runtime" }',
        'pass_env = ["B", "*"]',
        'runtime_pass_env = ["C", "NONE"]',
        'path_prepend = ["/pre"]',
      ],
      { B: 'passed', WEAK: "it's", IMAGE: 'no' },
    );
    const show = 'for n in A B R C D WEAK IMAGE NONE PATH; do eval "printf \\"%s=%s\\n\\" $n \\"\\${$n-none}\\""; done';
    const { stdout } = await session.exec(['sh', '-c', show], {
      env: { C: 'caller', A: 'caller', WEAK: 'caller' },
      flags: ['--env', 'D=request', '--env', 'R=request'],
    });
    expect(stdout.toString()).toBe(
      "A=env\nB=passed\nR=request\nC=caller\nD=request\nWEAK=it's\nIMAGE=yes\nNONE=none\nPATH=/pre:/usr/local/bin:/usr/bin:/bin\n",
    );
  });

  it('has what it is given, byte for byte, by each of the clients', async () => {
    const session = await open(BOX);
    const nasty = 'a b\n\'"$HOME\\ \u00e9*';
    const show = ['sh', '-c', 'printf "%s|%s|" "$1" "$V"; pwd', 'sh', nasty];
    const flags = ['--env', `V=${nasty}`, '--cwd', holdfast.directory];
    const want = `${nasty}|${nasty}|${holdfast.directory}\n`;
    expect(await session.output(show, { flags })).toBe(want);
    const fallback = await holdfast.holdfast(['__runner-exec', '--session', session.name, ...flags, '--', ...show]);
    expect([fallback.stdout.toString(), fallback.stderr.toString()]).toEqual([want, '']);
    const bySocket = await holdfast.runnerExec(['--socket', session.socket, ...flags, '--', ...show]);
    expect(bySocket.stdout.toString()).toBe(want);
  });

  it('is run by the library as well, its input and output in pipes', async () => {
    const session = await open(BOX);
    const program = join(holdfast.folder(), 'p.mjs');
    writeFileSync(
      program,
      `import { run, addressOf } from ${JSON.stringify(pathToFileURL(programs.library).href)};
const handle = run({ program: 'sh', args: ['-c', 'cat; echo "$V"; exit 7'], env: { V: "it's" } }, addressOf(${JSON.stringify(session.name)}));
handle.stdin.end('input,');
let out = '';
for await (const bytes of handle.stdout) out += bytes;
console.log(JSON.stringify([out, await handle.outcome]));\n`,
    );
    const { stdout, stderr } = await holdfast.run([process.execPath, program]);
    expect(stderr.toString()).toBe('');
    expect(JSON.parse(stdout.toString())).toEqual(["input,it's\n", { kind: 'exited', code: 7 }]);
  });

  it('is behind a wrapper that is looked up and run as the caller has it', async () => {
    const session = await open(['prefix = ["boxed"]', 'env_style = "env-command"']);
    const mine = holdfast.program('boxed', '#!/bin/bash\necho "wrapper of $WHO in $PWD, DOCKER_HOST=$DOCKER_HOST, args $#"\nexec "$@"\n');
    const path = `${mine.slice(0, -6)}:${process.env.PATH}`;
    const { stdout } = await session.exec(['sh', '-c', 'echo "inside $V"'], {
      env: { PATH: path, WHO: 'me', DOCKER_HOST: 'there' },
      flags: ['--env', 'V=1'],
    });
    expect(stdout.toString()).toMatch(new RegExp(`^wrapper of me in ${holdfast.directory}, DOCKER_HOST=there, args \\d+\ninside 1\n$`));

    const { code, stderr } = await session.exec(['true']);
    expect([code, stderr.toString()]).toEqual([
      125,
      "runner-exec: cannot run the wrapper 'boxed': no such program; hint: it is looked up on the PATH of the caller\n",
    ]);
    const fallback = await holdfast.holdfast(['__runner-exec', '--session', session.name, '--', 'true']);
    expect([fallback.code, fallback.stderr.toString()]).toEqual([125, stderr.toString()]);

    for (const [path, why] of [
      ['/no/such', 'no such program'],
      ['/dev/null', 'permission denied'],
    ]) {
      const broken = await open([`prefix = ["${path}"]`]);
      const failed = await broken.exec(['true']);
      const line = `runner-exec: cannot run the wrapper '${path}': ${why}; hint: it is the first word of 'prefix'\n`;
      expect([failed.code, failed.stderr.toString()]).toEqual([125, line]);
    }
  });

  it('is looked up inside alone', async () => {
    const session = await open(BOX);
    const inside = holdfast.program('only-inside', '#!/bin/sh\necho inside\n');
    const outside = holdfast.program('only-outside', '#!/bin/sh\necho outside\n');
    const env = { BOX_PATH: `${inside.slice(0, -12)}:/usr/bin:/bin`, PATH: `${outside.slice(0, -13)}:${process.env.PATH}` };
    expect(await session.output(['only-inside'], { env })).toBe('inside\n');
    expect((await session.exec(['only-outside'], { env })).code).toBe(127);
  });

  it('works in a directory that is only inside, or elsewhere there', async () => {
    const log = join(holdfast.folder(), 'log');
    const real = holdfast.folder('real');
    const session = await open([...BOX, `path_map = { ${JSON.stringify(real)} = "/usr" }`, 'map_argv = true']);
    expect(await session.output(['pwd'], { flags: ['--cwd', `${real}/bin`], env: { BOX_LOG: log } })).toBe('/usr/bin\n');
    expect(await session.output(['echo', `${real}/x`, `--in=${real}`], { flags: ['--cwd', real] })).toBe('/usr/x --in=/usr\n');
    const missing = await session.exec(['pwd'], { flags: ['--cwd', '/no/such'] });
    expect([missing.code, missing.stderr.toString()]).toEqual([126, 'box: no such directory: /no/such\n']);
  });

  it('has a wrapper with a terminal only when it has one itself', async () => {
    const session = await open(BOX);
    const log = join(holdfast.folder(), 'log');
    const words = (): string[] => readFileSync(log, 'latin1').split('\0');
    await session.output(['true'], { env: { BOX_LOG: log } });
    expect(words()).not.toContain('-t');
    const env = { ...holdfast.env, BOX_LOG: log };
    await new Terminal([programs.runnerExec, '--session', session.name, '--', 'tty'], { env }).ended();
    expect(words()).toContain('-t');
    writeFileSync(log, '');
    await new Terminal(['sh', '-c', `${programs.runnerExec} --session ${session.name} -- true </dev/null`], { env }).ended();
    expect(words()).toContain('box1');
    expect(words()).not.toContain('-t');
  });

  it('of many at once each has its own', async () => {
    const session = await open(BOX);
    const outputs = await Promise.all(
      Array.from({ length: 24 }, (_, n) => session.output(['sh', '-c', 'echo "$N"'], { flags: ['--env', `N=${n}`] })),
    );
    expect(outputs).toEqual(outputs.map((_, n) => `${n}\n`));
  });

  it('is a job as any other', async () => {
    const session = await open(BOX);
    const id = (await session.output(['sh', '-c', 'echo "from the box $IMAGE"; exit 3'], { flags: ['--detach'] })).trim();
    expect((await holdfast.holdfast(['job', 'wait', session.name, id])).code).toBe(3);
    expect((await holdfast.holdfast(['job', 'logs', session.name, id])).stdout.toString()).toBe('from the box yes\n');
  });

  it('whose words are too many is told so', async () => {
    const session = await open([`prefix = [${JSON.stringify(fixture('farhost'))}, "host"]`, 'env_style = "remote-shell"']);
    const long = 'x'.repeat(100_000);
    expect((await session.exec(['true'], { flags: ['--env', `A=${long}`] })).code).toBe(0);
    const { code, stderr } = await session.exec(['true'], { flags: ['--env', `A=${long}`, '--env', `B=${long}`] });
    expect([code, stderr.toString()]).toEqual([126, expect.stringContaining("cannot run 'true': Argument list too long")]);
  });

  it('has the caller’s environment with the first request, where the session says so, and else with the second', async () => {
    const session = await open([...BOX, 'runtime_pass_env = ["C"]']);
    const named = session.socket.replace(/\.sock$/, '.pass');
    expect(readFileSync(named, 'utf8')).toBe('~\nC\n');
    const show = ['sh', '-c', 'echo "$C"'];
    expect(await session.output(show, { env: { C: 'c' } })).toBe('c\n');
    rmSync(named);
    expect(await session.output(show, { env: { C: 'c' } })).toBe('\n');
    const absolute = await open(['prefix = ["/usr/bin/nice"]']);
    expect(existsSync(absolute.socket.replace(/\.sock$/, '.pass'))).toBe(false);

    // Seen from the other end: docs/protocol.md §4, flag 16 of RUN.
    const folder = join(holdfast.folder(), 'run');
    mkdirSync(folder, { mode: 0o700 });
    const flags: number[] = [];
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', (bytes) => {
        flags.push(bytes.readUInt16BE(14));
        socket.destroy();
      });
    });
    await new Promise<void>((resolve) => server.listen(join(folder, 'web.sock'), resolve));
    const env = { HOLDFAST_RUNTIME_DIR: folder };
    for (const names of ['~\n', '~\nC\n', 'C\n']) {
      writeFileSync(join(folder, 'web.pass'), names);
      await holdfast.runnerExec(['--session', 'web', '--', 'true'], { env });
      await holdfast.runnerExec(['--session', 'web', '--exact', '--', 'true'], { env });
      await holdfast.holdfast(['__runner-exec', '--session', 'web', '--', 'true'], { env });
    }
    server.close();
    expect(flags.map((each) => each & 16)).toEqual([16, 16, 16, 16, 16, 16, 0, 0, 0]);
  });

  it('without a client that can send the environment is refused by name', async () => {
    const session = await open(BOX);
    // docs/protocol.md §4: RUN with flag 16 is the answer to CALLER; the number is part of the wire.
    const { stdout } = await holdfast.run(['python3', fixture('raw-run.py'), session.socket]);
    expect(stdout.toString()).toBe("14 the session's wrapper runs in the environment of the caller\n");
  });
});

describe('a wrapper that hands its environment on', () => {
  it('has what a host session has, and the command with it', async () => {
    const session = await open(['prefix = ["nice"]', 'env = { A = "1" }'], { GOFLAGS: 'ambient' });
    const { stdout } = await session.exec(['sh', '-c', 'echo "$A ${GOFLAGS-none} ${CALLER-none} $B ${HOLDFAST_RUN-none}"; pwd'], {
      env: { CALLER: 'x', GOFLAGS: 'y' },
      flags: ['--env', 'B=2', '--cwd', '/usr'],
    });
    expect(stdout.toString()).toBe('1 none none 2 none\n/usr\n');
    expect(await session.output(['/usr/bin/env'], { flags: ['--exact', '--env', 'X=1'] })).toMatch(/^(X=1\n|PWD=[^\n]*\n){1,2}$/);
    expect((await session.exec(['sh', '-c', 'kill -9 $$'])).signal).toBe('SIGKILL');
  });

  it('and fails itself, is told from its command', async (t) => {
    needs(t, 'bwrap', 'root');
    const session = await open([
      'prefix = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev"]',
      'end_of_options = "--"',
      'failure_codes = [1]',
    ]);
    expect((await session.exec(['sh', '-c', 'exit 1'])).code).toBe(1);
    expect((await session.exec(['no-such-program'])).code).toBe(127);
    expect(await session.output(['sh', '-c', 'cat; ls /proc/self/fd 2>/dev/null | wc -l'], { stdin: 'in\n' })).toMatch(/^in\n/);
    await session.close();
    const broken = await open(['prefix = ["bwrap", "--ro-bind", "/no/such", "/"]', 'end_of_options = "--"', 'failure_codes = [1]']);
    const { code, stderr } = await broken.exec(['true']);
    expect([code, stderr.toString()]).toEqual([
      125,
      expect.stringMatching(/no\/such.*\nrunner-exec: the wrapper 'bwrap' failed with exit code 1; hint: its own words are above\n$/s),
    ]);
  });

  it('changes the root', async (t) => {
    needs(t, 'busybox', 'root');
    const root = holdfast.folder('root');
    for (const directory of ['bin', 'work']) mkdirSync(join(root, directory));
    writeFileSync(join(root, 'bin/busybox'), readFileSync('/bin/busybox'));
    chmodSync(join(root, 'bin/busybox'), 0o755);
    for (const applet of ['sh', 'pwd', 'env', 'printenv', 'cat'])
      writeFileSync(join(root, 'bin', applet), readFileSync('/bin/busybox'), { mode: 0o755 });
    const session = await open([`prefix = ["chroot", ${JSON.stringify(root)}]`, 'env = { A = "it\'s" }', 'failure_codes = [125]']);
    expect(await session.output(['/bin/sh', '-c', 'echo "$A"; pwd'], { flags: ['--cwd', '/work'] })).toBe("it's\n/work\n");
    expect((await session.exec(['/bin/sh', '-c', 'exit 125'], { flags: ['--cwd', '/'] })).code).toBe(125);
    const wrong = await session.exec(['true'], { flags: ['--cwd', '/usr'] });
    expect([wrong.code, wrong.stderr.toString()]).toEqual([
      125,
      expect.stringContaining("the wrapper 'chroot' failed with exit code 125 before the command was started"),
    ]);
    expect(existsSync(join(root, 'tmp'))).toBe(false);
  });
});

describe('a wrapper inside of what a launcher enters', () => {
  it('is looked up there, and has its environment', async (t) => {
    needs(t, 'bwrap', 'root');
    const tools = holdfast.folder('tools');
    writeFileSync(join(tools, 'sandbox'), '#!/bin/sh\nexport SEEN_BY_WRAPPER="$ENTERED"\nexec bwrap --ro-bind / / --dev /dev -- "$@"\n', {
      mode: 0o755,
    });
    const launcher = holdfast.program('enter', `#!/bin/bash\nexport ENTERED=yes PATH=${tools}:$PATH\nexec "$@"\n`);
    const session = await open(['prefix = ["sandbox"]', `launcher = [${JSON.stringify(launcher)}]`, 'env = { A = "1" }']);
    expect(
      await session.output(['sh', '-c', 'echo "$ENTERED $SEEN_BY_WRAPPER $A ${CALLER-none}"; pwd; command -v sandbox'], {
        env: { CALLER: 'x' },
      }),
    ).toBe(`yes yes 1 none\n${holdfast.directory}\n${tools}/sandbox\n`);
    expect(await session.status()).toMatchObject({ mode: 'wrap' });
  });

  it('gives a command elsewhere only what is said', async () => {
    const launcher = holdfast.program('enter', '#!/bin/bash\nexport ENTERED=yes BOX_PATH=/entered:/usr/bin:/bin\nexec "$@"\n');
    const session = await open([...BOX, `launcher = [${JSON.stringify(launcher)}]`, 'env = { A = "1" }']);
    expect(await session.output(['sh', '-c', 'echo "${ENTERED-none} $A $PATH"'])).toBe('none 1 /entered:/usr/bin:/bin\n');
  });
});

describe('an agent that lives in a container', () => {
  it('serves, with a process tree and mounts of its own', async (t) => {
    needs(t, 'bwrap', 'root');
    const root = dirname(dirname(programs.runnerExec));
    // Nothing of the machine but what docs/config.md names, under the same paths.
    const mounts = ['/usr', '/lib', '/lib64', '/bin', '/etc', dirname(dirname(process.execPath)), root].filter((path) => existsSync(path));
    const launcher = [
      'bwrap',
      ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--tmpfs', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'],
      ...mounts.flatMap((path) => ['--ro-bind', path, path]),
      ...['--bind', holdfast.directory, holdfast.directory, '--setenv', 'IN', 'the container', '--'],
    ];
    const session = await holdfast.open('contained', { launcher });
    expect(await session.output(['sh', '-c', 'echo "$IN"; ls -d /proc/[0-9]* | wc -l; pwd'])).toMatch(
      new RegExp(`^the container\n[0-9]\n${holdfast.directory}\n$`),
    );
    expect((await session.exec(['sh', '-c', 'kill -9 $$'])).signal).toBe('SIGKILL');
    const run = session.start(['sh', '-c', 'trap "exit 7" TERM; echo up; while :; do sleep 0.05; done']);
    await run.outputLine('up', 20_000);
    run.kill('SIGTERM');
    expect((await run.ended).code).toBe(7);
  });
});

describe('holdfast explain', () => {
  it('shows what stands between, and what is executed', async () => {
    const session = await open([...BOX, 'env = { A = "1" }', 'runtime_pass_env = ["TOKEN"]']);
    const { stdout } = await holdfast.holdfast(['explain', session.name, '--', 'make', 'a b'], { env: { TOKEN: 'hunter2' } });
    const text = stdout.toString();
    expect(text).toContain(
      `1  this host, with the environment of each caller\n2  ${box} exec -i box1: variables by option, the directory by -w`,
    );
    expect(text).toContain(`exec -i -e A=1 -e TOKEN=… -e HOLDFAST_RUN=… -w ${holdfast.directory} box1 make 'a b'\n`);
    const json = await holdfast.holdfast(['explain', session.name, '--json', '--', 'make']);
    expect(JSON.parse(json.stdout.toString())).toMatchObject({ argv: expect.arrayContaining(['make', 'box1']), lent: [] });
    const bare = await holdfast.holdfast(['explain', session.name, '--json']);
    expect(JSON.parse(bare.stdout.toString())).toMatchObject({ whole: false });
  });
});

describe('what a style cannot do', () => {
  it('is refused by name', async () => {
    const session = await open([`prefix = [${JSON.stringify(box)}, "exec", "-i"]`, 'operand = ["box1"]', 'env_style = "option-by-name"']);
    const { code, stderr } = await session.exec(['true'], { flags: ['--exact', '--env', 'A=1'] });
    expect([code, stderr.toString()]).toEqual([
      125,
      `runner-exec: session '${session.name}' refused: an exact environment cannot be had with env_style "option-by-name"; hint: the other variables inside would stay; env_style "env-command" can take them away\n`,
    ]);
    const empty = join(holdfast.folder(), 'holdfast.toml');
    writeFileSync(empty, '[session]\nprefix = []\n');
    expect((await holdfast.holdfast(['open', 'empty', '--config', empty])).stderr.toString()).toContain("'prefix' must be a list of words");
  });
});
