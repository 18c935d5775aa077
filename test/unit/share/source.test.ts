// Pins the source style: a script, or what a command prints, is sourced; functions and variables reach the shim.

import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Entered, run, SHIM, scratch, share } from './entry.js';

function source(script: string): Entered {
  const directory = scratch();
  writeFileSync(join(directory, 'env.sh'), script);
  return run(['bash', '--norc', '--noprofile', `${share}source.bash`, join(directory, 'env.sh'), ...SHIM], {}, directory);
}

function sourceCommand(command: readonly string[]): Entered {
  return run(['bash', '--norc', '--noprofile', `${share}source-command.bash`, String(command.length), ...command, ...SHIM]);
}

describe('a sourced script', () => {
  it('gives its variables and functions, exported or not', () => {
    const entered = source('export A=1\nB=2\nmy-fn() { echo "fn $1"; }\n');
    expect(entered.stderr).toBe('');
    expect(entered.environment).toMatchObject({ A: '1' });
    expect(entered.environment).not.toHaveProperty('B');
    expect(entered.bash('my-fn x')).toBe('fn x\n');
  });

  it('sees no arguments, and BASH_SOURCE is its own', () => {
    const entered = source('echo "$# ${BASH_SOURCE[0]##*/}"\n');
    expect(entered.said).toBe('0 env.sh\n');
  });

  it('may end in a test that is false, and leave any option on', () => {
    expect(source('export A=1\n[ -n "" ]\n').environment).toMatchObject({ A: '1' });
    const entered = source('set -eu -o pipefail -f; IFS=_; export A=1; f() { echo f; }\n');
    expect(entered.environment).toMatchObject({ A: '1' });
    expect(entered.bash('f')).toBe('f\n');
  });

  it('may set LD_LIBRARY_PATH and LD_PRELOAD to nonsense', () => {
    const entered = source('f() { echo f; }\nexport LD_LIBRARY_PATH=/nowhere LD_PRELOAD=\n');
    expect(entered.environment).toMatchObject({ LD_LIBRARY_PATH: '/nowhere' });
    expect(entered.bash('f')).toBe('f\n');
  });

  it('has its exit trap run when the session ends, not at the entry', () => {
    const entered = source('trap "echo bye" EXIT\nf() { echo f; }\n');
    expect(entered.said).toBe('bye\n');
    expect(entered.bash('f')).toBe('f\n');
  });

  it('that exits never reaches the shim, and its status is the launcher’s', () => {
    const entered = source('echo no licence >&2\nexit 3\n');
    expect(entered).toMatchObject({ status: 3, environment: undefined, stderr: 'no licence\n' });
  });

  it('that is missing is named', () => {
    const entered = run(['bash', `${share}source.bash`, '/nowhere/env.sh', ...SHIM]);
    expect(entered).toMatchObject({ status: 1, environment: undefined, stderr: "holdfast: cannot read '/nowhere/env.sh'\n" });
  });

  it('leaves nothing of ours in the environment, not even under allexport', () => {
    const { environment } = source('set -a\nf() { :; }\n');
    expect(Object.keys(environment ?? { none: 1 }).filter((name) => /holdfast/i.test(name))).toEqual([]);
  });

  it('keeps bytes that are not UTF-8', () => {
    expect(source("export RAW=$'\\xff\\xfe'\n").environment).toMatchObject({ RAW: '\xff\xfe' });
  });
});

describe('a command that prints bash code', () => {
  it('is evaluated, functions included, and its words are taken as they are', () => {
    const directory = scratch();
    const program = join(directory, 'print env');
    writeFileSync(program, '#!/bin/sh\necho "export A=\'$1\'"\ncat <<X\nf() {\n  echo "f of $2"\n}\nX\n');
    chmodSync(program, 0o755);
    const entered = sourceCommand([program, "it is 'quoted'".replaceAll("'", ''), 'two  words']);
    expect(entered.stderr).toBe('');
    expect(entered.environment).toMatchObject({ A: 'it is quoted' });
    expect(entered.bash('f')).toBe('f of two  words\n');
  });

  it('that fails ends the launcher with its status, and is named', () => {
    const entered = sourceCommand(['sh', '-c', 'echo export A=1; echo broken >&2; exit 5']);
    expect(entered).toMatchObject({ status: 5, environment: undefined });
    expect(entered.stderr).toBe("broken\nholdfast: 'sh -c echo export A=1; echo broken >&2; exit 5' failed with status 5\n");
  });

  it('that is not there is named by bash', () => {
    const entered = sourceCommand(['no-such-9']);
    expect(entered.status).toBe(127);
    expect(entered.stderr).toContain('no-such-9');
  });
});
