// Pins docs/config.md "Fingerprint" on real openings: one value whoever opens, another one as soon as anything moves.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { SessionFingerprint } from '../../src/index.js';
import { makeNixProject, type NixProject } from '../fixtures/nix-project.js';
import { programs, useHoldfast } from '../harness/holdfast.js';
import { needs } from '../harness/needs.js';

const holdfast = useHoldfast();
const OPENINGS_MS = 240_000;

interface Opening {
  /** Of the library's openSession. */
  readonly options: Record<string, unknown>;
  readonly env: Record<string, string>;
}

async function fingerprints(openings: readonly Opening[]): Promise<SessionFingerprint[]> {
  const script = join(import.meta.dirname, '../fixtures/fingerprints.mjs');
  const { code, stdout, stderr } = await holdfast.run([process.execPath, script, programs.library], { stdin: JSON.stringify(openings) });
  expect({ code, stderr: `${stderr}` }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(`${stdout}`);
}

function project(files: Record<string, string>): string {
  const directory = holdfast.folder('project');
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  return directory;
}

const SCRIPT = `export GREETING=hello PATH="$PWD/tools:$PATH" XDG_DATA_DIRS="$PWD/share:\${XDG_DATA_DIRS-}"
export STARTED=$$ SCRATCH=$(mktemp -u) NIX_CFLAGS_COMPILE=-O2
greet() { echo "$GREETING $1"; }
`;

function define(directory: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    name: 'fp',
    cwd: directory,
    source: 'env.sh',
    inputs: ['env.sh', 'lock'],
    env: { A: '1' },
    runtimeEnv: { R: '1' },
    passEnv: ['TOKEN'],
    runtimePassEnv: ['SSH_AUTH_SOCK'],
    volatile: ['STARTED', 'SCRATCH'],
    ...more,
  };
}

/** Callers as different as they come; each has the same TOKEN, which is what pass_env names. */
function ambient(seed: number): Record<string, string> {
  const pick = <T>(...choices: T[]): T | undefined => choices[(seed * 7 + choices.length * 3) % (choices.length + 1)];
  const given: Record<string, string | undefined> = {
    HOME: pick('/root', '/tmp', '/'),
    USER: `user${seed}`,
    TERM: pick('dumb', 'xterm-256color'),
    COLORTERM: pick('truecolor'),
    LANG: pick('C', 'C.UTF-8', 'de_DE.UTF-8'),
    LC_ALL: pick('C', 'POSIX'),
    TZ: pick('UTC', 'Asia/Tokyo'),
    TMPDIR: pick('/tmp', '/var/tmp'),
    XDG_RUNTIME_DIR: `/run/user/${seed}`,
    XDG_SESSION_ID: `${seed}`,
    XDG_DATA_DIRS: pick('/usr/share', `/home/u${seed}/share:/usr/local/share:/usr/share`),
    XDG_CONFIG_DIRS: pick('/etc/xdg', `/home/u${seed}/xdg`),
    https_proxy: pick(`http://proxy:${seed}`),
    SSL_CERT_FILE: pick('/etc/ssl/certs/ca-certificates.crt'),
    GOFLAGS: `-p=${seed}`,
    CFLAGS: pick('-O3'),
    SSH_AUTH_SOCK: `/tmp/ssh-${seed}`,
    NODE_OPTIONS: pick('--no-warnings'),
    TMUX_PANE: `%${seed}`,
    DIRENV_DIFF: `x${seed}`,
    PWD: '/somewhere',
    SHLVL: `${seed}`,
    [`ODD_${seed}`]: 'x\ny',
  };
  const path = [...(seed % 3 === 0 ? [`/home/u${seed}/bin`] : []), ...(seed % 4 === 1 ? ['/opt/x'] : []), holdfast.env['PATH'] ?? ''];
  const said = Object.entries(given).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const { HOLDFAST_RUNTIME_DIR = '' } = holdfast.env;
  return { ...Object.fromEntries(said), PATH: path.join(':'), TOKEN: 'secret', HOLDFAST_RUNTIME_DIR };
}

describe('the fingerprint of a session', () => {
  it(
    'is one value over fifty openings by fifty callers',
    async () => {
      const directory = project({ 'env.sh': SCRIPT, lock: '1' });
      const found = await fingerprints(Array.from({ length: 50 }, (_, i) => ({ options: define(directory), env: ambient(i + 1) })));
      expect(new Set(found.map(({ parts }) => JSON.stringify(parts))).size).toBe(1);
      expect(new Set(found.map(({ fingerprint }) => fingerprint)).size).toBe(1);
      expect(found[0]?.leftOut).toEqual(expect.arrayContaining(['PWD', 'SCRATCH', 'SHLVL', 'STARTED', 'USER']));
    },
    OPENINGS_MS,
  );

  it(
    'is another one after each edit that matters, and the same after all others',
    async () => {
      const files = { 'env.sh': SCRIPT, lock: '1' };
      const directory = project(files);
      const env = ambient(1);
      const plain = define(directory);
      const script = (text: string): Opening => ({ options: define(project({ ...files, 'env.sh': text })), env });
      // Without the script among the inputs, so that only what it does can tell.
      const unseen = (text: string): Opening => ({ options: define(project({ ...files, 'env.sh': text }), { inputs: ['lock'] }), env });
      const scripted = (text: string): Opening => {
        const options = define(project({ ...files, 'enter.sh': text }), { source: undefined, launcher: ['bash', './enter.sh'] });
        return { options, env };
      };
      const relevant: Record<string, Opening> = {
        'a value of env': { options: define(directory, { env: { A: '2' } }), env },
        'the value that pass_env found': { options: plain, env: { ...env, TOKEN: 'other' } },
        'its absence': { options: plain, env: Object.fromEntries(Object.entries(env).filter(([name]) => name !== 'TOKEN')) },
        'a launcher': { options: define(directory, { source: undefined, launcher: ['env'] }), env },
        'a word of it': { options: define(directory, { source: undefined, launcher: ['env', 'A=1'] }), env },
        'a launcher script': scripted('exec "$@"\n'),
        'the text of a launcher script': scripted('# a comment\nexec "$@"\n'),
        'a prefix': { options: define(directory, { source: undefined, mode: 'wrap', prefix: ['env'] }), env },
        'a word of the prefix': { options: define(directory, { source: undefined, mode: 'wrap', prefix: ['env', 'W=1'] }), env },
        'the text of the script': script(`${SCRIPT}# a comment\n`),
        'the content of an input': { options: define(project({ ...files, lock: '2' })), env },
        'the lack of an input': { options: define(project({ 'env.sh': SCRIPT })), env },
        path_prepend: { options: define(directory, { pathPrepend: ['bin'] }), env },
        'the mode': { options: define(directory, { mode: 'snapshot' }), env },
        'a name in runtime_pass_env': { options: define(directory, { runtimePassEnv: ['SSH_AUTH_SOCK', 'DISPLAY'] }), env },
        'the identity': { options: define(directory, { identity: 'sdk 4.2' }), env },
        'no input but the lock': unseen(SCRIPT),
        'a variable of the script': unseen(SCRIPT.replace('hello', 'hallo')),
        'the body of a function': unseen(SCRIPT.replace('$1"', '$2"')),
        'a function more': unseen(`${SCRIPT}again() { greet; }\n`),
        'a directory that the script puts on PATH': unseen(SCRIPT.replace('tools', 'kit')),
        'a flag of the compiler': unseen(SCRIPT.replace('-O2', '-O3')),
      };
      const irrelevant: Record<string, Opening> = {
        'the value of runtime_env': { options: define(directory, { runtimeEnv: { R: '2', S: '3' } }), env },
        idle_timeout: { options: define(directory, { idleTimeoutMs: 5000 }), env },
        'the name': { options: define(directory, { name: 'other' }), env },
        "the caller's GOFLAGS": { options: plain, env: { ...env, GOFLAGS: '-race' } },
        'the socket of its ssh agent': { options: plain, env: { ...env, SSH_AUTH_SOCK: '/other' } },
        'the concurrency': { options: define(directory, { maxConcurrent: 2, containment: 'group' }), env },
      };
      const [first, ...found] = await fingerprints([{ options: plain, env }, ...Object.values(relevant), ...Object.values(irrelevant)]);
      const values = new Map([...Object.keys(relevant), ...Object.keys(irrelevant)].map((edit, i) => [edit, found[i]?.fingerprint]));
      for (const edit of Object.keys(irrelevant)) expect(values.get(edit), edit).toBe(first?.fingerprint);
      const moved = Object.keys(relevant).map((edit) => values.get(edit));
      expect(new Set([first?.fingerprint, ...moved]).size, JSON.stringify([...values], undefined, 1)).toBe(moved.length + 1);
    },
    OPENINGS_MS,
  );

  it('is printed, and told by status', async () => {
    const session = await holdfast.open('web', { script: 'export A=1', flags: ['--identity', 'sdk 4.2'] });
    const { code, stdout, stderr } = await holdfast.holdfast(['fingerprint', 'web']);
    expect({ code, stderr: `${stderr}` }).toEqual({ code: 0, stderr: '' });
    expect(`${stdout}`).toMatch(/^sha256:[0-9a-f]{64}\n$/);
    const fingerprint = `${stdout}`.trim();
    const identity = { kind: 'asserted', by: 'sdk 4.2' };
    expect(await session.status()).toMatchObject({ fingerprint, identity });
    const json: unknown = JSON.parse(
      `${(await holdfast.holdfast(['fingerprint', '--json'], { env: { HOLDFAST_SESSION: 'web' } })).stdout}`,
    );
    expect(json).toMatchObject({ fingerprint, identity, parts: { functions: expect.any(String) }, leftOut: expect.any(Array) });
    expect(`${(await holdfast.holdfast(['status', 'web'])).stdout}`).toContain('asserted by sdk 4.2');
  });

  it('of what is not open is an error', async () => {
    const { code, stderr } = await holdfast.holdfast(['fingerprint', 'nothing']);
    expect({ code, stderr: `${stderr}` }).toEqual({ code: 1, stderr: expect.stringMatching(/^holdfast: .*'nothing'.*\nhint: .*\n$/) });
  });
});

describe('the fingerprint of a snapshot', () => {
  it(
    'is one value, just entered or from the cache',
    async () => {
      const options = define(project({ 'env.sh': SCRIPT, lock: '1' }), { mode: 'snapshot' });
      const cache = { XDG_CACHE_HOME: holdfast.folder('cache') };
      const found = await fingerprints([1, 1, 2, 3].map((seed) => ({ options, env: { ...ambient(seed), ...cache } })));
      expect(found.map(({ parts }) => parts)).toEqual(found.map(() => found[0]?.parts));
    },
    OPENINGS_MS,
  );
});

describe('the fingerprint of what direnv loads', () => {
  it(
    'is one value for every caller, and moves with the .envrc',
    async (t) => {
      needs(t, 'direnv');
      // It keeps what is allowed, and its settings, at home.
      const homes = [holdfast.folder('home'), holdfast.folder('home')];
      const allowed = async (envrc: string): Promise<Record<string, unknown>> => {
        const directory = project({ '.envrc': envrc });
        for (const HOME of homes) expect(await holdfast.run(['direnv', 'allow', directory], { env: { HOME } })).toMatchObject({ code: 0 });
        return define(directory, { source: undefined, provider: 'direnv', inputs: [], volatile: [] });
      };
      const one = await allowed('PATH_add bin\nexport GREETING=hello\n');
      const other = await allowed('PATH_add bin\nexport GREETING=hallo\n');
      const callers = [1, 2, 3].map((seed) => ({ ...ambient(seed), HOME: homes[seed % 2] ?? '' }));
      const found = await fingerprints([...callers.map((env) => ({ options: one, env })), { options: other, env: callers[0] ?? {} }]);
      const moved = found.pop();
      expect(found.map(({ parts }) => parts)).toEqual(found.map(() => found[0]?.parts));
      expect(moved?.fingerprint).not.toBe(found[0]?.fingerprint);
    },
    OPENINGS_MS,
  );
});

describe('the fingerprint of a nix flake', () => {
  let made: NixProject | undefined;
  afterAll(() => made?.remove());

  it(
    'is one value over openings, for every caller and from inside itself',
    async (t) => {
      needs(t, 'nix');
      made = makeNixProject(holdfast.folder('nix'));
      const { directory, env } = made;
      const options = define(directory, {
        source: undefined,
        launcher: ['nix', '--extra-experimental-features', 'nix-command flakes', 'develop', '--command'],
        inputs: ['flake.nix', 'flake.lock'],
        volatile: [],
      });
      const openings = [1, 2, 3, 4].map((seed) => ({ options, env: { ...ambient(seed), ...env } }));
      const [first, ...others] = await fingerprints(openings);
      expect(others.map(({ parts }) => parts)).toEqual(others.map(() => first?.parts));
      expect(first?.leftOut).toEqual(expect.arrayContaining(['NIX_BUILD_TOP', 'TMPDIR']));

      const opened = await holdfast.holdfast(['open', 'dev', '--', 'nix', 'develop', '--command'], { cwd: directory, env });
      expect({ code: opened.code, stderr: `${opened.stderr}` }).toEqual({ code: 0, stderr: '' });
      const session = await holdfast.adopt('dev');
      const outside = await holdfast.holdfast(['fingerprint', 'dev']);
      const inner = `${programs.holdfast} open inner -- nix develop --command && ${programs.holdfast} fingerprint inner; ${programs.holdfast} close inner`;
      const inside = await session.exec(['sh', '-c', inner], { cwd: directory, flags: ['--pass-env', 'HOLDFAST_RUNTIME_DIR'] });
      expect(`${inside.stdout}`).toBe(`${outside.stdout}`);
    },
    OPENINGS_MS,
  );
});
