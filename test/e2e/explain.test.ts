// Pins `holdfast explain`: it says what a command gets, in every mode, and why; and what it says cannot act on a terminal.

import { describe, expect, it } from 'vitest';
import { CountedProject } from '../fixtures/counted-project.js';
import { useHoldfast } from '../harness/holdfast.js';
import type { RunOptions } from '../harness/running.js';
import type { Session } from '../harness/session.js';

const holdfast = useHoldfast();

interface Explained {
  readonly mode: string;
  readonly whole: boolean;
  readonly functions: { readonly count: number; readonly bytes: number };
  readonly variables: {
    readonly name: string;
    readonly value: string;
    readonly bytes?: true;
    readonly from: string;
    readonly entries?: unknown[];
  }[];
  readonly absent: { readonly name?: string; readonly function?: string; readonly why: string }[];
}

const SCRIPT = `export FROM_ENV=env BOTH=env RAW=$'\\xff\\n' PATH="$PWD/bin:$PATH" GREET=hi
greet() { echo "$GREET"; }
helper() { :; }
`;
const CALLER = { GOFLAGS: '-mod=mod', SECRET: 'hunter2', TOKEN: 'now', TERM: 'vt100' };

async function explain(args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await holdfast.holdfast(['explain', ...args], { env: CALLER, ...options });
  if (code !== 0 || stderr.length > 0) throw new Error(`explain ended with ${code}: ${stderr}`);
  return `${stdout}`;
}

async function explained(args: readonly string[], options?: RunOptions): Promise<Explained> {
  return JSON.parse(await explain([...args, '--json'], options));
}

/** As bytes, whatever JSON made of them. */
function pairsOf({ variables }: Explained): string[] {
  const latin1 = (value: string, isBytes: true | undefined): string => (isBytes ? value : Buffer.from(value).toString('latin1'));
  return variables.map(({ name, value, bytes }) => `${latin1(name, undefined)}=${latin1(value, bytes)}`).sort();
}

async function environmentOf(session: Session, flags: readonly string[], options: RunOptions = {}): Promise<string[]> {
  const { code, stdout } = await session.exec(['env', '-0'], { flags, env: CALLER, ...options });
  expect(code).toBe(0);
  return stdout.toString('latin1').split('\0').slice(0, -1).sort();
}

const FLAGS = ['-e', 'BOTH=typed', '--pass-env', 'SECRET', '--unset', 'FROM_ENV', '--path-prepend', 'tools', '--pass-env', '*'];

describe.each(['session', 'snapshot', 'host'])('in mode %s', (mode) => {
  it.for<[what: string, flags: string[]]>([
    ['nothing asked for', []],
    ['all of it asked for', FLAGS],
    ['an exact request', ['--exact', '-e', 'A=1', '--path-prepend', '/bin', '--path-prepend', '/usr/bin', '--pass-env', 'SECRET']],
  ])('what it says is what a command gets, with %s', async ([, flags]) => {
    const declared = [
      '--env',
      'BOTH=declared',
      '--runtime-env',
      'RUN=1',
      '--pass-env',
      'SECRET',
      '--pass-env',
      '*',
      '--runtime-pass-env',
      'TOKEN',
    ];
    const project = new CountedProject(holdfast, `${SCRIPT}exec "$@"`);
    const launcher = mode === 'host' ? [] : ['--launcher', 'bash', '--launcher', './enter.sh'];
    const args = ['open', 'web', '--mode', mode, ...launcher, ...declared, '--path-prepend', '/declared', '--functions', 'gr*'];
    const opened = await holdfast.holdfast(args, { cwd: project.directory, env: { ...CALLER, WEAK: 'w', GOFLAGS: 'then' } });
    expect(`${opened.stderr}`).toBe('');
    const session = await holdfast.adopt('web');
    const cwd = holdfast.folder();
    const all = await explained(['web', ...flags], { cwd });
    expect(pairsOf(all)).toEqual(await environmentOf(session, flags, { cwd }));
    expect(all).toMatchObject({
      mode,
      identity: { kind: 'asserted' },
      whole: true,
      functions: { count: mode === 'session' && !flags.includes('--exact') ? 1 : 0 },
    });
  });
});

describe('who gave what', () => {
  it('is said of each variable, function and directory of PATH, and of what is not there', async () => {
    const project = new CountedProject(holdfast, `${SCRIPT}exec "$@"`);
    const session = await holdfast.open('web', {
      launcher: ['bash', './enter.sh'],
      cwd: project.directory,
      flags: ['--env', 'BOTH=declared', '--path-prepend', '/declared', '--functions', 'gr*', '--runtime-pass-env', 'TOKEN'],
    });
    const { variables, absent } = await explained(['web', '-e', 'GREET=hello']);
    const from = Object.fromEntries(variables.map((variable) => [variable.name, variable.from]));
    expect(from).toMatchObject({
      FROM_ENV: 'environment',
      BOTH: 'env',
      HOME: 'host',
      GREET: '--env',
      TOKEN: 'runtime_pass_env',
      PWD: 'directory',
      'BASH_FUNC_greet%%': 'environment',
    });
    expect(absent).toEqual(expect.arrayContaining([expect.objectContaining({ function: 'helper', why: 'filtered' })]));
    expect(absent).toEqual(expect.arrayContaining([{ name: 'GOFLAGS', value: '-mod=mod', why: 'scrubbed' }]));
    const path = await explain(['web', 'PATH', '--path-prepend', '/typed']);
    const lines = path.trimEnd().split('\n');
    expect(lines.slice(0, 4)).toEqual([
      'PATH:',
      expect.stringMatching(/^ {2}\/typed +this command \(--path-prepend\)$/),
      expect.stringMatching(/^ {2}\/declared +declared \(path_prepend\)$/),
      expect.stringMatching(/^ {2}\/.*\/project-\d+\/bin +the environment$/),
    ]);
    expect(lines.at(-1)).toMatch(/^ {2}\/\S+ +the host$/);
    expect(await explain(['web', 'BOTH'])).toBe('BOTH=declared\nfrom declared (env)\nover the environment: env\n');
    expect(await explain(['web', 'greet'])).toBe('greet () {  echo "$GREET"\n}\nfrom the environment\n');
    expect(await explain(['web', 'helper'])).toBe("helper()\nnot there: a function that the session's 'functions' leaves out\n");
    expect(await explain(['web', 'GOFLAGS'])).toBe('GOFLAGS=-mod=mod\nnot there: yours, and neither given to the launcher nor passed\n');
    await session.close();
  });

  it('is shown escaped: nothing of a value acts on a terminal', async () => {
    await holdfast.open('web', { script: `export EVIL=$'\\e[2J\\x9b31m\\xff\\n' BIDI=$'\\u202e'; $'\\x1bfn'() { :; }` });
    const all = await explain(['web']);
    expect(all).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
    expect(all).toContain("EVIL=$'\\E[2J\\23331m\\377\\n'");
  });

  it('of a function is found by its name, and by what is shown of it', async () => {
    await holdfast.open('web', { script: 'build() { make; }' });
    const shown = await explain(['web', 'build']);
    expect(shown).toContain('build () {');
    expect(await explain(['web', 'build()'])).toBe(shown);
  });

  it('is unknown for what nobody has: near names are told', async () => {
    await holdfast.open('web', { script: 'export CARGO_HOME=/c' });
    const { code, stderr } = await holdfast.holdfast(['explain', 'web', 'CARGO_HOMES']);
    expect([code, `${stderr}`]).toEqual([
      2,
      "holdfast: no variable or function 'CARGO_HOMES' is set in session 'web'\nhint: did you mean 'CARGO_HOME'?\n",
    ]);
    const evil = await holdfast.holdfast(['explain', 'web', 'X\x1b[2JYZW']);
    expect(`${evil.stderr}`).toContain("no variable or function 'X\\E[2JYZW'");
  });

  it('takes no option that runner-exec would refuse', async () => {
    await holdfast.open('web');
    const { code, stderr } = await holdfast.holdfast(['explain', 'web', '-e', 'NOVALUE']);
    expect([code, `${stderr}`]).toEqual([2, expect.stringContaining("bad value 'NOVALUE' of '--env': it has no '='")]);
  });

  it('of a session that is not open is an error with the cure', async () => {
    const { code, stderr } = await holdfast.holdfast(['explain', 'closed', 'PATH']);
    expect([code, `${stderr}`]).toEqual([
      1,
      expect.stringMatching(/^holdfast: session 'closed' is not open\nhint: .*holdfast open closed/),
    ]);
  });
});

describe('the difference to the caller', () => {
  it('is what the session adds, changes and takes away', async () => {
    await holdfast.open('web', { script: 'export NEW=1 LANG=C PATH="/in:$PATH"; greet() { :; }' });
    const text = await explain(['web', '--diff'], { env: { ...CALLER, LC_ALL: 'C' } });
    const lines = text.split('\n');
    expect(lines).toEqual(
      expect.arrayContaining([
        '+ NEW=1',
        '~ LANG=C',
        '    was C.UTF-8',
        '~ PATH',
        '    + /in',
        '- GOFLAGS=-mod=mod',
        'functions:',
        '+ greet()',
      ]),
    );
    expect(lines.indexOf('functions:')).toBeGreaterThan(lines.indexOf('- GOFLAGS=-mod=mod'));
    const json: unknown = JSON.parse(await explain(['web', 'PATH', '--diff', '--json']));
    expect(json).toMatchObject({ added: [], removed: [], changed: [{ name: 'PATH', entries: { added: ['/in'], removed: [] } }] });
  });
});

describe('mode host', () => {
  it('is the host as a launcher would see it: who and where one is, and nothing that steers a build', async () => {
    const env = {
      ...CALLER,
      LC_ALL: 'C',
      XDG_CONFIG_HOME: '/xdg',
      NODE_OPTIONS: '--no-warnings',
      MAKEFLAGS: '-j',
      BASH_ENV: '/nowhere',
      LD_PRELOAD: '',
    };
    expect(await holdfast.holdfast(['open', 'host', '--mode', 'host'], { env })).toMatchObject({ code: 0 });
    const session = await holdfast.adopt('host');
    const names = (await session.output(['env', '-0']))
      .split('\0')
      .slice(0, -1)
      .map((pair) => pair.slice(0, pair.indexOf('=')));
    expect(names.sort()).toEqual(['HOME', 'LANG', 'LC_ALL', 'PATH', 'TERM', 'TMPDIR', 'XDG_CONFIG_HOME']);
    const { variables } = await explained(['host']);
    expect(new Set(variables.map(({ from }) => from))).toEqual(new Set(['host']));
    expect(await explain(['host'])).toMatch(/^no environment is entered: the host itself, as a launcher would see it\nFROM /);
    // What prepare() and a caller who wants the identity use.
    const all = await session.output(['printenv', 'GOFLAGS', 'NODE_OPTIONS'], { flags: ['--pass-env', '*'], env });
    expect(all).toBe('-mod=mod\n--no-warnings\n');
  });
});

describe('a prefix that makes the environment elsewhere', () => {
  it('leaves what is set there, and says that it is not all', async () => {
    const flags = ['--prefix', 'env', '--prefix', '-i', '--env-style', 'env-command', '--env', 'A=1'];
    expect(await holdfast.holdfast(['open', 'box', ...flags])).toMatchObject({ code: 0 });
    await holdfast.adopt('box');
    const all = await explained(['box', '-e', 'B=2']);
    expect(all.whole).toBe(false);
    expect(all.variables.map(({ name, from }) => `${name} ${from}`)).toEqual(['A env', 'B --env']);
    expect(await explain(['box'])).toMatch(/^the prefix makes the environment elsewhere, where it cannot be looked at/);
    expect(await explain(['box', '--diff'])).toBe('+ A=1\n');
  });
});
