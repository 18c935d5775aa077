// Tools on the PATH that run inside the session of the project around: links to runner-exec under their names.

import { chmodSync, copyFileSync, existsSync, linkSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { programs, useHoldfast } from '../harness/holdfast.js';
import type { RunOptions } from '../harness/running.js';
import type { Session } from '../harness/session.js';

const holdfast = useHoldfast();
const shims = join(holdfast.directory, 'shims');
const elsewhere = join(holdfast.directory, 'elsewhere');
const path = [shims, elsewhere, holdfast.env.PATH].join(':');

/** A tool that tells who it is. */
function tool(directory: string, name: string, who: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, name), `#!/bin/sh\necho "${who} $(basename "$0") held=$HELD own=$OWN args=$*"\nexit 3\n`, { mode: 0o755 });
}

/** A project whose environment brings a tool of its own, and has the shims on its PATH all the same. */
async function project(): Promise<{ directory: string; session: Session }> {
  const directory = holdfast.folder('project');
  tool(join(directory, 'bin'), 'tool', 'inner');
  writeFileSync(join(directory, 'env.sh'), `export HELD=yes PATH="${shims}:$PWD/bin:$PATH"\n`);
  writeFileSync(join(directory, 'holdfast.toml'), '[session]\nsource = "env.sh"\n');
  expect(await call('tool', [], { cwd: directory })).toEqual([3, 'inner tool held=yes own= args=\n', '']);
  return { directory, session: await holdfast.adopt(directory) };
}

/** Runs it as a shell would that finds it on the PATH. */
async function call(name: string, args: readonly string[], options: RunOptions): Promise<[number | null, string, string]> {
  const { code, stdout, stderr } = await holdfast.run(['/bin/sh', '-c', '"$0" "$@"', name, ...args], {
    ...options,
    env: { PATH: path, ...options.env },
  });
  return [code, `${stdout}`, `${stderr}`];
}

beforeAll(async () => {
  tool(elsewhere, 'tool', 'outer');
  const made = await holdfast.holdfast(['shim', 'install', shims, 'tool', 'node', 'nowhere', 'sh'], { env: { PATH: path } });
  expect({ code: made.code, said: `${made.stdout}${made.stderr}` }).toEqual({ code: 0, said: '' });
});

describe('a shim', () => {
  it('runs the tool that the environment brings, with every word and the exit status', async () => {
    const { directory } = await project();
    const args = ['--help', '--', '-e', 'A=1', '__enter', ''];
    expect(await call('tool', args, { cwd: join(directory, 'bin') })).toEqual([
      3,
      'inner tool held=yes own= args=--help -- -e A=1 __enter \n',
      '',
    ]);
    expect(await call(join(shims, 'tool'), ['x'], { cwd: directory })).toEqual([3, 'inner tool held=yes own= args=x\n', '']);
  });

  it('runs it in the session that HOLDFAST_SESSION names, from anywhere', async () => {
    await holdfast.open('named', { script: `export HELD=named PATH="${elsewhere}:$PATH"` });
    expect(await call('tool', [], { cwd: '/', env: { HOLDFAST_SESSION: 'named' } })).toEqual([3, 'outer tool held=named own= args=\n', '']);
    const [code, , stderr] = await call('tool', [], { cwd: '/', env: { HOLDFAST_SESSION: 'none' } });
    expect([code, stderr]).toEqual([125, expect.stringContaining("session 'none' is not open")]);
  });

  it('steps aside for the next tool on the PATH where there is no project', async () => {
    expect(await call('tool', ['a b', '-x'], { cwd: '/', env: { OWN: 'own' } })).toEqual([3, 'outer tool held= own=own args=a b -x\n', '']);
    const [code, stdout, stderr] = await call('nowhere', [], { cwd: '/' });
    expect([code, stdout]).toEqual([127, '']);
    expect(stderr).toMatch(/^runner-exec: cannot run 'nowhere': no project is here, and the PATH has no other 'nowhere'; hint: .*\n$/);
  });

  it('steps aside inside the session, so that what its caller has set is there', async () => {
    const { directory: cwd, session } = await project();
    // The session's runtime directory is not known in there: another session of the same project could be opened in another one.
    expect(await session.exec(['sh', '-c', 'OWN=mine tool x'], { cwd })).toMatchObject({
      code: 3,
      stdout: Buffer.from('inner tool held=yes own=mine args=x\n'),
    });
    // Below a group, a session and a parent of its own, too.
    const lost = 'setsid sh -c \'(OWN=far tool y >"$0" 2>&1; echo done >>"$0") & exit\' "$0"; exit 0';
    const file = join(holdfast.folder(), 'far');
    await session.exec(['sh', '-c', lost, file], { cwd });
    await expect
      .poll(() => existsSync(file) && holdfast.run(['cat', file]).then(({ stdout }) => `${stdout}`), { timeout: 20_000 })
      .toBe('inner tool held=yes own=far args=y\ndone\n');
  });

  it('is passed over when a session looks a tool up, and the cure is named where nothing is left', async () => {
    const { directory, session } = await project();
    expect(await session.exec(['tool'])).toMatchObject({ code: 3, stdout: Buffer.from('inner tool held=yes own= args=\n') });
    const [code, stdout, stderr] = await call('nowhere', [], { cwd: directory });
    expect([code, stdout]).toEqual([127, '']);
    expect(stderr).toContain(`cannot run 'nowhere': not found on the PATH of session '${directory}'; hint: `);
    expect(stderr).toContain("'holdfast shim remove DIR nowhere'");
  });

  it('does not make an environment wait for itself that is entered with the very tool', async () => {
    const directory = holdfast.folder('project');
    writeFileSync(join(directory, 'env.sh'), 'export HELD="$(tool inner)"\n');
    writeFileSync(join(directory, 'holdfast.toml'), '[session]\nsource = "env.sh"\nopen_timeout = "30s"\n');
    expect(await call('tool', [], { cwd: directory })).toEqual([3, 'outer tool held=outer tool held= own= args=inner own= args=\n', '']);
    await holdfast.adopt(directory);
  });

  it('called node leaves holdfast itself outside, whose first line asks for node', async () => {
    const { directory } = await project();
    const [code, stdout] = await call(programs.holdfast, ['list', '--names'], { cwd: directory });
    expect([code, stdout]).toEqual([0, `${directory}\n`]);
    expect(await call('node', ['-p', 'process.env.HELD'], { cwd: directory })).toEqual([0, 'yes\n', '']);
  });

  it('steps aside for a script without a first line, as a shell would', async () => {
    const directory = holdfast.folder('bin');
    writeFileSync(join(directory, 'nowhere'), 'echo "$0 $1"\n', { mode: 0o755 });
    const env = { PATH: `${path}:${directory}` };
    expect(await call('nowhere', ['x'], { cwd: '/', env })).toEqual([0, `${directory}/nowhere x\n`, '']);
    chmodSync(join(directory, 'nowhere'), 0o644);
    const [code, , stderr] = await call('nowhere', ['x'], { cwd: '/', env });
    expect([code, stderr]).toEqual([126, "runner-exec: cannot run 'nowhere': Permission denied\n"]);
  });

  it('of another installation is passed over as well, so that two never pass a call to and fro', async () => {
    const other = holdfast.folder('other');
    const second = holdfast.folder('second');
    copyFileSync(programs.runnerExec, join(other, 'runner-exec'));
    symlinkSync(join(other, 'runner-exec'), join(second, 'nowhere'));
    const [code] = await call('nowhere', [], { cwd: '/', env: { PATH: `${path}:${second}` } });
    expect(code).toBe(127);
  });
});

describe('runner-exec', () => {
  const version = /^runner-exec \d/;

  it('is itself under any argv[0], as a copy, as a hard link, and as the first line of a script', async () => {
    const directory = holdfast.folder();
    copyFileSync(programs.runnerExec, join(directory, 'copy'));
    copyFileSync(programs.runnerExec, join(directory, 'runner-exec'));
    linkSync(join(directory, 'runner-exec'), join(directory, 'hard'));
    writeFileSync(join(directory, 'script'), `#!${programs.runnerExec} --version\n`, { mode: 0o755 });
    for (const name of ['copy', 'hard', 'script'])
      expect(`${(await holdfast.run([join(directory, name), '--version'])).stdout}`).toMatch(version);
    for (const argv0 of ['cargo', '-cargo', '/bin/cargo', '']) {
      expect(`${(await holdfast.runnerExec(['--version'], { argv0 })).stdout}`).toMatch(version);
    }
  });

  it('is a shim by the name of the link, whatever argv[0] says, which the tool is given', async () => {
    const { directory } = await project();
    const ended = await holdfast.run([join(shims, 'sh'), '-c', 'echo $0 $HELD'], { argv0: '/bin/other', cwd: directory });
    expect(`${ended.stdout}${ended.stderr}`).toBe('other yes\n');
  });

  it('may be a script’s first line by way of a shim', async () => {
    const { directory } = await project();
    writeFileSync(join(directory, 'script'), `#!${shims}/sh\necho "$HELD $*"\n`, { mode: 0o755 });
    const ended = await holdfast.run([join(directory, 'script'), 'a', 'b'], { cwd: directory });
    expect(`${ended.stdout}${ended.stderr}`).toBe('yes a b\n');
  });
});

describe('holdfast shim', () => {
  const shim = async (...args: string[]): Promise<[number | null, string, string]> => {
    const { code, stdout, stderr } = await holdfast.holdfast(['shim', ...args], { cwd: holdfast.directory });
    return [code, `${stdout}`, `${stderr}`];
  };

  it('says how to use what it has made, lists it and takes it away', async () => {
    const directory = join(holdfast.folder(), 'new');
    expect(await shim('install', directory, 'go')).toEqual([0, `put them first on your PATH: export PATH=${directory}:"$PATH"\n`, '']);
    expect(await shim('list', directory)).toEqual([0, `TOOL  PROGRAM\ngo    ${programs.runnerExec}\n`, '']);
    expect(JSON.parse((await shim('list', directory, '--json'))[1])).toEqual([
      { tool: 'go', program: programs.runnerExec, isBroken: false },
    ]);
    expect(await shim('remove', directory)).toEqual([0, '', '']);
    expect(readdirSync(dirname(directory))).toEqual([]);
  });

  it('refuses what would hide other programs, and what cannot be a name', async () => {
    expect(await shim('install', elsewhere, 'go')).toEqual([1, '', expect.stringContaining('it holds other things')]);
    expect(await shim('install', join(elsewhere, 'x'), 'a/b')).toEqual([2, '', expect.stringContaining("no shim called 'a/b'")]);
    expect(await shim('install', elsewhere)).toEqual([2, '', expect.stringContaining("'tool'")]);
  });
});
