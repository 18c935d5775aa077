// Pins docs/config.md "runner.json": what a session gives to its commands, another tool gives from the file, and so does a session
// that is opened from it.

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunnerJson } from '../../src/config/runner-json.js';
import { useHoldfast } from '../harness/holdfast.js';
import type { Session } from '../harness/session.js';

const holdfast = useHoldfast();
const TWICE_MS = 60_000;

async function opened(name: string, args: readonly string[], cwd: string): Promise<Session> {
  const env = { TOKEN: 'secret', AGENT: 'sock' };
  const { code, stdout, stderr } = await holdfast.holdfast(['open', name, ...args], { cwd, env });
  expect({ code, stdout: `${stdout}`, stderr: `${stderr}` }).toEqual({ code: 0, stdout: '', stderr: '' });
  return await holdfast.adopt(name);
}

async function runnerJson(name: string): Promise<RunnerJson> {
  const { code, stdout, stderr } = await holdfast.holdfast(['runner-json', name]);
  expect({ code, stderr: `${stderr}` }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(`${stdout}`);
}

/** As heph's builtin runners have it: an environment of its own, the runner's words in front, the named variables of the caller. */
async function elsewhere({ runner, config }: RunnerJson, command: readonly string[]): Promise<string> {
  const { PATH = '', HOME = '' } = holdfast.env;
  const passed = (config.runtime_pass_env ?? []).includes('AGENT') ? { AGENT: 'sock' } : {};
  const words = [...(config.launch ?? config.prefix ?? []), ...command];
  const settings = Object.entries({ PATH, HOME, ...config.env, ...passed }).map(([name, value]) => `${name}=${value}`);
  const run = await holdfast.run(['env', '-i', ...settings, ...words], config.cwd === undefined ? {} : { cwd: config.cwd });
  expect({ runner, code: run.code, stderr: `${run.stderr}` }).toEqual({ runner, code: 0, stderr: '' });
  return `${run.stdout}`;
}

const QUESTION = ['sh', '-c', 'echo "$GREETING|$A|$TOKEN|$AGENT|$QUOTED|$0" ${PATH%%:*}', "it's"];
const ENV = `export GREETING="hello from $PWD" QUOTED="a 'b' \\$c"\n`;
const FLAGS = ['--env', "A=1 '2'", '--pass-env', 'TOKEN', '--runtime-pass-env', 'AGENT', '--path-prepend', 'tools'];

const KINDS: Record<string, { runner: RunnerJson['runner']; args: (directory: string) => string[] }> = {
  'a launcher': { runner: 'session', args: (directory) => [...FLAGS, '--', join(directory, 'enter.sh')] },
  'a launcher that takes one text': {
    runner: 'session',
    args: (directory) => [...FLAGS, '--launcher-style', 'string', '--', join(directory, 'enter-string.sh'), '-c'],
  },
  'a script': { runner: 'session', args: () => [...FLAGS, '--source', 'env.sh'] },
  'a command that prints code': {
    runner: 'session',
    args: () => [...FLAGS, '--source-command', 'cat', '--source-command', 'env.sh'],
  },
  'the host': { runner: 'wrap', args: () => [...FLAGS, '--mode', 'host'] },
  'a prefix': { runner: 'wrap', args: () => [...FLAGS, '--mode', 'wrap', '--prefix', 'env', '--prefix', 'GREETING=hi'] },
  'a prefix that is told of variables': {
    runner: 'wrap',
    args: () => [...FLAGS, '--mode', 'wrap', '--prefix', 'env', '--prefix', 'GREETING=hi', '--env-style', 'env-command'],
  },
  'a snapshot': { runner: 'wrap', args: () => [...FLAGS, '--mode', 'snapshot', '--source', 'env.sh'] },
};

describe('a session as a runner.json', () => {
  it.each(Object.entries(KINDS))(
    'gives the same commands the same: %s',
    async (_, { runner, args }) => {
      const directory = holdfast.folder('project');
      writeFileSync(join(directory, 'env.sh'), ENV);
      writeFileSync(join(directory, 'enter.sh'), `#!/bin/bash\n${ENV}exec "$@"\n`, { mode: 0o755 });
      writeFileSync(join(directory, 'enter-string.sh'), `#!/bin/bash\n${ENV}eval "$2"\n`, { mode: 0o755 });
      const session = await opened('one', args(directory), directory);
      const run = { env: { AGENT: 'sock' } };
      const inside = await session.output(QUESTION, run);
      expect(inside).toContain(`|1 '2'|secret|sock|`);
      expect(inside).toContain(`${directory}/tools\n`);

      const written = await runnerJson('one');
      expect(written).toMatchObject({ version: 1, runner, fingerprint: expect.stringMatching(/^sha256:/) });
      expect(await elsewhere(written, QUESTION)).toBe(inside);

      const file = join(holdfast.folder(), 'runner.json');
      writeFileSync(file, JSON.stringify(written));
      const again = await opened('two', ['--config', file], '/');
      expect(await again.output(QUESTION, run)).toBe(inside);
      expect(await again.status()).toMatchObject({ identity: { kind: 'asserted', by: written.fingerprint } });
      // What was read is written with the same config again.
      expect((await runnerJson('two')).config).toEqual({ ...written.config, ...(runner === 'session' ? { cwd: directory } : {}) });
    },
    TWICE_MS,
  );

  it('is the bare host where nothing is said', async () => {
    await opened('plain', ['--mode', 'host'], '/');
    expect(await runnerJson('plain')).toMatchObject({ runner: 'local', config: {} });
  });

  it('is written whole, for everybody to read, or not at all', async () => {
    await opened('plain', ['--mode', 'host'], '/');
    const file = join(holdfast.folder(), 'runner.json');
    writeFileSync(file, 'old', { mode: 0o600 });
    const run = await holdfast.run(
      ['sh', '-c', 'umask 077; exec "$@"', 'sh', process.execPath, 'dist/holdfast.cjs', 'runner-json', 'plain', '--output', file],
      {
        cwd: process.cwd(),
      },
    );
    expect({ code: run.code, stdout: `${run.stdout}`, stderr: `${run.stderr}` }).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ version: 1, runner: 'local' });
    expect(statSync(file).mode & 0o777).toBe(0o644);
    expect(readdirSync(dirname(file))).toEqual(['runner.json']);

    const nowhere = await holdfast.holdfast(['runner-json', 'plain', '--output', `${file}/under/runner.json`]);
    expect({ code: nowhere.code, stderr: `${nowhere.stderr}` }).toMatchObject({
      stderr: expect.stringMatching(/^holdfast: cannot write '.*': ENOTDIR.*\nhint: /),
    });
    expect(nowhere.code).not.toBe(0);
  });

  it('of another version is refused by name', async () => {
    const file = join(holdfast.folder(), 'runner.json');
    writeFileSync(file, '{\n "version": 2, "fingerprint": "x", "runner": "local" }');
    const { code, stderr } = await holdfast.holdfast(['open', 'x', '--config', file]);
    expect({ code, stderr: `${stderr}` }).toEqual({
      code: expect.any(Number),
      stderr: expect.stringMatching(
        /^holdfast: .*runner\.json:2: 'version' is 2: this Holdfast reads version 1, and no other\nhint: .*\n$/,
      ),
    });
    expect(code).not.toBe(0);
  });
});
