// Which sessions there are, and how each one is.

import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';

import { openRuntimeDirectory, runtimeDirectoryPath } from '../client/runtime-directory.js';
import { HoldfastError } from '../errors.js';
import { closeFd } from '../native/descriptors.js';
import { descendantsOf, isAlive, residentBytesOf } from '../process-tree.js';
import { staleOf } from './agent-probe.js';
import { ask } from './control.js';
import type { SessionDefinition } from './definition.js';
import { type Change, findChanges } from './freshness.js';
import { findRecordLeniently, type SessionRecord } from './record.js';

const ANSWER_MS = 2_000;

/** `opening`: its launcher runs. `frozen`: alive and silent. `dead`: its agent is gone and left files; opening or closing it clears them. */
export type SessionState = 'opening' | 'serving' | 'stopping' | 'frozen' | 'dead';

export interface SessionSummary {
  readonly name: string;
  readonly mode: SessionDefinition['mode'];
  readonly state: SessionState;
  /** An input changed since it was opened. */
  readonly stale: boolean;
  /** Which, and how. */
  readonly changes: readonly Change[];
  /** Absolute path. */
  readonly socket: string;
  readonly directory: string;
  /** Milliseconds of the epoch. */
  readonly openedAt: number;
  /** The agent's own words; absent unless it answers. */
  readonly agent?: AgentFacts;
}

export interface AgentFacts {
  readonly pid: number;
  readonly uptimeMs: number;
  readonly running: number;
  readonly queued: number;
  readonly runs: number;
  readonly rssBytes: number;
  /** Of all that runs in the session, as far as this machine sees it. */
  readonly commandsRssBytes: number;
  readonly containment: string;
}

/** By name. Empty where there is no runtime directory. @throws {HoldfastError} `RUNTIME_DIR`. */
export async function listSessions(): Promise<SessionSummary[]> {
  const path = runtimeDirectoryPath();
  const fd = openRuntimeDirectory(path);
  if (fd === undefined) return [];
  let records: { record: SessionRecord; socket: string }[];
  try {
    records = readdirSync(`/proc/self/fd/${fd}`)
      .filter((file) => file.endsWith('.json'))
      .flatMap((file) => {
        // One of another version is left out rather than failing the list.
        const record = findRecordLeniently(`/proc/self/fd/${fd}/${file}`);
        return record === undefined ? [] : [{ record, socket: `${resolve(path)}/${file.replace(/\.json$/, '.sock')}` }];
      });
  } finally {
    closeFd(fd);
  }
  const summaries = await Promise.all(records.map(({ record, socket }) => summarize(record, socket)));
  return summaries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** How one session is, open or half-dead. @throws {HoldfastError} `NO_SESSION`, `RUNTIME_DIR`. */
export async function findSession(name: string): Promise<SessionSummary> {
  const found = (await listSessions()).find((session) => session.name === name);
  if (found !== undefined) return found;
  throw new HoldfastError('NO_SESSION', `no session '${name}' is open`, { hint: `start it with 'holdfast open ${name} -- LAUNCHER...'` });
}

async function summarize(record: SessionRecord, socket: string): Promise<SessionSummary> {
  const { definition, openedAt } = record;
  const { name, mode, directory } = definition;
  const facts = { name, mode, directory, socket, openedAt };
  try {
    const { answer, agentPid } = await ask(name, { op: 'status' }, { timeoutMs: ANSWER_MS });
    const state = answer['state'] === 'stopping' ? 'stopping' : 'serving';
    const changes = Array.isArray(answer['stale']) ? staleOf(answer) : findChanges(record);
    return { ...facts, state, stale: changes.length > 0, changes, agent: agentFacts(answer, agentPid) };
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
    const changes = findChanges(record);
    return { ...facts, stale: changes.length > 0, changes, state: error.code === 'AGENT_FROZEN' ? 'frozen' : silentState(record) };
  }
}

/** No agent answers. While it is being entered, its opener lives. */
function silentState({ openerPid, launcherPid, launcherStartTicks }: SessionRecord): SessionState {
  const isEntering = isAlive(openerPid) && (launcherPid === undefined || isAlive(launcherPid, launcherStartTicks));
  return isEntering ? 'opening' : 'dead';
}

function agentFacts(answer: Readonly<Record<string, unknown>>, pid: number): AgentFacts {
  const number = (key: string): number => {
    const value = answer[key];
    return typeof value === 'number' ? value : 0;
  };
  const { containment } = answer;
  return {
    pid,
    uptimeMs: number('uptimeMs'),
    running: number('running'),
    queued: number('queued'),
    runs: number('runs'),
    rssBytes: number('rssBytes'),
    commandsRssBytes: number('running') === 0 ? 0 : residentBytesOf(descendantsOf(pid)),
    containment: typeof containment === 'string' ? containment : 'unknown',
  };
}
