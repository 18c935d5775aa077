// What was measured, where and when: without it a number means nothing.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Machine {
  date: string;
  commit: string;
  cpu: string;
  cores: number;
  memoryGb: number;
  kernel: string;
  system: string;
  node: string;
  loadBefore: number;
}

export function thisMachine(): Machine {
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: commitName(),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    system: /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'unknown',
    node: process.version,
    loadBefore: Math.round((loadavg()[0] ?? 0) * 100) / 100,
  };
}

export function describeMachine(machine: Machine): string {
  const { date, commit, cpu, cores, memoryGb, kernel, system, node, loadBefore } = machine;
  return `${date}, commit ${commit}; ${cpu}, ${cores} cores, ${memoryGb} GB; Linux ${kernel}, ${system}; Node ${node}; load before ${loadBefore}`;
}

function commitName(): string {
  const git = (...args: string[]): string =>
    execFileSync('git', args, {
      cwd: dirname(fileURLToPath(import.meta.url)),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  try {
    // Code that is in no commit is said so; the document that this run is to write is not code.
    const changed = git('status', '--porcelain', '--', ':/src', ':/native', ':/share') !== '';
    return `${git('rev-parse', '--short', 'HEAD')}${changed ? ' with changes' : ''}`;
  } catch {
    return 'unknown';
  }
}
