// The end of a session whose owner is gone: nobody is left to wait for the launcher's own end and to end what that leaves running.
// Where there is such a thing, `holdfast close` is started for it, and outlives the agent.

import { spawn } from 'node:child_process';
import { dirname } from 'node:path';

import { installed } from '../install.js';
import { findProcess, livingProcesses } from '../process-tree.js';
import { findRecordLeniently } from '../session/record.js';

/** Whether the launcher has processes beside it that its end may not end. What runs in the session is gone by now. */
export function leavesCompany(stem: string): boolean {
  const launcher = findRecordLeniently(`${stem}.json`)?.launcherPid;
  if (launcher === undefined) return false;
  const known = new Set([launcher, ...ancestors()]);
  return livingProcesses().some(({ pid, sid }) => sid === launcher && !known.has(pid));
}

/** The session's files stay: they say what there is to close. */
export function startCloser(name: string, stem: string): void {
  const env = { HOLDFAST_RUNTIME_DIR: dirname(stem) };
  const child = spawn(process.execPath, [installed.cli, 'close', name], { cwd: '/', env, detached: true, stdio: 'ignore' });
  child.on('error', () => undefined);
  child.unref();
}

/** This process and all above it: between it and the launcher they wait for its end. */
function ancestors(): number[] {
  const found: number[] = [];
  for (let pid = process.pid; pid > 1 && !found.includes(pid); pid = findProcess(pid)?.ppid ?? 0) found.push(pid);
  return found;
}
