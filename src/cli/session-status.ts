// What is known of an open session: its agent's answer, its record, and where its socket is.

import * as v from 'valibot';

import { HoldfastError } from '../errors.js';
import { descendantsOf, residentBytesOf } from '../process-tree.js';
import { staleOf } from '../session/agent-probe.js';
import { ask } from '../session/control.js';
import type { Change } from '../session/freshness.js';
import { readOpened } from '../session/opened.js';

const TIMEOUT_MS = 5000;

/** What the agent tells of itself. */
interface AgentStatus {
  readonly pid: number;
  readonly name: string;
  readonly state: 'serving' | 'stopping';
  /** Milliseconds of the epoch. */
  readonly startedAt: number;
  readonly uptimeMs: number;
  readonly running: number;
  readonly queued: number;
  readonly runs: number;
  readonly rssBytes: number;
  readonly containment: string;
  /** What commands cost is recorded: `holdfast trace`. */
  readonly tracing: boolean;
  /** Shell functions, and their bytes in the environment of every command. */
  readonly functions: { readonly count: number; readonly bytes: number };
}

export interface SessionStatus extends AgentStatus {
  /** Of all that runs in it, as far as this machine sees it. */
  readonly commandsRssBytes: number;
  readonly socket: string;
  readonly log: string;
  readonly mode: string;
  readonly directory: string;
  /** An input is no longer what it was when the environment was entered. */
  readonly stale: boolean;
  /** Which, and how. */
  readonly changes: readonly Change[];
  /** What it holds: docs/config.md. */
  readonly held?: { readonly name: string; readonly id?: string; readonly pid?: string; readonly identity?: string };
}

/** An agent of another version may say more. */
const STATUS: v.GenericSchema<unknown, AgentStatus> = v.object({
  pid: v.number(),
  name: v.string(),
  state: v.picklist(['serving', 'stopping']),
  startedAt: v.number(),
  uptimeMs: v.number(),
  running: v.number(),
  queued: v.number(),
  runs: v.number(),
  rssBytes: v.number(),
  containment: v.string(),
  tracing: v.optional(v.boolean(), false),
  functions: v.object({ count: v.number(), bytes: v.number() }),
});

/** @throws {HoldfastError} `NO_SESSION`, `AGENT_FROZEN`, and as `control`. */
export async function sessionStatus(name: string): Promise<SessionStatus> {
  const { answer, agentPid } = await ask(name, { op: 'status' }, { timeoutMs: TIMEOUT_MS });
  const parsed = v.safeParse(STATUS, answer);
  if (!parsed.success) {
    throw new HoldfastError('PROTOCOL', `the status of session '${name}' is not understood: ${parsed.issues[0].message}`, {
      hint: 'close the session and open it again with this version of Holdfast',
    });
  }
  const { record, socket, log } = readOpened(name);
  const { mode, directory } = record.definition;
  const { pid: told, name: own, state, ...rest } = parsed.output;
  // In a container it knows itself by another number than we do. 0: of a pid namespace that we do not see into.
  const pid = agentPid > 0 ? agentPid : told;
  const changes = staleOf(answer);
  const commandsRssBytes = rest.running === 0 ? 0 : residentBytesOf(descendantsOf(pid));
  const { keeperPid: _keeper, keeperStartTicks: _ticks, ...held } = record.held ?? { keeperPid: 0, keeperStartTicks: 0, name: '' };
  return {
    pid,
    socket,
    log,
    name: own,
    mode,
    directory,
    state,
    stale: changes.length > 0,
    changes,
    ...rest,
    commandsRssBytes,
    ...(record.held === undefined ? {} : { held }),
  };
}
