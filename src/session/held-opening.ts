// Opens a session for this program, which is to close with it however it ends; or joins one that is open.

import { addressOf } from '../client/connect.js';
import { HoldfastError } from '../errors.js';
import { killProcess } from '../native/processes.js';
import { descendantsOf } from '../process-tree.js';
import { findLiveAgent } from './agent-probe.js';
import { closeSession } from './close.js';
import { DEFINITION_DEFAULTS, type Launch, parseDefinition, type SessionDefinition } from './definition.js';
import type { ExecSession } from './exec-session.js';
import { HeldSession } from './held-session.js';
import { identityOfRecord } from './identity.js';
import { layeredDefinition } from './layer.js';
import { type OpenOptions, openSession } from './open.js';
import { readOpened } from './opened.js';
import { Ownership } from './ownership.js';
import { findPlace } from './place.js';
import { type Dependent, dependOnProcess, type Leaving } from './process-end.js';

const SIGTERM = 15;
const LAUNCHER_GRACE_MS = 1_000;

export interface HoldOptions extends Pick<OpenOptions, 'progress' | 'signal'> {
  /** The session that this one is opened on top of. */
  readonly on?: ExecSession | undefined;
}

/** @throws {HoldfastError} as openSession, and `USAGE` for a session underneath that is none of ours. */
export async function holdSession(definition: SessionDefinition, options: HoldOptions = {}): Promise<HeldSession> {
  const base = baseOf(options.on);
  const layered = base === undefined || base.mode === 'host' ? definition : layeredDefinition(definition, base.socket);
  const opening = new Opening(options);
  const settled = dependOnProcess(opening);
  const held = holdOpened(layered, entryOf(definition), base, opening);
  opening.over = held.catch(() => undefined);
  try {
    return await held;
  } finally {
    settled();
  }
}

async function holdOpened(
  definition: SessionDefinition,
  entry: readonly string[],
  base: HeldSession | undefined,
  opening: Opening,
): Promise<HeldSession> {
  const { opened, socket, pid } = await openSession(definition, opening.options);
  const ownership = opened ? await own(definition.name, socket) : undefined;
  const identity = identityOfRecord(readOpened(definition.name).record);
  return new HeldSession({ definition, entry, socket, agentPid: ownership?.agentPid ?? pid, ownership, base, identity });
}

/** A session that somebody else opened, by name. Its teardown leaves it open. @throws {HoldfastError} `NO_SESSION`, `AGENT_FROZEN`, … */
export async function attachSession(name: string): Promise<ExecSession> {
  const place = findPlace(name);
  try {
    const live = place === undefined ? undefined : await findLiveAgent(name);
    if (place === undefined || live === undefined) {
      throw new HoldfastError('NO_SESSION', `session '${name}' is not open`, {
        hint: `start it with 'holdfast open ${name} -- LAUNCHER...'`,
      });
    }
    const definition = parseDefinition({ ...DEFINITION_DEFAULTS, ...fieldsOf(live.definition) });
    return new HeldSession({
      definition,
      entry: entryOf(definition),
      socket: place.shown.socket,
      agentPid: live.pid,
      ownership: undefined,
      base: undefined,
      identity: identityOfRecord(readOpened(name).record),
    });
  } finally {
    place?.close();
  }
}

/** A session that is being entered: this program's end ends the entry. */
class Opening implements Dependent {
  readonly #controller = new AbortController();
  readonly options: OpenOptions;
  /** Resolves when it has become a session, or nothing. */
  over: Promise<unknown> = Promise.resolve();
  #clear: (() => void) | undefined;
  #launcher: { readonly pid: number; readonly startTicks: number | undefined } | undefined;

  constructor({ progress, signal }: HoldOptions) {
    const own = this.#controller.signal;
    this.options = {
      ...(progress === undefined ? {} : { progress }),
      signal: signal === undefined ? own : AbortSignal.any([own, signal]),
      ownsProcess: false,
      owned: true,
      onLauncher: (pid, startTicks) => {
        this.#launcher = { pid, startTicks };
      },
      onRemains: (clear) => {
        this.#clear = clear;
      },
    };
  }

  async end(): Promise<void> {
    this.#controller.abort();
    await this.over;
  }

  drop(): readonly Leaving[] {
    if (this.#launcher === undefined) return [];
    const tree = [this.#launcher, ...descendantsOf(this.#launcher.pid)];
    for (const { pid } of tree) killProcess(pid, SIGTERM);
    return tree.map(({ pid, startTicks }) => ({ pid, startTicks, killAfterMs: LAUNCHER_GRACE_MS }));
  }

  clear(): void {
    this.#clear?.();
  }
}

async function own(name: string, socket: string): Promise<Ownership> {
  try {
    return await Ownership.take({ ...addressOf({ kind: 'socket', path: Buffer.from(socket) }), label: name });
  } catch (error) {
    await closeSession(name).catch(() => undefined);
    throw error;
  }
}

function baseOf(on: ExecSession | undefined): HeldSession | undefined {
  if (on === undefined || on instanceof HeldSession) return on;
  throw new HoldfastError('USAGE', 'a session can only be opened on top of one that this library made', {
    hint: "give 'on' what openSession or attachSession returned",
  });
}

function entryOf({ mode, launch, wrap }: SessionDefinition): readonly string[] {
  return mode === 'wrap' ? [...(wrap?.prefix ?? []), ...(wrap?.operand ?? [])] : wordsOf(launch);
}

function wordsOf(launch: Launch): readonly string[] {
  return launch.style === 'source' ? ['source', launch.script] : launch.argv;
}

function fieldsOf(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}
