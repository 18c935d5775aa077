// Pins `holdfast init`: what it writes opens, and nothing of the user's is lost.

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { useHoldfast } from '../harness/holdfast.js';
import { needs } from '../harness/needs.js';

const holdfast = useHoldfast();

async function init(directory: string, ...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await holdfast.holdfast(['init', ...args], { cwd: directory });
  return { code, stdout: `${stdout}`, stderr: `${stderr}` };
}

describe('holdfast init', () => {
  it('writes a file that opens: a script', async () => {
    const directory = holdfast.folder('project');
    writeFileSync(join(directory, 'env.sh'), 'export GREETING=hello\n');
    expect(await init(directory)).toEqual({ code: 0, stdout: 'wrote holdfast.toml: source = "env.sh" (env.sh is here)\n', stderr: '' });
    expect(readdirSync(directory).sort()).toEqual(['env.sh', 'holdfast.toml']);
    expect(statSync(join(directory, 'holdfast.toml')).mode & 0o777).toBe(0o644);
    const { stdout } = await holdfast.runnerExec(['--', 'printenv', 'GREETING'], { cwd: directory });
    await holdfast.adopt(directory);
    expect(`${stdout}`).toBe('hello\n');
  });

  it('writes a file that opens: nothing to enter', async () => {
    const directory = holdfast.folder('project');
    expect(await init(directory)).toMatchObject({ code: 0, stderr: '' });
    const { code, stdout } = await holdfast.runnerExec(['--', 'pwd'], { cwd: directory });
    await holdfast.adopt(directory);
    expect({ code, stdout: `${stdout}` }).toEqual({ code: 0, stdout: `${directory}\n` });
  });

  it('writes a file that opens: direnv', async (t) => {
    needs(t, 'direnv');
    const directory = holdfast.folder('project');
    writeFileSync(join(directory, '.envrc'), 'export FROM_ENVRC=yes\n');
    expect(await holdfast.run(['direnv', 'allow', directory])).toMatchObject({ code: 0 });
    expect(await init(directory, '--provider', 'direnv')).toMatchObject({ code: 0, stderr: '' });
    const { stdout } = await holdfast.runnerExec(['--', 'printenv', 'FROM_ENVRC'], { cwd: directory });
    await holdfast.adopt(directory);
    expect(`${stdout}`).toBe('yes\n');
  });

  it('leaves a file that is there, unless it is forced', async () => {
    const directory = holdfast.folder('project');
    writeFileSync(join(directory, 'holdfast.toml'), '# mine\n');
    expect(await init(directory)).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^holdfast: 'holdfast.toml' is there already.*\nhint: 'holdfast init --force' .*\n$/),
    });
    expect(readFileSync(join(directory, 'holdfast.toml'), 'utf8')).toBe('# mine\n');
    expect(readdirSync(directory)).toEqual(['holdfast.toml']);
    expect(await init(directory, '--force')).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(join(directory, 'holdfast.toml'), 'utf8')).toContain('\n[session]\nmode = "host"');
  });

  it('writes one file however many ask', async () => {
    const directory = holdfast.folder('project');
    const all = await Promise.all([1, 2, 3, 4].map(() => init(directory)));
    expect(all.map(({ code }) => code).sort()).toEqual([0, 2, 2, 2]);
    expect(readdirSync(directory)).toEqual(['holdfast.toml']);
  });
});
