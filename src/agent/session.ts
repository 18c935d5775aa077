// The agent's whole state: which requests run or wait, whether it serves or stops, when it has idled long enough. DESIGN section 4.

import { readFileSync } from 'node:fs';
import { type ChildChange, watchChildren } from '../native/children.js';
import { closeFds, isTty } from '../native/descriptors.js';
import { descendantsOf, descendsFrom, endAll } from '../process-tree.js';
import { encodeNotice, encodeQueued } from '../protocol/agent-message.js';
import type { JsonObject } from '../protocol/json.js';
import { RefusalCode } from '../protocol/numbers.js';
import type { RunRequest } from '../protocol/run.js';
import { Admission } from './admission.js';
import type { Absent } from './captured.js';
import { type Connection, type ConnectionHost, refusalOf } from './connection.js';
import type { Containment, ContainmentMaker } from './containment.js';
import { directoryOf } from './directory.js';
import type { Freshness } from './freshness.js';
import { Jobs } from './jobs.js';
import { Refused } from './refused.js';
import { type Reply, Request, type RequestHost } from './request.js';
import type { SpawnPlan } from './spawn-plan.js';
import { StalePolicy } from './stale-policy.js';
import { Trace } from './trace.js';
import type { WrappedRun } from './wrapped-run.js';
import type { Wrapping } from './wrapping.js';

export interface SessionSettings {
  name: string;
  stem: string;
  plan: SpawnPlan;
  killGraceMs: number;
  jobOutputLimitBytes: number;
  maxConcurrent: number;
  maxQueue: number;
  /** `null`: never. */
  idleTimeoutMs: number | null;
  containment: ContainmentMaker;
  /** Every command is started behind it. */
  wrapping?: Wrapping | undefined;
  /** It lasts no longer than a program that has said so (`own`). */
  isOwned: boolean;
  freshness: Freshness;
  onStale: string;
  /** What the environment had and no command gets: `explain` tells it. */
  absent: readonly Absent[];
  /** Told by status, as it is. */
  facts: JsonObject;
}

/** An opener makes itself the owner as soon as it is told that the session serves; one that has not by then was killed before. */
const OWNER_MS = 30_000;

export class AgentSession implements RequestHost, ConnectionHost {
  readonly plan: SpawnPlan;
  readonly killGraceMs: number;
  readonly #settings: SessionSettings;
  readonly #admission: Admission<Request>;
  readonly #jobs: Jobs;
  readonly #trace: Trace;
  readonly #stalePolicy: StalePolicy;
  readonly #live = new Set<Request>();
  readonly #byPid = new Map<number, Request>();
  readonly #connections = new Set<Connection>();
  readonly #owners = new Set<Connection>();
  #isDisowned = false;
  /** Counted as running, and not started yet. */
  readonly #admitted: Request[] = [];
  #isStarting = false;
  readonly #startedAt = Date.now();
  #state: 'serving' | 'stopping' = 'serving';
  #runs = 0;
  #idle: NodeJS.Timeout | undefined;
  #drained: (() => void) | undefined;
  /** Set by main: what a stop asked over the socket leads to. */
  onStop: (graceMs: number | undefined) => void = () => {};

  constructor(settings: SessionSettings) {
    this.#settings = settings;
    this.plan = settings.plan;
    this.killGraceMs = settings.killGraceMs;
    this.#admission = new Admission(settings.maxConcurrent, settings.maxQueue);
    this.#jobs = new Jobs(settings.stem, settings.jobOutputLimitBytes);
    // A warden starts its target itself, and is small.
    const isOurChild = settings.containment.kind !== 'warden';
    this.#trace = new Trace(() => (isOurChild ? process.resourceUsage().maxRSS : -1));
    this.#stalePolicy = new StalePolicy(settings.name, settings.onStale);
    const looks = settings.wrapping?.looksAtEnds === true;
    watchChildren((change) => this.changed(change), looks ? (pid, exitCode) => this.#byPid.get(pid)?.onFailure(exitCode) : undefined);
    this.#restIfIdle();
  }

  // --- requests ---

  run(run: RunRequest, fds: readonly number[], reply: Reply): Request | undefined {
    const refusal = this.#findRefusal(run) ?? this.#findStaleness(run, fds, reply);
    if (refusal !== undefined) {
      closeFds(fds);
      reply.send(refusalOf(refusal));
      reply.end();
      return undefined;
    }
    const wrapped = this.#settings.wrapping?.forRequest();
    const request = run.detach ? this.#detached(run, fds, reply, wrapped) : new Request(this, run, fds, reply, '', wrapped);
    this.#live.add(request);
    const admitted = this.#admission.admit(request);
    if (admitted === 'run') request.start();
    else if (admitted === 'full') {
      reply.send(
        refusalOf(
          new Refused(RefusalCode.BUSY, `the session's queue of ${this.#settings.maxQueue} is full`, 'try again later, or raise max_queue'),
        ),
      );
      request.cancel('client');
      reply.end();
    } else reply.send(encodeQueued(admitted));
    return request;
  }

  #findRefusal(run: RunRequest): Refused | undefined {
    if (this.#state === 'stopping') return new Refused(RefusalCode.STOPPING, 'the session is closing', 'open it again');
    if (this.#settings.wrapping?.needsCaller === true && !run.hasCaller)
      return new Refused(
        RefusalCode.CALLER,
        "the session's wrapper runs in the environment of the caller",
        'a client of this version sends it; use that one',
      );
    if (!run.cwdByDescriptor && directoryOf(run.cwd).isInsideProcess)
      return new Refused(
        RefusalCode.BAD_DIRECTORY,
        `the directory '${run.cwd.toString()}' is inside a process`,
        'name the directory by its own path',
      );
    return undefined;
  }

  /** Tells what is only to be told by itself. */
  #findStaleness(run: RunRequest, fds: readonly number[], reply: Reply): Refused | undefined {
    const changes = this.#settings.freshness.look();
    if (changes.length === 0) return undefined;
    const verdict = this.#stalePolicy.judge(changes, {
      isInside: () => isInside(reply.peerPid),
      isSeen: () => run.fds.some((number, index) => number === STDERR && isTty(fds[index] ?? -1)),
    });
    if (verdict.kind === 'refuse') return new Refused(verdict.code, verdict.message, verdict.hint);
    if (verdict.kind === 'tell') reply.send(encodeNotice(verdict));
    return undefined;
  }

  #detached(run: RunRequest, fds: readonly number[], reply: Reply, wrapped: WrappedRun | undefined): Request {
    // 0, 1 and 2 are the job's own; the directory and what the caller named beyond them stay.
    const isOwn = (_: number, index: number): boolean => (run.fds[index] ?? 3) < 3;
    const kept = fds.filter((fd, index) => !isOwn(fd, index));
    closeFds(fds.filter(isOwn));
    try {
      const { id, output } = this.#jobs.prepare();
      const [input, file] = output.takeDescriptors();
      const numbers = [0, 1, 2, ...run.fds.filter((number) => number >= 3)];
      const request = new Request(
        this,
        { ...run, fds: numbers, terminal: { kind: 'plain' } },
        [input, file, file, ...kept],
        reply,
        id,
        wrapped,
      );
      this.#jobs.add(id, run, output, request);
      return request;
    } catch (error) {
      closeFds(kept);
      throw error;
    }
  }

  contain(run: RunRequest): Containment {
    return this.#settings.containment.make(run);
  }

  started(request: Request, pid: number): void {
    this.#runs++;
    this.#byPid.set(pid, request);
    if (request.job !== '') this.#jobs.started(request.job, pid);
  }

  changed(change: ChildChange): void {
    const request = this.#byPid.get(change.pid);
    const ended = change.waitStatus !== 0xffff && (change.waitStatus & 0xff) !== 0x7f;
    // A child that is nobody's target is a helper of ours, or an orphan that came to us, its subreaper: reaped, and told.
    if (request === undefined) {
      if (this.#settings.wrapping?.changed(change) === true) return;
      if (ended) this.#settings.containment.childEnded?.(change);
      return;
    }
    if (ended) this.#byPid.delete(change.pid);
    request.onChange(change);
  }

  ended(request: Request): void {
    this.#live.delete(request);
    this.#trace.add(request);
    if (request.job !== '') this.#jobs.ended(request.job, request);
    this.#startAll(this.#admission.leave(request));
    if (this.#live.size > 0) return;
    this.#drained?.();
    this.#restIfIdle();
  }

  /** One after another and not one inside another: each that cannot be started makes room for the next. */
  #startAll(admitted: readonly Request[]): void {
    this.#admitted.push(...admitted);
    if (this.#isStarting) return;
    this.#isStarting = true;
    try {
      for (let next = this.#admitted.shift(); next !== undefined; next = this.#admitted.shift()) next.start();
    } finally {
      this.#isStarting = false;
    }
  }

  // --- connections ---

  opened(connection: Connection): void {
    this.#connections.add(connection);
  }

  closed(connection: Connection): void {
    this.#connections.delete(connection);
    if (!this.#owners.delete(connection) || this.#owners.size > 0 || this.#state !== 'serving') return;
    this.#isDisowned = true;
    this.onStop(undefined);
  }

  own(connection: Connection): void {
    if (this.#state === 'stopping') throw new Refused(RefusalCode.STOPPING, 'the session is closing', 'open it again');
    this.#owners.add(connection);
  }

  /** It ends since its owner is gone, and not because somebody closes it. */
  get isDisowned(): boolean {
    return this.#isDisowned;
  }

  /** Its owner was gone before it could say so. */
  get isForsaken(): boolean {
    return this.#settings.isOwned && this.#owners.size === 0 && Date.now() - this.#startedAt > OWNER_MS;
  }

  control(request: JsonObject, peerPid = 0): JsonObject | Promise<JsonObject> {
    this.#restIfIdle();
    switch (request['op']) {
      case 'status':
        return this.#status();
      case 'environment':
        return {
          base: this.plan.base.entries(),
          captured: this.plan.base.captured(),
          absent: this.#settings.absent.map((each) => ({ ...each })),
          ...(this.#settings.wrapping?.isRemote === true ? { isElsewhere: true } : {}),
        };
      case 'jobs':
        return { jobs: this.#jobs.list() };
      case 'job':
        return this.#job(request['action'], request['id'], request['seen']);
      case 'trace':
        return this.#traced(request['action']);
      case 'inputs':
        return { inputs: this.#settings.freshness.inputs, sources: this.#settings.freshness.sources };
      case 'stop':
        // Decided and done in one turn: no command can come in between.
        if (request['ifIdle'] === true && this.#live.size > 0) return this.#busy(peerPid);
        if (request['ifIdle'] === true) this.#state = 'stopping';
        setImmediate(() => this.onStop(typeof request['graceMs'] === 'number' ? request['graceMs'] : undefined));
        return { stopping: true };
      default:
        throw new Refused(RefusalCode.UNSUPPORTED, `this agent knows no operation '${String(request['op'])}'`);
    }
  }

  #traced(action: unknown): JsonObject {
    if (action === 'read') return this.#trace.describe(this.#live);
    if (action === 'start') this.#trace.start();
    else if (action === 'stop') this.#trace.stop();
    else throw new Refused(RefusalCode.UNSUPPORTED, `this agent cannot '${String(action)}' a trace`);
    return this.#trace.state();
  }

  async #job(action: unknown, id: unknown, seen: unknown): Promise<JsonObject> {
    if (typeof id !== 'string') throw new Refused(RefusalCode.BAD_REQUEST, 'no job is named');
    switch (action) {
      case 'wait':
        return { job: await this.#jobs.wait(id) };
      case 'kill':
        return { job: await this.#jobs.kill(id) };
      case 'logs':
        return { ...(await this.#jobs.logs(id, typeof seen === 'number' ? seen : undefined)) };
      default:
        throw new Refused(RefusalCode.UNSUPPORTED, `this agent cannot '${String(action)}' a job`);
    }
  }

  #busy(peerPid: number): JsonObject {
    const queued = this.#admission.queued.length;
    return { stopping: false, running: this.#live.size - queued, queued, isInside: isInside(peerPid) };
  }

  #status(): JsonObject {
    return {
      protocol: 1,
      pid: process.pid,
      name: this.#settings.name,
      state: this.#state,
      startedAt: this.#startedAt,
      uptimeMs: Date.now() - this.#startedAt,
      running: this.#byPid.size,
      queued: this.#admission.queued.length,
      owner: [...this.#owners][0]?.peerPid ?? null,
      runs: this.#runs,
      rssBytes: residentBytes(),
      containment: this.#settings.containment.kind,
      tracing: this.#trace.isOn,
      stale: this.#settings.freshness.look(),
      ...this.#settings.facts,
    };
  }

  // --- rest and stop ---

  /** Begins to count anew. One timer for all: it is let run while requests live, and then means nothing. */
  #restIfIdle(): void {
    const { idleTimeoutMs } = this.#settings;
    if (idleTimeoutMs === null || this.#live.size > 0 || this.#state === 'stopping') return;
    // Node fires a longer timer at once.
    this.#idle ??= setTimeout(() => this.#onIdle(), Math.min(idleTimeoutMs, 0x7fffffff));
    this.#idle.refresh();
  }

  #onIdle(): void {
    if (this.#live.size === 0) this.onStop(undefined);
  }

  /** It belongs to a directory that is not there any more, and nothing runs in it. */
  get isDeserted(): boolean {
    return this.#live.size === 0 && this.#settings.freshness.isDeserted;
  }

  /** Ends every request, then everything any of them left; resolves when nothing of the session lives but the agent. */
  async stop(graceMs: number = this.killGraceMs): Promise<void> {
    this.#state = 'stopping';
    clearTimeout(this.#idle);
    for (const request of [...this.#live]) request.cancel('shutdown', graceMs);
    if (this.#live.size > 0) await new Promise<void>((resolve) => (this.#drained = resolve));
    await this.#settings.wrapping?.close(graceMs);
    await this.#sweep(graceMs);
    this.#jobs.close();
    this.#settings.containment.close();
    for (const connection of [...this.#connections]) connection.end();
  }

  /** What ended requests left behind. Orphans are the agent's children, so none of it is out of reach. */
  async #sweep(graceMs: number): Promise<void> {
    const { containment, wrapping } = this.#settings;
    // Where a cgroup or a warden holds them, it ends at one blow also what forks faster than it can be listed.
    const kill = setTimeout(() => containment.killAll(), graceMs);
    await endAll(
      () => descendantsOf(process.pid).filter(({ pid }) => !containment.isHelper(pid) && wrapping?.isHelper(pid) !== true),
      graceMs,
    );
    clearTimeout(kill);
  }
}

/** VmRSS of this process; process.memoryUsage() would walk the heap for more. */
function residentBytes(): number {
  const found = /^VmRSS:\s*(\d+) kB/m.exec(readFileSync('/proc/self/status', 'latin1'));
  return Number(found?.[1] ?? 0) * 1024;
}

const STDERR = 2;

/** Whether it is one of the targets, or came of one: all of them descend from the agent, to which even orphans come. */
function isInside(peerPid: number | undefined): boolean {
  return peerPid !== undefined && descendsFrom(peerPid, process.pid);
}
