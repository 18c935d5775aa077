// Makes a clone ready to run: dependencies, then whatever of dist/ is missing or old. Says nothing when there is nothing to do.
// Plain Node and no dependency: on a fresh clone this is the first thing that runs.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, staleSteps } from './inputs.mjs';

/** npm leaves a copy of the lock in node_modules; another version of anything in it means that the lock has moved on. */
function dependenciesMatchLock() {
  const installedFile = join(root, 'node_modules/.package-lock.json');
  if (!existsSync(installedFile)) return false;
  const installed = JSON.parse(readFileSync(installedFile, 'utf8')).packages;
  const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  // What is wanted but optional (another platform's binary) may be absent.
  return Object.entries(wanted).every(
    ([path, { version, optional }]) => path === '' || (installed[path] ? installed[path].version === version : optional),
  );
}

/** @throws when npm or the build fails; both have said why by then. */
export async function makeReady() {
  if (!dependenciesMatchLock()) {
    console.error('holdfast: installing what the tests and the build need (npm ci) …');
    // `npm ci` runs `prepare`, which builds everything.
    const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: root, stdio: ['ignore', 2, 2] });
    if (status !== 0) throw new Error("'npm ci' failed");
  }
  const stale = staleSteps();
  if (stale.length === 0) return;
  const { build } = await import('./build.mjs');
  await build(stale);
}
