// Each style, on stand-ins for docker exec and ssh (test/fixtures/wrap): what is asked for arrives inside, byte for byte.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MARKER_NAME, type WrapInput, wrapCommand, wrapScript } from '../../../src/wrap/command.js';
import type { WrapDefinition } from '../../../src/wrap/definition.js';
import { insideOf, NASTY, runBytes, wrapOf } from './wraps.js';

const box = fileURLToPath(new URL('../../fixtures/wrap/box', import.meta.url));
const farhost = fileURLToPath(new URL('../../fixtures/wrap/farhost', import.meta.url));
const PATH = ['PATH', '/usr/local/bin:/usr/bin:/bin'] as const;
const BOX = { prefix: [box, 'exec', '-i'], operand: ['box1'] };

/** Every style that has an inside of its own. */
const REMOTE: Readonly<Record<string, WrapDefinition>> = {
  option: wrapOf({ ...BOX, envStyle: 'option', envOption: '-e', cwdOption: '-w' }),
  'option, directory from inside': wrapOf({ ...BOX, envStyle: 'option', envOption: '-e' }),
  'option-by-name': wrapOf({ ...BOX, envStyle: 'option-by-name', envOption: '-e', cwdOption: '--workdir=' }),
  setenv: wrapOf({ ...BOX, envStyle: 'setenv', envOption: '--setenv', cwdOption: '-w' }),
  'env-command': wrapOf({ ...BOX, envStyle: 'env-command', cwdOption: '-w' }),
  'env-command, directory from inside': wrapOf({ ...BOX, envStyle: 'env-command', endOfOptions: '--' }),
  'remote-shell': wrapOf({ prefix: [farhost, 'host'], envStyle: 'remote-shell' }),
};
const styles = Object.entries(REMOTE).map(([name, wrap]) => ({ name, wrap }));

let scratch = '';
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'wrap.'));
  mkdirSync(join(scratch, "it's a dir"));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function run(wrap: WrapDefinition, input: Partial<WrapInput>, variables: readonly (readonly [string, string])[] = []) {
  const { argv, environment } = wrapCommand(wrap, { argv: ['true'], environment: insideOf(), cwd: '/', isTerminal: false, ...input });
  return runBytes(argv, new Map([PATH, ...variables, ...environment]));
}

function show(words: readonly string[]): string[] {
  return ['/bin/sh', '-c', 'printf "%s\\0" "$@"', 'show', ...words];
}

describe.each(styles)('with $name', ({ wrap, name }) => {
  it('words arrive as they are', () => {
    expect(run(wrap, { argv: show(NASTY) })).toEqual({ status: 0, out: NASTY.map((word) => `${word}\0`).join(''), err: '' });
  });

  it('variables arrive as they are, whatever their names', () => {
    const set = new Map([
      ...NASTY.map((value, index) => [`N${index}`, value] as const),
      ['BASH_FUNC_f%%', '() { :;\n}'],
      ['a-b', 'c'],
      ['UID', '7'],
      ['-x', 'y'],
    ]);
    // Names that no option of bash's can give back are for docker itself: the stand-in is a bash script.
    if (name === 'option-by-name') for (const odd of ['BASH_FUNC_f%%', 'a-b', 'UID', '-x']) set.delete(odd);
    const out = run(wrap, { argv: ['env', '-0'], environment: insideOf({ set }) }).out.split('\0');
    for (const [key, value] of set) expect(out).toContain(`${key}=${value}`);
    expect(out).toContain('IMAGE=yes');
  });

  it('variables that a shell sets itself arrive in the same way, and the last sign is that of the command', () => {
    const set = new Map(NASTY.map((value, index) => [`ORDINARY_${index}`, value] as const));
    const file = join(scratch, `sign of ${name}`);
    const proof = { kind: 'file', path: file, word: 'reached' } as const;
    const { status, out, err } = run(wrap, { argv: ['env', '-0'], environment: insideOf({ set }), proof });
    expect([status, err, readFileSync(file, 'utf8')]).toEqual([0, '', 'reached\n']);
    for (const [key, value] of set) expect(out.split('\0')).toContain(`${key}=${value}`);
    rmSync(file);
  });

  it('the directory is entered, whatever its name', () => {
    const cwd = join(scratch, "it's a dir");
    expect(run(wrap, { argv: ['/bin/pwd'], cwd })).toEqual({ status: 0, out: `${cwd}\n`, err: '' });
    expect(run(wrap, { argv: ['/bin/pwd'], cwd: '/home/me', ...{} }).status).not.toBe(0);
  });

  it('a mapped directory is entered', () => {
    const mapped = { ...wrap, pathMap: { '/work of mine': scratch }, mapArgv: true };
    expect(run(mapped, { argv: ['sh', '-c', 'pwd; echo "$1"', 'x', '--in=/work of mine/x'], cwd: "/work of mine/it's a dir" }).out).toBe(
      `${scratch}/it's a dir\n--in=${scratch}/x\n`,
    );
  });

  it('a variable is taken away', () => {
    expect(run(wrap, { argv: ['sh', '-c', 'echo "${IMAGE-none}"'], environment: insideOf({ unset: ['IMAGE'] }) }).out).toBe('none\n');
  });

  it('an exact environment is exact, or refused', () => {
    const environment = insideOf({
      exact: true,
      set: new Map([
        ['A', '1'],
        ['B', 'x y'],
      ]),
    });
    if (name === 'option-by-name') {
      expect(() => run(wrap, { environment })).toThrow(/exact/);
      return;
    }
    expect(
      run(wrap, { argv: ['/usr/bin/env'], environment, cwd: '' })
        .out.split('\n')
        .sort(),
    ).toEqual(['', 'A=1', 'B=x y']);
  });

  it('a weak value gives way to the one inside', () => {
    const environment = insideOf({
      weak: new Map([
        ['IMAGE', 'no'],
        ['NEW', "it's"],
        ['PATH', '/nowhere'],
        ['a-b', '1'],
      ]),
    });
    expect(run(wrap, { argv: ['sh', '-c', 'echo "$IMAGE $NEW"; env | grep -c HOLDFAST'], environment })).toEqual({
      status: 1,
      out: "yes it's\n0\n",
      err: '',
    });
  });

  it('directories lead the PATH inside', () => {
    expect(run(wrap, { argv: ['sh', '-c', 'echo "$PATH"'], environment: insideOf({ pathPrepend: ['/a b', '/c'] }) }).out).toBe(
      '/a b:/c:/usr/local/bin:/usr/bin:/bin\n',
    );
  });

  it('a PATH that is said decides what is found', () => {
    writeFileSync(join(scratch, 'only-there'), '#!/bin/sh\necho there\n', { mode: 0o755 });
    const set = new Map([['PATH', `${scratch}:/usr/bin:/bin`]]);
    expect(run(wrap, { argv: ['only-there'], environment: insideOf({ set }) }).out).toBe('there\n');
    expect(run(wrap, { argv: ['only-there'] }).status).toBe(127);
  });

  it('a command that begins with a dash, or has an equals sign, stays a command', () => {
    for (const odd of ['-e', 'a=b', '--help', '-x=y']) {
      writeFileSync(join(scratch, odd), '#!/bin/sh\necho "ran $*"\n', { mode: 0o755 });
      const set = new Map([['PATH', `${scratch}:/usr/bin:/bin`]]);
      // env(1) of the stand-in itself takes what has an equals sign; a real engine does not.
      if (odd === 'a=b' && /option|setenv/.test(name)) continue;
      expect(run(wrap, { argv: [odd, 'EVIL=1', 'box1'], environment: insideOf({ set }) }), odd).toEqual({
        status: 0,
        out: 'ran EVIL=1 box1\n',
        err: '',
      });
    }
  });

  it('a command gets the name that it is to see', () => {
    const { out, err } = run(wrap, { argv: ['-login', '-c', 'echo "$0 $1"', '-login', "it's"], program: '/bin/bash' });
    expect([out, err]).toEqual(["-login it's\n", '']);
  });

  it('the marker is inside, by value', () => {
    const { out } = run(wrap, { argv: ['sh', '-c', 'echo "$HOLDFAST_RUN"'], marker: 'abc.1' });
    expect(out).toBe('abc.1\n');
    expect(wrapCommand(wrap, inputOf({ marker: 'abc.1' })).environment.has(MARKER_NAME)).toBe(false);
  });

  it('the status is the command’s', () => {
    for (const status of [0, 1, 125, 126, 127, 255]) expect(run(wrap, { argv: ['sh', '-c', `exit ${status}`] }).status).toBe(status);
  });

  it('a proof of the start is given by file and by descriptor, and only with a start', () => {
    const path = join(scratch, `proof of ${name}`);
    run(wrap, { proof: { kind: 'file', path, word: 'one' } });
    run(wrap, { proof: { kind: 'file', path, word: 'two' } });
    run(wrap, { cwd: '/nowhere/at/all', proof: { kind: 'file', path, word: 'three' } });
    expect(runBytes(['cat', path]).out).toBe('one\ntwo\n');
    expect(run(wrap, { proof: { kind: 'file', path: '/nowhere/at/all', word: 'x' } })).toEqual({ status: 0, out: '', err: '' });
    const { argv, environment } = wrapCommand(wrap, inputOf({ argv: ['sh', '-c', 'echo on >&4'], proof: { kind: 'descriptor', fd: 4 } }));
    const { out, status } = runBytes(['bash', '--norc', '-c', '"$@" 4>&1 2>/dev/null', 'x', ...argv], new Map([PATH, ...environment]));
    expect([out, status === 0]).toEqual(['\n', false]);
  });

  it('a script of ours is run by the same way in', () => {
    expect(runBytes(wrapScript(wrap, 'printf "%s|" "$@"; echo "$IMAGE"', ["it's", 'b']), new Map([PATH])).out).toBe("it's|b|yes\n");
  });
});

describe('any words and variables', () => {
  const text = fc.string({ unit: fc.integer({ min: 1, max: 255 }).map((code) => String.fromCharCode(code)), maxLength: 20 });
  const key = fc.stringMatching(/^[A-Z]{1,4}$/).map((name) => `V_${name}`);

  it.each(styles)('arrive with $name', ({ wrap }) => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 4 }), fc.dictionary(key, text, { maxKeys: 4 }), (words, variables) => {
        const set = new Map(Object.entries(variables));
        const { out } = run(wrap, { argv: show(words), environment: insideOf({ set }) });
        expect(out).toBe(words.length === 0 ? '\0' : words.map((word) => `${word}\0`).join(''));
        const inside = run(wrap, { argv: ['env', '-0'], environment: insideOf({ set }) }).out.split('\0');
        for (const [name, value] of set) expect(inside).toContain(`${name}=${value}`);
      }),
      { numRuns: 12 },
    );
  });
});

describe('the environment that is handed on', () => {
  it('is the wrapper’s own, and no option says anything of it', () => {
    const wrap = wrapOf({ prefix: ['chroot', '/r'] });
    expect(wrapCommand(wrap, inputOf({ argv: ['ls', '-l'], cwd: '', environment: insideOf({ set: new Map([['A', '1']]) }) })).argv).toEqual(
      ['chroot', '/r', 'ls', '-l'],
    );
    expect(wrapCommand(wrap, inputOf({ argv: ['ls'], marker: 'm' })).environment).toEqual(new Map([[MARKER_NAME, 'm']]));
  });

  it('leaves the directory to the inside', () => {
    expect(run(wrapOf({ prefix: ['env'] }), { argv: ['/bin/pwd'], cwd: '/usr' }).out).toBe('/usr\n');
    expect(run(wrapOf({ prefix: ['env'] }), { argv: ['/bin/pwd'], cwd: '/no/such' })).toMatchObject({ status: 125, out: '' });
  });
});

describe('secrets', () => {
  it('are in no word when they are passed by name', () => {
    const wrap = REMOTE['option-by-name'] ?? wrapOf();
    const environment = insideOf({
      set: new Map([
        ['TOKEN', 'hunter2'],
        ['PATH', '/in'],
      ]),
      weak: new Map([['WEAK', 'hunter2']]),
    });
    const { argv, environment: own } = wrapCommand(wrap, inputOf({ environment }));
    expect(argv.join(' ')).not.toContain('hunter2');
    expect([...own.values()]).toEqual(['hunter2', 'hunter2']);
    // What steers the wrapper itself cannot be lent to it.
    expect(argv).toContain('PATH=/in');
    expect(own.has('PATH')).toBe(false);
  });
});

describe('a terminal', () => {
  it('is asked for only when there is one', () => {
    const wrap = wrapOf({
      prefix: ['docker', 'exec'],
      operand: ['b'],
      envStyle: 'option',
      envOption: '--env=',
      cwdOption: '--workdir=',
      ttyOption: ['-i', '-t'],
    });
    const environment = insideOf({ set: new Map([['A', '1']]) });
    expect(wrapCommand(wrap, inputOf({ environment, isTerminal: true })).argv).toEqual([
      'docker',
      'exec',
      '-i',
      '-t',
      '--env=A=1',
      '--workdir=/',
      'b',
      'true',
    ]);
    expect(wrapCommand(wrap, inputOf({ environment })).argv).toEqual(['docker', 'exec', '--env=A=1', '--workdir=/', 'b', 'true']);
  });
});

function inputOf(changes: Partial<WrapInput> = {}): WrapInput {
  return { argv: ['true'], environment: insideOf(), cwd: '/', isTerminal: false, ...changes };
}

describe('a shell that is there anyway', () => {
  const far = wrapOf({ prefix: ['ssh'], envStyle: 'remote-shell' });
  const script = (set: readonly (readonly [string, string])[], changes: Partial<ReturnType<typeof insideOf>> = {}): string | undefined =>
    wrapCommand(far, {
      argv: ['make', '-x'],
      environment: insideOf({ set: new Map(set), ...changes }),
      cwd: '',
      isTerminal: false,
      marker: 'm',
    }).argv.at(-1);

  it('sets variables itself', () => {
    expect(script([['CC_FOR_BUILD', 'gcc -O']])).toBe(
      `CC_FOR_BUILD='gcc -O'; export CC_FOR_BUILD\nHOLDFAST_RUN=m; export HOLDFAST_RUN\nexec make -x`,
    );
    expect(script([], { unset: ['A'] })).toBe('HOLDFAST_RUN=m; export HOLDFAST_RUN\nunset A\nexec make -x');
  });

  it('leaves all of them to env, where one means something to a shell', () => {
    expect(script([['UID', '7']])).toBe("exec env 'UID=7' 'HOLDFAST_RUN=m' make -x");
    expect(script([['A_B', '7']], { unset: ['a-b'] })).toBe("exec env -u a-b 'A_B=7' 'HOLDFAST_RUN=m' make -x");
    expect(script([['A_B', '7']], { exact: true })).toBe("exec env -i 'A_B=7' 'HOLDFAST_RUN=m' make -x");
  });
});
