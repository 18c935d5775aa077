// Pins DESIGN section 3 item 9: the functions of an environment survive the entry, and a launcher does not notice how.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Entered, enter, launchEnvironment, run, SHIM, scratch, share } from './entry.js';

const FUNCTIONS = `
greet() { echo "hi $1"; }
my-fn() { echo hyphen; }
tricky() {
    cat <<X
PATH=nowhere
}

_private () {
X
}
`;

function expectFunctions(entered: ReturnType<typeof enter>): void {
  expect(entered.stderr).toBe('');
  expect(entered.bash('greet you; my-fn; tricky')).toBe('hi you\nhyphen\nPATH=nowhere\n}\n\n_private () {\n');
}

describe('functions that nobody exported reach the shim', () => {
  const ways = {
    'exec "$@"': 'exec "$@"',
    '"$@" with no exec': '"$@"',
    'exec ${1+"$@"}': 'exec ${1+"$@"}',
    'exec "${@:1}"': 'exec "${@:1}"',
    'a function main': 'main() { inner() { echo in; }; exec "$@"; }; main "$@"',
    'two functions deep': 'a() { b "$@"; }; b() { "$@"; }; a "$@"',
    'an array': 'words=(nice "$@"); exec "${words[@]}"',
    'a slice of an array': 'words=(x "$@"); "${words[@]:1}"',
    'a quoted string': `printf -v line '%q ' "$@"; eval "$line"`,
    'a string for another bash': `printf -v line '%q ' "$@"; exec bash -c "$line"`,
    'another bash with words': `exec bash -c 'exec "$0" "$@"' "$@"`,
    'a subshell': '( exec "$@" )',
    'a pipe': '"$@" | cat',
    'set -eu -o pipefail': 'set -eu -o pipefail; exec "$@"',
    'no PATH': 'PATH=/nowhere; exec "$@"',
    noglob: 'set -f; exec "$@"',
    'an odd IFS': 'IFS=_; exec "$@"',
    'an empty IFS': 'IFS=; exec "$@"',
    'positional numbers': 'exec "$1" "$2" "$3" "$4" "$5" "$6"',
  };
  it.each(Object.entries(ways))('by %s', (_, way) => {
    const entered = enter(`${FUNCTIONS}\n${way}\n`);
    if (way.includes('/nowhere')) expect(entered.environment).toHaveProperty('BASH_FUNC_greet%%');
    else expectFunctions(entered);
  });

  it('when another script, which is bash too, adds its own', () => {
    const directory = scratch();
    writeFileSync(join(directory, 'second.sh'), 'more() { echo more; }\nexec "$@"\n');
    const entered = enter(`${FUNCTIONS}\nexec bash ${directory}/second.sh "$@"\n`);
    expectFunctions(entered);
    expect(entered.bash('more')).toBe('more\n');
  });

  it('when they are defined inside the function that execs', () => {
    const entered = enter('main() { inner() { echo inner; }; exec "$@"; }\nmain "$@"\n');
    expect(entered.bash('inner')).toBe('inner\n');
  });

  it('in their last form, when they change after a first hand-over', () => {
    const entered = enter('f() { echo old; }\nlog() { :; }\nlog "$@"\nf() { echo new; }\nexec "$@"\n');
    expect(entered.bash('f')).toBe('new\n');
  });

  it('and are no stranger to other shells', () => {
    expect(enter(`${FUNCTIONS}\nexec "$@"\n`).environment).not.toHaveProperty('greet');
  });
});

describe('bodies and names that are hard to carry', () => {
  it('a body that needs extglob works, and declares itself at its first call', () => {
    const entered = enter(`shopt -s extglob\nkind() { case $1 in +([0-9])) echo number;; *) echo "word $#";; esac; }\nexec "$@"\n`);
    expect(entered.stderr).toBe('');
    expect(entered.bash('kind 12; kind a b')).toBe('number\nword 2\n');
  });

  it('a name with a slash or an equals sign stays behind, and is said', () => {
    const entered = enter('function a/b { :; }\nfunction a=b { :; }\nok() { echo ok; }\nexec "$@"\n');
    expect(entered.stderr).toContain("holdfast: function 'a/b' stays in the launcher");
    expect(entered.stderr).toContain("holdfast: function 'a=b' stays in the launcher");
    expect(entered.bash('ok')).toBe('ok\n');
  });

  it('a body over 128 KiB stays behind, and is said; the others arrive', () => {
    const entered = enter(`big() { : '${'x'.repeat(140_000)}'; }\nok() { echo ok; }\nexec "$@"\n`);
    expect(entered.stderr).toBe("holdfast: function 'big' stays in the launcher: its body is too long for an environment variable\n");
    expect(entered.bash('ok')).toBe('ok\n');
  });

  it('a body just under the limit arrives', () => {
    const entered = enter(`big() { echo '${'é'.repeat(60_000)}'; }\nexec "$@"\n`, { env: { LC_ALL: 'C.UTF-8' } });
    expect(entered.stderr).toBe('');
    expect(entered.environment?.['BASH_FUNC_big%%']?.length).toBeGreaterThan(120_000);
  });

  it('functions too large together stay behind, and the environment does not', () => {
    const one = (i: number): string => `f${i}() { : '${'x'.repeat(100_000)}'; }`;
    const entered = enter(`ulimit -Ss 1024\n${[0, 1, 2, 3, 4].map(one).join('\n')}\nexport A=1\nexec "$@"\n`);
    expect(entered.stderr).toContain('together they are too large');
    expect(entered.environment).toHaveProperty('A', '1');
  });

  it('two hundred functions take no time to speak of', () => {
    const many = Array.from({ length: 200 }, (_, i) => `fn_${i}() { local a=$1; for x in 1 2 3; do echo "$x $a"; done; }`).join('\n');
    const startedAt = performance.now();
    const entered = enter(`${many}\nexec "$@"\n`);
    expect(performance.now() - startedAt).toBeLessThan(2000);
    expect(entered.bash('fn_199 z | tail -1')).toBe('3 z\n');
  });
});

describe('the launcher is left alone', () => {
  it('its exit trap runs at the end and only then', () => {
    const entered = enter(`trap 'echo bye' EXIT\nf() { echo f; }\necho hello\n"$@"\n`);
    expect(entered.said).toBe('hello\nbye\n');
    expect(entered.bash('f')).toBe('f\n');
  });

  it('$?, $_, $! and BASH_REMATCH are what they were', () => {
    const script = `false; echo "$?"; echo a b >/dev/null; echo "$_"; [[ abc =~ b(.) ]]; f() { :; }; sleep 0 & p=$!
f "$@"; [[ $! = "$p" ]] && echo same; echo "\${BASH_REMATCH[1]}"; exec "$@"\n`;
    expect(enter(script).said).toBe('1\nb\nsame\nc\n');
  });

  it('$_ is right after a command that is looked into', () => {
    expect(enter(`f() { :; }\necho "$@" last >/dev/null\neval 'echo "$_"'\nexec "$@"\n`).said).toBe('last\n');
  });

  it('exec with a redirection alone changes nothing else', () => {
    const entered = enter(`exec 9>&1\nexec >out\necho to-file\nexec >&9 9>&-\ncat out\nf() { echo f; }\nexec "$@"\n`);
    expect(entered.said).toBe('to-file\n');
    expect(entered.bash('f')).toBe('f\n');
  });

  it('a RETURN trap runs once, when its own function returns', () => {
    const script = `g() { echo g; }\nh() { trap 'echo cleaned' RETURN; g; echo used; trap - RETURN; }\nh\nexec "$@"\n`;
    const plain = run(['bash', '-c', script, 'l.sh', ...SHIM]);
    expect(enter(script).said).toBe(plain.said);
  });

  it('an ERR trap and set -E see the errors of the script alone', () => {
    const entered = enter(`set -E\ntrap 'echo err' ERR\nf() { echo f; }\nfalse\n"$@"\n`);
    expect(entered.said).toBe('err\n');
    expect(entered.bash('f')).toBe('f\n');
  });

  it('its own DEBUG trap works, and the functions arrive', () => {
    const script = `early() { echo early; }\ntrap 'echo "debug $?: $BASH_COMMAND"' DEBUG\nfalse\nlate() { echo late; }\nf() { :; }\nf 1\n"$@"\n`;
    const plain = run(['bash', '-c', script, 'l.sh', ...SHIM]);
    const entered = enter(script);
    expect(entered.said).toBe(plain.said);
    expect(entered.stderr).toBe('');
    expect(entered.bash('early; late')).toBe('early\nlate\n');
  });

  it('a DEBUG trap that skips commands by extdebug still does', () => {
    const entered = enter(`shopt -s extdebug\ntrap '[[ $BASH_COMMAND != "echo no" ]]' DEBUG\necho no\necho yes\n"$@"\n`);
    expect(entered.said).toBe('yes\n');
    expect(entered.environment).toBeDefined();
  });

  it('its status is its own', () => {
    expect(enter('exit 7\n').status).toBe(7);
    expect(enter('set -e\nfalse\n"$@"\n').environment).toBeUndefined();
    expect(enter('set -u\necho $nope\n"$@"\n').environment).toBeUndefined();
  });

  it('a POSIX sh launcher works, without functions to carry', () => {
    const entered = enter('A=1; export A; exec "$@"\n', { before: ['dash'] });
    expect(entered.environment).toMatchObject({ A: '1' });
    expect(entered.stderr).toBe('');
  });

  it('nothing of ours is in the environment, not even under allexport', () => {
    for (const script of [
      'exec "$@"\n',
      'set -a\nf() { echo f; }\nexec "$@"\n',
      'for f in $(compgen -A function); do export -f "$f"; done\nexec "$@"\n',
    ]) {
      const { environment, stderr } = enter(script);
      expect(stderr).toBe('');
      expect(Object.keys(environment ?? { none: 1 }).filter((name) => /holdfast/i.test(name))).toEqual([]);
    }
    const { environment } = enter('f() { :; }\nexec "$@"\n', { before: ['bash', '-a'] });
    expect(Object.keys(environment ?? { none: 1 }).filter((name) => /holdfast/i.test(name))).toEqual([]);
  });
});

describe('a launcher that is bash itself', () => {
  const env = { BASH_ENV: `${share}launcher-env.sh`, HOLDFAST_LAUNCH: `${share}launcher-env.sh` };
  const outer = (script: string, caller: Record<string, string>): Entered => {
    const directory = scratch();
    writeFileSync(join(directory, 'l.sh'), script);
    // A parent whose environment is not the launcher's: what the opener is.
    const scrub =
      "const { spawnSync } = require('node:child_process'); const [env, ...argv] = process.argv.slice(1);" +
      "spawnSync(argv[0], argv.slice(1), { env: JSON.parse(env), stdio: 'inherit' });";
    const inner = JSON.stringify({ PATH: '/usr/bin:/bin', ...env });
    return run([process.execPath, '-e', scrub, inner, 'bash', join(directory, 'l.sh'), ...SHIM], caller, directory);
  };

  it('reads what it names of the caller; no program and no target sees it', () => {
    const script = 'echo "$SDK9 $(env | grep -c SDK9) ${UNSET9-none}"\nexport FROM9="$SDK9/bin"\nf() { echo f; }\nexec "$@"\n';
    const entered = outer(script, { SDK9: 'two\nlines', LD_PRELOAD: '', BASH_XTRACEFD: '1', CDPATH: '/' });
    expect(entered.said).toBe('two\nlines 0 none\n');
    expect(entered.stderr).toBe('');
    expect(entered.environment).toMatchObject({ FROM9: 'two\nlines/bin' });
    expect(entered.environment).not.toHaveProperty('SDK9');
    expect(entered.environment).not.toHaveProperty('CDPATH');
    expect(entered.bash('f')).toBe('f\n');
  });

  it('keeps what its own environment says, and its children know nothing', () => {
    const script = 'bash -c \'echo "child:$SDK9"\'\nexec bash -c \'echo "next:$SDK9"; exec "$0" "$@"\' "$@"\n';
    expect(outer(script, { SDK9: 'x', PATH: '/elsewhere' }).said).toBe('child:\nnext:\n');
  });
});

describe("the user's own BASH_ENV", () => {
  it('is sourced first', () => {
    const directory = scratch();
    writeFileSync(join(directory, 'own.sh'), 'own() { echo own; }\nOWN=yes\n');
    const env = { HOLDFAST_USER_BASH_ENV: join(directory, 'own.sh') };
    const entered = enter('echo "$OWN"\nexec "$@"\n', { env });
    expect(entered.said).toBe('yes\n');
    expect(entered.bash('own')).toBe('own\n');
  });

  it('may name its file by a variable, or name none that is there', () => {
    const directory = scratch();
    writeFileSync(join(directory, 'own.sh'), 'OWN=yes\n');
    const env = { ...launchEnvironment(), HOLDFAST_USER_BASH_ENV: '$WHERE/own.sh', WHERE: directory };
    expect(run(['bash', '-c', 'echo "$OWN"; exec "$@"', 'l', ...SHIM], env).said).toBe('yes\n');
    const none = run(['bash', '-c', 'exec "$@"', 'l', ...SHIM], { ...launchEnvironment(), HOLDFAST_USER_BASH_ENV: '/nowhere/own.sh' });
    expect(none.stderr).toBe('');
    expect(none.environment).toBeDefined();
  });
});
