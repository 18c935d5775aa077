// `holdfast doctor`: what this machine gives, and what to do about what it does not.

import type { Command } from 'commander';

import { findProject, physicalDirectory } from '../client/locate.js';
import type { Check } from './check.js';
import { checkCgroup } from './check-cgroup.js';
import { checkCloseRange, checkExitInfo, checkKernel } from './check-kernel.js';
import { checkAddon, checkBash, checkClient, checkNode } from './check-programs.js';
import { checkTools } from './check-tools.js';
import { SilentFailure } from './ending.js';
import { type Style, styleFor } from './style.js';

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('check this machine, and say how to cure what is wrong')
    .option('--json', 'print JSON')
    .addHelpText('after', '\nEach line is ok, warn (works, but less well) or FAIL. The command fails when a\nline does.')
    .action(doctor);
}

async function doctor(options: { json?: true }): Promise<void> {
  const checks = await collectChecks();
  const failed = checks.some((check) => check.state === 'fail');
  if (options.json) process.stdout.write(`${JSON.stringify({ ok: !failed, checks }, undefined, 2)}\n`);
  else process.stdout.write(formatChecks(checks, styleFor(process.stdout)));
  if (failed) throw new SilentFailure();
}

async function collectChecks(): Promise<Check[]> {
  const marker = findProject(physicalDirectory())?.marker;
  const { installed } = await import('../install.js');
  const { checkSpawn } = await import('./check-spawn.js');
  return [
    checkNode(),
    await checkAddon(),
    checkClient(installed.runnerExec),
    await checkRuntimeDirectory(),
    checkBash(),
    ...checkTools(marker),
    checkKernel(),
    await checkCloseRange(),
    checkExitInfo(),
    checkCgroup(),
    ...(await checkSpawn()),
  ];
}

async function checkRuntimeDirectory(): Promise<Check> {
  const name = 'runtime directory';
  const { HoldfastError } = await import('../errors.js');
  try {
    // Loads the addon: where that fails, its own check has said so.
    const { openRuntimeDirectory, runtimeDirectoryPath } = await import('../client/runtime-directory.js');
    const { closeFd } = await import('../native/descriptors.js');
    const path = runtimeDirectoryPath();
    const fd = openRuntimeDirectory(path);
    if (fd === undefined) return { name, state: 'ok', detail: `'${path}', made when a session is opened` };
    closeFd(fd);
    return { name, state: 'ok', detail: `'${path}'` };
  } catch (error) {
    const hint = error instanceof HoldfastError ? error.hint : undefined;
    const detail = error instanceof Error ? error.message : String(error);
    return { name, state: 'fail', detail, ...(hint === undefined ? {} : { cure: hint }) };
  }
}

/** One line for each check, and beneath it the cure where there is one. */
export function formatChecks(checks: readonly Check[], style: Style): string {
  const width = Math.max(...checks.map((check) => check.name.length));
  const paint = { ok: style.green, warn: style.yellow, fail: style.red };
  return checks
    .map(({ name, state, detail, cure }) => {
      const word = paint[state]((state === 'fail' ? 'FAIL' : state).padEnd(4));
      const line = `${word}  ${name.padEnd(width)}  ${detail}\n`;
      return cure === undefined ? line : `${line}${' '.repeat(width + 8)}${style.bold('cure:')} ${cure}\n`;
    })
    .join('');
}
