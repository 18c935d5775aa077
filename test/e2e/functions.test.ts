// Pins the shell functions of an environment: which of them a session carries, at what cost, and what is said of a name that is one
// and no program. docs/config.md "Variables".

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { CountedProject } from '../fixtures/counted-project.js';
import { useHoldfast } from '../harness/holdfast.js';
import type { Ended } from '../harness/running.js';

const holdfast = useHoldfast();

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

const FUNCTIONS = `my-build() { echo "built $1"; }
my-test() { echo tested; }
helper() { echo helped; }
function größe { echo groß; }
function a.b:c { echo odd; }
`;

async function functionsIn(session: { output(command: string[]): Promise<string> }): Promise<string[]> {
  return (await session.output(['bash', '-c', 'compgen -A function | sort']))
    .trim()
    .split('\n')
    .filter((name) => name !== '');
}

const said = ({ code, stderr }: Ended): [number | null, string] => [code, `${stderr}`];

describe('the functions of a session', () => {
  it.for<[flags: string[], kept: string[]]>([
    [[], ['a.b:c', 'größe', 'helper', 'my-build', 'my-test']],
    [['all'], ['a.b:c', 'größe', 'helper', 'my-build', 'my-test']],
    [['none'], []],
    [['my-*'], ['my-build', 'my-test']],
    [
      ['my-b*', 'gr??e', 'a.b[:x]c'],
      ['a.b:c', 'größe', 'my-build'],
    ],
    [['my'], []],
  ])('are those that %j says', async ([globs, kept]) => {
    const session = await holdfast.open('filtered', {
      script: FUNCTIONS,
      flags: globs.flatMap((glob) => ['--functions', glob]),
      env: { LC_ALL: 'C.UTF-8' },
    });
    expect(await functionsIn(session)).toEqual(kept);
    const block = (await session.exec(['env', '-0'])).stdout.toString('latin1').split('\0');
    const carried = block.filter((pair) => pair.startsWith('BASH_FUNC_'));
    const bytes = carried.reduce((sum, pair) => sum + pair.length + 1, 0);
    expect(carried).toHaveLength(kept.length);
    expect(await session.status()).toMatchObject({ functions: { count: kept.length, bytes } });
    const { stdout } = await holdfast.holdfast(['status', 'filtered']);
    expect(`${stdout}`).toContain(`functions:   ${kept.length === 0 ? 'none' : `${kept.length}, ${bytes} bytes in every command`}\n`);
  });

  it('can be said in a file, where a wrong value is an error at its line', async () => {
    const project = new CountedProject(holdfast, `${FUNCTIONS}exec "$@"`);
    project.write('holdfast.toml', '[sessions.some]\nlauncher = ["bash", "./enter.sh"]\nfunctions = ["my-*"]\n');
    expect(await holdfast.holdfast(['open', 'some'], { cwd: project.directory })).toMatchObject({ code: 0 });
    expect(await functionsIn(await holdfast.adopt('some'))).toEqual(['my-build', 'my-test']);
    project.write('holdfast.toml', '[sessions.bad]\nlauncher = ["bash", "./enter.sh"]\nfunctions = "my-*"\n');
    expect(said(await holdfast.holdfast(['open', 'bad'], { cwd: project.directory }))).toEqual([
      1,
      expect.stringMatching(
        /holdfast.toml:3: 'functions' must be "all", "none", or a list of globs in quotes, such as \["my-\*"\], not "my-\*"/,
      ),
    ]);
  });
});

describe.each([
  ['runner-exec', (args: string[]) => holdfast.runnerExec(args)],
  ['holdfast __runner-exec', (args: string[]) => holdfast.holdfast(['__runner-exec', ...args])],
])('a name that is no program, for %s', (_, client) => {
  const run = async (session: string, name: string, flags: string[] = []): Promise<[number | null, string]> =>
    said(await client(['--session', session, ...flags, '--', name, 'x']));

  it('is a function of the session', async () => {
    await holdfast.open('web', { script: FUNCTIONS });
    expect(await run('web', 'my-build')).toEqual([
      127,
      "runner-exec: cannot run 'my-build': it is a shell function of session 'web', and no program; hint: run it as bash -c 'my-build ...'\n",
    ]);
    expect(await run('web', 'my-build', ['--exact'])).toEqual([127, expect.stringContaining("not found on the PATH of session 'web'")]);
    expect(await run('web', './my-build')).toEqual([127, expect.stringContaining('no such file')]);
    expect(await run('web', 'nothing')).toEqual([127, expect.stringContaining("'holdfast explain web PATH' shows that PATH")]);
  });

  it('is a function that the session leaves out', async () => {
    await holdfast.open('web', { script: FUNCTIONS, flags: ['--functions', 'none'] });
    expect(await run('web', 'my-build')).toEqual([
      127,
      "runner-exec: cannot run 'my-build': it is a shell function, which session 'web' lacks: its 'functions' leaves it out; " +
        "hint: name it there, open the session again, and run it as bash -c 'my-build ...'\n",
    ]);
  });

  it('is a function that a snapshot lacks, or a word of the shell', async () => {
    await new CountedProject(holdfast, `${FUNCTIONS}exec "$@"`).open('snap');
    expect(await run('snap', 'my-build')).toEqual([
      127,
      "runner-exec: cannot run 'my-build': it is a shell function, which session 'snap' lacks: a snapshot keeps variables alone; " +
        'hint: open it with mode = "session", and run it as bash -c \'my-build ...\'\n',
    ]);
    expect(await run('snap', 'cd')).toEqual([127, expect.stringContaining("it is a shell builtin: run it as sh -c 'cd ...', or bash -c")]);
    expect(await run('snap', 'nothing')).toEqual([127, expect.stringContaining("not found on the PATH of session 'snap'")]);
  });

  it('was looked up on a PATH of which it is said how to see it', async () => {
    await holdfast.open('web');
    const shown = "'holdfast explain web PATH' shows that PATH and where it came from\n";
    const withOptions = "'holdfast explain web PATH', with the options of this command, shows that PATH and where it came from\n";
    for (const [flags, hint] of [
      [[], shown],
      [['-e', 'XPATH=/a', '--pass-env', 'HOME', '--unset', 'A'], shown],
      [['-e', 'PATH=/a'], withOptions],
      [['--unset', 'PATH'], withOptions],
      [['--pass-env', 'PATH'], withOptions],
      [['--path-prepend', '/a'], withOptions],
      [['--exact'], withOptions],
    ] as const) {
      const message = "runner-exec: cannot run 'no-such': not found on the PATH of session 'web'; hint: ";
      expect(await run('web', 'no-such', [...flags])).toEqual([127, `${message}${hint}`]);
    }
  });

  it('is nothing on the host, or a word of the shell', async () => {
    expect(await holdfast.holdfast(['open', 'host', '--mode', 'host'])).toMatchObject({ code: 0 });
    await holdfast.adopt('host');
    expect(await run('host', 'my-build')).toEqual([127, expect.stringContaining("not found on the PATH of session 'host'")]);
    expect(await run('host', 'export')).toEqual([127, expect.stringContaining("it is a shell builtin: run it as sh -c 'export ...'")]);
  });
});

describe('the comparison of the modes in docs/config.md', () => {
  it('is what its command prints', async () => {
    const { code, stdout, stderr } = await holdfast.run([process.execPath, join(root, 'scripts/modes.mjs')]);
    expect({ code, stderr: `${stderr}` }).toEqual({ code: 0, stderr: '' });
    const rows = `${stdout}`.split('\n').map((line) => line.split(/ {2,}/));
    expect(rows.slice(1, 4)).toEqual([
      ['host', '(status 1)', '(status 127)'],
      ['snapshot', '/opt/sdk', '(status 127)'],
      ['session', '/opt/sdk', 'built with /opt/sdk'],
    ]);
    const documentation = readFileSync(join(root, 'docs/config.md'), 'utf8');
    expect(documentation).toContain(`\`\`\`\n${stdout}\`\`\``);
  });
});
