// Pins mode "snapshot": an environment is entered once, its variables are kept as bytes, it is left whole, and every later opening
// is without an entry. docs/config.md "Snapshots".

import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { CountedProject } from '../fixtures/counted-project.js';
import { eventually } from '../harness/eventually.js';
import { useHoldfast } from '../harness/holdfast.js';
import { needs } from '../harness/needs.js';
import { descendantsOf, markedProcesses } from '../harness/processes.js';

const holdfast = useHoldfast();
const cache = join(holdfast.directory, 'home/.cache/holdfast');

beforeEach(() => rmSync(dirname(cache), { recursive: true, force: true }));

const files = (): string[] => readdirSync(cache).sort();

describe('a snapshot', () => {
  it('has the variables as bytes, whatever they are', async () => {
    const project = new CountedProject(
      holdfast,
      `export RAW=$'\\xff\\xfe=\\n' EMPTY= MULTI=$'one\\nTWO=x\\n' BIG_A=$(head -c 120000 /dev/zero | tr '\\0' a)\n` +
        `for i in {1..12}; do export BIG_$i=$BIG_A; done\nexec "$@"`,
    );
    const session = await project.open();
    const { stdout } = await session.exec(['env', '-0']);
    const pairs = stdout.toString('latin1').split('\0');
    expect(pairs).toEqual(expect.arrayContaining(['RAW=\xff\xfe=\n', 'EMPTY=', 'MULTI=one\nTWO=x\n', `BIG_12=${'a'.repeat(120_000)}`]));
    expect(pairs.filter((pair) => /^(HOLDFAST_\w+|BASH_ENV|BASH_FUNC_.*|NOTIFY_SOCKET|TWO|_|OLDPWD)=/.test(pair))).toEqual([]);
    // The agent itself has none of it.
    expect(readFileSync(`/proc/${session.pid}/environ`, 'latin1')).toBe('');
  });

  it('is of an environment that has been left: its trap has run, and nothing of it lives', async () => {
    const project = new CountedProject(
      holdfast,
      `export MARK=in; trap 'echo left >'${join(holdfast.directory, 'left')} EXIT\n(trap '' TERM; exec sleep 600) & setsid sleep 600 &\n"$@"`,
    );
    const session = await project.open();
    expect(readFileSync(join(holdfast.directory, 'left'), 'utf8')).toBe('left\n');
    const ofSession = [session.pid, ...descendantsOf(session.pid).map(({ pid }) => pid)];
    expect(markedProcesses(holdfast.directory).filter(({ pid }) => !ofSession.includes(pid))).toEqual([]);
    expect(await session.output(['printenv', 'MARK'])).toBe('in\n');
  });

  it('makes the next opening free of an entry, under another name too', async () => {
    const project = new CountedProject(holdfast, 'sleep 2; export MARK=slow; exec "$@"');
    await (await project.open()).close();
    const before = performance.now();
    const again = await project.open('other');
    expect(await again.output(['printenv', 'MARK'])).toBe('slow\n');
    expect(performance.now() - before).toBeLessThan(2_000);
    expect(project.entries).toBe(1);
  });

  it('is made once by eight openings at once', async () => {
    const project = new CountedProject(holdfast, 'sleep 0.5; export MARK=once; exec "$@"');
    const sessions = await Promise.all(Array.from({ length: 8 }, (_, i) => project.open(`s${i}`)));
    expect(await Promise.all(sessions.map((session) => session.output(['printenv', 'MARK'])))).toEqual(sessions.map(() => 'once\n'));
    expect(project.entries).toBe(1);
    expect(files()).toHaveLength(1);
  });

  it('is made anew when an input, the launcher, or what it is given has changed', async () => {
    const project = new CountedProject(holdfast, 'export LOCK=$(cat lock) PASSED=$PASSED; exec "$@"');
    const lock = join(project.directory, 'lock');
    const variants: [text: string, flags: string[], env: Record<string, string>][] = [
      ['one', [], {}],
      ['two', [], {}],
      ['two', ['--launch-pass-env', 'PASSED'], { PASSED: 'a' }],
      ['two', ['--launch-pass-env', 'PASSED'], { PASSED: 'b' }],
      ['two', ['--env', 'DECLARED=1'], {}],
      ['two', [], { LC_ALL: 'C' }],
    ];
    let entries = 0;
    for (const [text, flags, env] of variants) {
      writeFileSync(lock, text);
      const session = await project.open('snap', ['--input', 'lock', ...flags], env);
      expect(await session.output(['sh', '-c', 'echo $LOCK $PASSED'])).toBe(
        `${text}${env['PASSED'] === undefined ? '' : ` ${env['PASSED']}`}\n`,
      );
      await session.close();
      expect(project.entries, `${text} ${flags} ${JSON.stringify(env)}`).toBe(++entries);
    }
    // And back again: it is still there.
    writeFileSync(lock, 'one');
    await project.open('snap', ['--input', 'lock']);
    expect(project.entries).toBe(entries);
  });

  it('is used again when the entry itself wrote a lock file, and not when an input changed meanwhile', async () => {
    const writes = new CountedProject(holdfast, '[ -e tool.lock ] || echo locked >tool.lock; exec "$@"');
    await (await writes.open('snap', ['--input', 'tool.lock'])).close();
    await (await writes.open('snap', ['--input', 'tool.lock'])).close();
    expect(writes.entries).toBe(1);
    const changes = new CountedProject(holdfast, '[ -e second ] && echo more >>input; touch second; exec "$@"');
    changes.write('input', 'one\n');
    changes.write('second', '');
    await (await changes.open('snap', ['--input', 'input'])).close();
    // Of which content the first one was made is not known: it was not kept.
    expect(files()).toHaveLength(1);
  });

  it('is made anew when a file has changed of which only the environment knew', async (t) => {
    needs(t, 'direnv');
    const directory = holdfast.folder('direnv');
    writeFileSync(join(directory, '.envrc'), 'name=extra; watch_file "$name"\nexport EXTRA=$(cat extra)\n');
    expect(await holdfast.run(['direnv', 'allow', directory])).toMatchObject({ code: 0 });
    for (const text of ['one', 'one', 'two']) {
      writeFileSync(join(directory, 'extra'), text);
      expect(await holdfast.holdfast(['open', 'snap', '--mode', 'snapshot', '--provider', 'direnv'], { cwd: directory })).toMatchObject({
        code: 0,
      });
      const session = await holdfast.adopt('snap');
      expect(await session.output(['printenv', 'EXTRA'])).toBe(`${text}\n`);
      await session.close();
    }
    expect(files()).toHaveLength(1);
  });

  it('is taken again after an opener was killed in the middle of its entry', async () => {
    const project = new CountedProject(holdfast, '[ -e second ] || { touch second; sleep 600; }; export MARK=second; exec "$@"');
    const first = holdfast.startHoldfast(['open', 'snap', '--mode', 'snapshot', '--', 'bash', './enter.sh'], { cwd: project.directory });
    await eventually(() => expect(existsSync(join(project.directory, 'second'))).toBe(true));
    process.kill(first.pid, 'SIGKILL');
    await first.ended;
    const session = await project.open();
    expect(await session.output(['printenv', 'MARK'])).toBe('second\n');
    expect(files()).toHaveLength(1);
  });

  it('is what a project is opened with by its first command, and again when an input has changed', async () => {
    const project = new CountedProject(holdfast, 'export LOCK=$(cat lock); exec "$@"');
    project.write('holdfast.toml', '[session]\nmode = "snapshot"\nlauncher = ["bash", "./enter.sh"]\ninputs = ["lock"]\n');
    const lock = async (text: string): Promise<string> => {
      project.write('lock', text);
      const { code, stdout, stderr } = await holdfast.runnerExec(['--', 'printenv', 'LOCK'], { cwd: project.directory });
      return `${code} ${stdout}${stderr}`;
    };
    expect(await lock('one')).toBe('0 one\n');
    expect(await lock('two')).toBe('0 two\n');
    // Back again: opened anew, and not entered.
    expect(await lock('one')).toBe('0 one\n');
    expect(project.entries).toBe(2);
    await holdfast.adopt(project.directory);
  });

  it('leaves what belongs to one login to each opening', async () => {
    const project = new CountedProject(holdfast, 'exec "$@"');
    const seen = async (env: Record<string, string>): Promise<string> => {
      const session = await project.open('snap', [], env);
      const text = await session.output(['sh', '-c', 'echo $TERM $XDG_SESSION_ID']);
      await session.close();
      return text;
    };
    expect(await seen({ TERM: 'vt100', XDG_SESSION_ID: '1' })).toBe('vt100 1\n');
    expect(await seen({ TERM: 'xterm', XDG_SESSION_ID: '2' })).toBe('xterm 2\n');
    expect(project.entries).toBe(1);
  });

  it('gives back nothing that the launcher took away or set itself', async () => {
    const project = new CountedProject(holdfast, 'unset TERM; export XDG_SESSION_ID=theirs; exec "$@"');
    for (const id of ['1', '2']) {
      const session = await project.open('snap', [], { TERM: 'vt100', XDG_SESSION_ID: id });
      expect(await session.output(['sh', '-c', 'echo ${TERM-none} $XDG_SESSION_ID'])).toBe('none theirs\n');
      await session.close();
    }
    expect(project.entries).toBe(1);
  });

  it('keeps no temporary directory that went with the environment', async () => {
    const project = new CountedProject(holdfast, 'export TMPDIR=$(mktemp -d); export TMP=$TMPDIR; trap \'rm -r "$TMPDIR"\' EXIT; "$@"');
    const session = await project.open();
    expect(await session.output(['sh', '-c', 'echo "$TMPDIR" "${TMP-none}"'])).toBe(`${holdfast.env['TMPDIR']} none\n`);
  });

  it.for<[style: string, flags: (directory: string) => string[]]>([
    ['source', () => ['--source', 'env.sh']],
    ['source-command', () => ['--source-command', 'cat', '--source-command', 'env.sh']],
    ['string', () => ['--launcher-style', 'string', '--launcher', 'bash', '--launcher', '-c', '--launcher']],
  ])('can be of what style %s enters', async ([style, flags]) => {
    const directory = holdfast.folder('project');
    writeFileSync(join(directory, 'env.sh'), 'export MARK=sourced\nplain() { :; }\n');
    const args = style === 'string' ? ['--launcher-style', 'string', '--', 'env', 'MARK=sourced', 'bash', '-c'] : flags(directory);
    expect(await holdfast.holdfast(['open', 'snap', '--mode', 'snapshot', ...args], { cwd: directory })).toMatchObject({ code: 0 });
    const session = await holdfast.adopt('snap');
    expect(await session.output(['printenv', 'MARK'])).toBe('sourced\n');
  });
});

describe('an entry that fails', () => {
  it('is the launcher’s error, with its last words; nothing is kept', async () => {
    const project = new CountedProject(holdfast, 'echo no such shell >&2; exit 3');
    await expect(project.open()).rejects.toThrow(
      /ended with status 3 without running the command behind it, which takes its variables; its last words were 'no such shell'/,
    );
    expect(files()).toEqual([]);
  });

  it('by taking too long is ended whole', async () => {
    const project = new CountedProject(holdfast, 'sleep 600; exec "$@"');
    await expect(project.open('snap', ['--open-timeout', '500ms'])).rejects.toThrow(/did not run the command behind it.* within 0.5 s/);
    expect(files()).toEqual([]);
  });

  it('for one of several lets the next one try', async () => {
    const project = new CountedProject(holdfast, '[ -e again ] || { touch again; sleep 0.3; exit 1; }; export MARK=second; exec "$@"');
    const [a, b] = await Promise.allSettled([project.open('a'), project.open('b')]);
    expect([a.status, b.status].sort()).toEqual(['fulfilled', 'rejected']);
    expect(project.entries).toBe(2);
  });
});
