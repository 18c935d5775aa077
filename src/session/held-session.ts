// The one implementation of ExecSession: an open session of any mode, through its socket. Which mode it is decides how a command is
// prepared, and nothing else here: all of them have an agent.

import { checkCommand } from '../client/check-command.js';
import type { SessionAddress } from '../client/connect.js';
import { workingDirectory } from '../client/directory.js';
import { runFresh } from '../client/run.js';
import type { RunHandle, RunOptions } from '../client/run-handle.js';
import type { StdioOption } from '../client/stdio.js';
import { HoldfastError } from '../errors.js';
import { installed } from '../install.js';
import type { Outcome } from '../protocol/outcome.js';
import { inheritsEnvironment } from '../wrap/definition.js';
import { closeSession } from './close.js';
import { ask } from './control.js';
import type { SessionDefinition } from './definition.js';
import type { CommandSpec, ExecSession, PreparedCommand, SessionCaps, SessionDescription, SessionMode } from './exec-session.js';
import { failureOf } from './failure.js';
import type { Identity } from './identity.js';
import { Ownership } from './ownership.js';
import { prepareForClient, prepareOnHost } from './prepare.js';
import { type Dependent, dependOnProcess, type Leaving } from './process-end.js';
import { findRecordLeniently } from './record.js';
import { reopenSession } from './reopen.js';
import { fingerprintSession, type SessionFingerprint } from './session-fingerprint.js';
import { wantedOfCaller } from './wanted-of-caller.js';

const ANSWER_MS = 10_000;

export interface HeldFacts {
  readonly definition: SessionDefinition;
  /** What the user said, without what layering put in front of it. */
  readonly entry: readonly string[];
  /** Absolute. */
  readonly socket: string;
  readonly agentPid: number;
  /** Taken over. `undefined`: somebody else opened the session, and closes it. */
  readonly ownership: Ownership | undefined;
  readonly base: HeldSession | undefined;
  readonly identity: Identity;
}

export class HeldSession implements ExecSession, Dependent {
  readonly name: string;
  readonly mode: SessionMode;
  readonly caps: SessionCaps;
  readonly #facts: HeldFacts;
  readonly #address: SessionAddress;
  readonly #layers = new Set<HeldSession>();
  #ownership: Ownership | undefined;
  #agentPid: number;
  #refreshing: Promise<boolean> | undefined;
  readonly #closing = new AbortController();
  #baseEnv: Promise<Readonly<Record<string, string>> | undefined> | undefined;
  #teardown: Promise<void> | undefined;
  #forget: () => void = () => {};

  constructor(facts: HeldFacts) {
    const { definition, socket, ownership, base } = facts;
    this.#facts = facts;
    this.#ownership = ownership;
    this.#agentPid = facts.agentPid;
    this.name = definition.name;
    this.mode = definition.mode;
    this.caps = {
      pty: definition.wrap === undefined || definition.wrap.farSide === 'local' || definition.wrap.ttyOption.length > 0,
      maxConcurrent: definition.maxConcurrent === 0 ? undefined : definition.maxConcurrent,
      identity: facts.identity,
    };
    const pass = wantedOfCaller(definition).length === 0 ? undefined : socket.replace(/\.sock$/, '.pass');
    this.#address = { label: definition.name, kind: 'session', socket: Buffer.from(socket), pass };
    if (ownership !== undefined) this.#forget = dependOnProcess(this);
    base?.carry(this);
  }

  prepare(spec: CommandSpec): PreparedCommand {
    if (this.#teardown !== undefined) throw this.#gone();
    checkCommand(spec, 'text');
    const caller = { env: process.env, cwd: spec.cwd?.startsWith('/') ? '/' : workingDirectory() };
    if (this.mode === 'host') return prepareOnHost(spec, caller);
    const { runtimePassEnv } = this.#facts.definition;
    return prepareForClient(spec, { runnerExec: installed.runnerExec, socket: this.#facts.socket, runtimePassEnv, caller });
  }

  run<const S extends StdioOption = 'pipe'>(options: RunOptions<S>): RunHandle<S>;
  run(options: RunOptions): RunHandle {
    if (this.#teardown !== undefined) return runFresh({ ...options, signal: AbortSignal.abort(this.#gone()) }, this.#address, neverAgain);
    return runFresh(this.mode === 'host' ? onHost(options) : options, this.#address, () => this.refresh());
  }

  baseEnv(): Promise<Readonly<Record<string, string>> | undefined> {
    if (this.#baseEnv === undefined && this.#teardown !== undefined) return Promise.reject(this.#gone());
    this.#baseEnv ??= this.#readBaseEnv();
    return this.#baseEnv;
  }

  fingerprint(): Promise<SessionFingerprint> {
    if (this.#teardown !== undefined) return Promise.reject(this.#gone());
    return fingerprintSession(this.name);
  }

  describe(): SessionDescription {
    const { definition, entry, socket, base } = this.#facts;
    const { name, mode, directory } = definition;
    const owned = this.#ownership !== undefined;
    return {
      name,
      mode,
      directory,
      entry,
      socket,
      agentPid: this.#agentPid,
      owned,
      ...(base === undefined ? {} : { base: base.describe() }),
    };
  }

  failureOf(outcome: Outcome, spec: Pick<RunOptions, 'program' | 'env' | 'pathPrepend' | 'exact'>): HoldfastError | undefined {
    return failureOf(outcome, spec, this.#facts.definition);
  }

  refresh(): Promise<boolean> {
    if (this.#teardown !== undefined) return Promise.reject(this.#gone());
    this.#refreshing ??= this.#enterAgain().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  teardown(): Promise<void> {
    this.#teardown ??= this.#close();
    return this.#teardown;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.teardown();
  }

  // --- for the rest of this folder ---

  get definition(): SessionDefinition {
    return this.#facts.definition;
  }

  get socket(): string {
    return this.#facts.socket;
  }

  /** `layer` was opened in this session, and so ends before it. */
  carry(layer: HeldSession): void {
    this.#layers.add(layer);
  }

  release(layer: HeldSession): void {
    this.#layers.delete(layer);
  }

  async end(): Promise<void> {
    // Why it could not be closed is told to whoever called teardown(), if anybody did; the agent ends without us all the same.
    await this.teardown().catch(() => this.#ownership?.giveUp());
  }

  drop(): readonly Leaving[] {
    const ownership = this.#ownership;
    if (ownership === undefined) return [];
    const record = findRecordLeniently(this.#facts.socket.replace(/\.sock$/, '.json'));
    ownership.giveUp();
    const agent = { pid: ownership.agentPid, startTicks: ownership.agentStartTicks };
    if (record?.launcherPid === undefined) return [agent];
    return [agent, { pid: record.launcherPid, startTicks: record.launcherStartTicks }];
  }

  async #close(): Promise<void> {
    const { base } = this.#facts;
    try {
      this.#closing.abort();
      await this.#refreshing?.catch(() => undefined);
      await Promise.all([...this.#layers].map((layer) => layer.teardown()));
      if (this.#ownership !== undefined) await closeUnlessGone(this.name);
    } finally {
      this.#ownership?.giveUp();
      this.#forget();
      base?.release(this);
    }
  }

  async #enterAgain(): Promise<boolean> {
    const { definition } = this.#facts;
    if (this.#layers.size > 0) {
      throw new HoldfastError('UNSUPPORTED', `session '${this.name}' cannot be entered again while others lie on top of it`, {
        hint: 'tear those down first',
      });
    }
    const owned = this.#ownership !== undefined;
    const options = { ifStale: true, ownsProcess: false, owned, signal: this.#closing.signal };
    const { opened } = await reopenSession(this.name, () => ({ definition }), options);
    if (!opened) return false;
    this.#baseEnv = undefined;
    if (this.#ownership === undefined) return true;
    this.#ownership.giveUp();
    this.#ownership = await Ownership.take(this.#address);
    this.#agentPid = this.#ownership.agentPid;
    return true;
  }

  async #readBaseEnv(): Promise<Readonly<Record<string, string>> | undefined> {
    const { definition, socket } = this.#facts;
    if (this.mode === 'host') return prepareOnHost({ program: 'env' }, { env: process.env, cwd: '/' }).env;
    if (definition.wrap !== undefined && !inheritsEnvironment(definition.wrap)) return undefined;
    const { answer } = await ask({ socket }, { op: 'environment' }, { timeoutMs: ANSWER_MS });
    const variables: Record<string, string> = {};
    for (const pair of Array.isArray(answer['base']) ? answer['base'] : []) {
      if (Array.isArray(pair)) variables[textOf(pair[0])] = textOf(pair[1]);
    }
    return variables;
  }

  #gone(): HoldfastError {
    return new HoldfastError('NO_SESSION', `session '${this.name}' has been torn down`, { hint: 'open another one' });
  }
}

/** The environment of mode host is this program's, or all that the command is given. */
function onHost(options: RunOptions): RunOptions {
  return { ...options, exact: true, env: options?.env ?? process.env };
}

/** For a run that fails before it could ask. */
function neverAgain(): Promise<never> {
  return Promise.reject(new Error('a session that was torn down is not opened again'));
}

async function closeUnlessGone(name: string): Promise<void> {
  try {
    await closeSession(name);
  } catch (error) {
    if (!(error instanceof HoldfastError) || error.code !== 'NO_SESSION') throw error;
  }
}

/** On the wire a variable is latin1, one character a byte. */
function textOf(bytes: unknown): string {
  return Buffer.from(String(bytes), 'latin1').toString();
}
