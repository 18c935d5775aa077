// A private runtime directory for a test, and definitions of sessions whose agent is a stand-in.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { descendantsOf } from '../../../src/process-tree.js';
import { closeSession } from '../../../src/session/close.js';
import { DEFINITION_DEFAULTS, type SessionDefinition } from '../../../src/session/definition.js';

export const STAND_IN: readonly string[] = [process.execPath, fileURLToPath(new URL('../../fixtures/agent-stand-in.mjs', import.meta.url))];

export interface Scratch {
  /** For the test's own files; the launcher's working directory. */
  readonly work: string;
  readonly runtime: string;
  /** Names of the files in the runtime directory. */
  files(): string[];
}

/** Sets HOLDFAST_RUNTIME_DIR. After the test: closes what is open, and fails when a process or a file of a session is left. */
export function useScratch(runtimeName = 'run'): Scratch {
  const work = mkdtempSync(join(tmpdir(), 'holdfast-session-'));
  const runtime = join(work, runtimeName);
  process.env['HOLDFAST_RUNTIME_DIR'] = runtime;
  const files = (): string[] => {
    try {
      return readdirSync(runtime).sort();
    } catch {
      return [];
    }
  };
  onTestFinished(async () => {
    try {
      for (const file of files().filter((name) => name.endsWith('.json')))
        await closeSession(file.replace(/\.json$/, '')).catch(() => undefined);
      const left = files().filter((name) => !name.endsWith('.log'));
      const processes = descendantsOf(process.pid);
      if (left.length > 0 || processes.length > 0) throw new Error(`left: files ${left.join(' ')}; processes ${JSON.stringify(processes)}`);
    } finally {
      rmSync(work, { recursive: true, force: true });
      delete process.env['HOLDFAST_RUNTIME_DIR'];
    }
  });
  return { work, runtime, files };
}

export function define(scratch: Scratch, argv: readonly string[], more: Partial<SessionDefinition> = {}): SessionDefinition {
  return { ...DEFINITION_DEFAULTS, name: 'web', directory: scratch.work, launch: { style: 'enter', argv }, openTimeoutMs: 20_000, ...more };
}

/** A launcher in bash. The words that start the agent are in "$@". */
export function bash(script: string): string[] {
  return ['bash', '-c', script, 'launcher'];
}
