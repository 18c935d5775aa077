// Who, if anybody, answers on a session's socket: decided under the session's lock, before anything is started or removed.

import { setTimeout as sleep } from 'node:timers/promises';

import * as v from 'valibot';

import { HoldfastError } from '../errors.js';
import { ask, type ControlAnswer } from './control.js';
import type { Change } from './freshness.js';

/** A healthy agent answers within a millisecond; this allows for a machine that is very busy. */
const ANSWER_MS = 2_000;
const STOPPING_POLL_MS = 20;
/** An agent that is closing ends its targets first, with their grace. */
const STOPPING_MS = 30_000;

export interface LiveAgent {
  readonly pid: number;
  /** What `status` tells of the session's definition. */
  readonly definition: unknown;
  /** What is not as it was when the environment was entered. */
  readonly stale: readonly Change[];
}

/**
 * The live agent of the session `name`. Waits for one that is closing to be gone.
 *
 * @returns `undefined`: nobody listens; what is left of the socket is stale.
 * @throws {HoldfastError} `AGENT_FROZEN`, and what else `control` throws but for `NO_SESSION`.
 */
export async function findLiveAgent(name: string): Promise<LiveAgent | undefined> {
  for (const deadline = performance.now() + STOPPING_MS; ; await sleep(STOPPING_POLL_MS)) {
    try {
      const { answer, agentPid } = await ask(name, { op: 'status' }, { timeoutMs: ANSWER_MS });
      if (answer['state'] !== 'stopping') return { pid: agentPid, definition: answer['definition'], stale: staleOf(answer) };
      if (performance.now() >= deadline) {
        throw new HoldfastError('SESSION_STOPPING', `session '${name}' is still closing`, { hint: `end it with 'holdfast close ${name}'` });
      }
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      if (error.code === 'NO_SESSION') return undefined;
      // Connected, and then it ended: the next connection tells that nobody listens.
      if (error.code !== 'SESSION_LOST' || performance.now() >= deadline) throw error;
    }
  }
}

const CHANGES = v.array(v.object({ path: v.string(), how: v.picklist(['changed', 'new', 'gone', 'replaced']) }));

/** What an agent says of its environment in its status. */
export function staleOf(answer: ControlAnswer): readonly Change[] {
  const parsed = v.safeParse(CHANGES, answer['stale']);
  return parsed.success ? parsed.output : [];
}
