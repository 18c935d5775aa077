// One request from acceptance to outcome. Owns its passed descriptors until the spawn, and its containment until the end.
// The only place that decides how a request goes on; DESIGN section 4 "Ending", docs/protocol.md §5. Long, since the states and
// all that leads from one to the next are to be seen in one place.

import { HoldfastError } from '../errors.js';
import type { ChildChange } from '../native/children.js';
import { closeFd, closeFds } from '../native/descriptors.js';
import { killGroup } from '../native/processes.js';
import { type SpawnResult, type Started, spawn } from '../native/spawn.js';
import { NativeError } from '../native.js';
import { encodeContinued, encodeNotStarted, encodeRefused, encodeSpawned, encodeStopped } from '../protocol/agent-message.js';
import { type Exited, encodeExited, type Timings } from '../protocol/exited.js';
import { type CancelledBy, isStep, RefusalCode, Step } from '../protocol/numbers.js';
import type { RunRequest } from '../protocol/run.js';
import type { Containment } from './containment.js';
import { Refused } from './refused.js';
import { type SpawnPlan, toSpawnRequest } from './spawn-plan.js';
import type { WrappedRun } from './wrapped-run.js';

const SIGKILL = 9;
const SIGTERM = 15;
const SIGCONT = 18;
const SIGSTOP = 19;
const ENOENT = 2;
const E2BIG = 7;
const ETXTBSY = 26;
/** Errors that say "no more of that now", not "this can't be": EAGAIN, ENOMEM, ENFILE, EMFILE, ENOSPC. */
const EXHAUSTED = [11, 12, 23, 24, 28];

/** ENFILE, EMFILE. */
const TABLE_FULL = [23, 24];

/** Node's own errors have it below zero. 0: it has none. */
function errnoOf(error: unknown): number {
  return typeof error === 'object' && error !== null && 'errno' in error ? Math.abs(Number(error.errno)) : 0;
}

function isExhausted(error: unknown): boolean {
  return EXHAUSTED.includes(errnoOf(error));
}

const PROGRAM_STEPS: readonly number[] = [Step.PROGRAM, Step.INTERPRETER, Step.EXEC];
/** A program that is being written is busy for as long as its writer takes to close it; 20 tries at 10 ms. */
const BUSY_RETRIES = 20;
const BUSY_RETRY_MS = 10;
/** Node fires a longer timer at once. */
const MAX_TIMER_MS = 0x7fffffff;
/** How often what a cancelled request left is looked for while its grace runs. */
const EMPTY_POLL_MS = 20;
const KILL_RETRY_MS = 20;
/** What a wrapper may take to end once its command has. */
const WRAPPER_END_MS = 500;
const HANGUP_MS = 50;
const HANGUP_POLL_MS = 5;

/** Why a request is ended from our side. */
export type Canceller = Exclude<CancelledBy, 'nobody'>;

type State =
  | { kind: 'waiting'; retry?: NodeJS.Timeout }
  | { kind: 'running' }
  /** TERM was sent; KILL comes when `kill` fires. */
  | { kind: 'ending'; by: Canceller; kill: NodeJS.Timeout }
  /** The target has ended and its outcome is sent; what a cancelled one left is being ended. */
  | { kind: 'sweeping'; kill: NodeJS.Timeout; poll: NodeJS.Timeout }
  /** A job has ended, and something that it started lives on, which end() can still reach. */
  | { kind: 'left' }
  | { kind: 'ended' };

/** What it came to. A client that has gone was told nothing of it. */
export type Result =
  | { readonly kind: 'exited'; readonly exited: Exited }
  | { readonly kind: 'notStarted'; readonly step: Step; readonly errno: number }
  | { readonly kind: 'refused'; readonly code: RefusalCode };

/** Where answers go. A detached request has none once its job id is sent. */
export interface Reply {
  /** False: nobody reads any more. */
  send(frame: Buffer, fds?: readonly number[]): boolean;
  /** The last answer has been sent. */
  end(): void;
  /** Whether nobody reads any more, though that has not been told yet. */
  readonly isPeerGone?: boolean;
  /** The process that asks; 0 or absent: not known. */
  readonly peerPid?: number;
  /** Lets a peer go on that has stopped itself, as it does when told of its target's stop: only so can it read what was sent. */
  wake?(): void;
}

/** What a request needs of its session. */
export interface RequestHost {
  readonly plan: SpawnPlan;
  readonly killGraceMs: number;
  contain(run: RunRequest): Containment;
  /** The target runs: its changes of state are to come to onChange(). */
  started(request: Request, pid: number): void;
  /** A change of a target that the host does not see by itself, since it is not its parent. */
  changed(change: ChildChange): void;
  /** Nothing more will come of it. */
  ended(request: Request): void;
}

export class Request {
  readonly run: RunRequest;
  readonly acceptedAt: number = performance.now();
  /** Set when it was detached. */
  readonly job: string;
  readonly #wrapped: WrappedRun | undefined;
  readonly #host: RequestHost;
  #reply: Reply | undefined;
  #fds: readonly number[];
  #state: State = { kind: 'waiting' };
  #containment: Containment | undefined;
  #pid = 0;
  #startedAt = 0;
  #spawnUs = 0;
  #tries = 0;
  #deadline: NodeJS.Timeout | undefined;
  /** Signals that came before there was a target. */
  #early: number[] = [];
  /** It was told of a stop, and has not said since that it goes on. */
  #peerStopped = false;
  /** What runs behind a wrapper is being ended. */
  #isFarEnding = false;
  waitStatus: number | undefined;
  result: Result | undefined;
  cancelledBy: CancelledBy = 'nobody';

  /** Takes `fds`. @param wrapped what stands between us and the target, where something does. */
  constructor(host: RequestHost, run: RunRequest, fds: readonly number[], reply: Reply, job = '', wrapped?: WrappedRun) {
    this.#host = host;
    this.#wrapped = wrapped;
    this.run = run;
    this.#fds = fds;
    this.#reply = reply;
    this.job = job;
    if (run.timeoutMs !== undefined) this.#waitForDeadline(this.acceptedAt + run.timeoutMs);
  }

  get pid(): number {
    return this.#pid;
  }

  get isRunning(): boolean {
    return this.#state.kind === 'running' || this.#state.kind === 'ending';
  }

  /** So far: of the queue, the start and the run. */
  timings(): Timings {
    const now = performance.now();
    const startedAt = this.#startedAt === 0 ? now : this.#startedAt;
    return {
      queuedUs: Math.max(0, Math.round((startedAt - this.acceptedAt) * 1000) - this.#spawnUs),
      spawnUs: this.#spawnUs,
      runUs: Math.round((now - startedAt) * 1000),
    };
  }

  #waitForDeadline(deadline: number): void {
    const leftMs = deadline - performance.now();
    if (leftMs <= 0) this.cancel('deadline');
    else this.#deadline = setTimeout(() => this.#waitForDeadline(deadline), Math.min(leftMs, MAX_TIMER_MS));
  }

  /** Starts the target, or says why it cannot be. */
  start(): void {
    if (this.#state.kind !== 'waiting') return;
    const before = performance.now();
    let result: SpawnResult;
    try {
      this.#containment ??= this.#host.contain(this.run);
      result = spawn(
        this.#wrapped?.toSpawnRequest(this.run, this.#fds, this.#containment) ??
          toSpawnRequest(this.#host.plan, this.run, this.#fds, this.#containment),
      );
    } catch (error) {
      if (error instanceof Refused) this.#refuse(error.code, error.message, error.hint);
      else if (error instanceof HoldfastError) this.#refuse(RefusalCode.UNSUPPORTED, error.message, error.hint ?? '');
      else if (isExhausted(error)) this.#refuseForWant(error);
      else
        this.#refuse(
          RefusalCode.INTERNAL,
          `the request could not be started: ${error instanceof Error ? error.message : String(error)}`,
          '',
        );
      return;
    }
    this.#spawnUs = Math.round((performance.now() - before) * 1000);
    if (result.started) this.#onStarted(result);
    else this.#onFailed(result);
  }

  #onStarted(target: Started): void {
    const { pid, pidfd } = target;
    this.#closeFds();
    this.#wrapped?.started();
    this.#pid = pid;
    this.#startedAt = performance.now();
    this.#state = { kind: 'running' };
    this.#host.started(this, pid);
    this.#containment?.bind(target, (change) => this.#host.changed(change));
    const spawned = { pid, startNs: process.hrtime.bigint(), job: this.job };
    this.#sendSpawned(spawned, this.job === '' ? pidfd : -1);
    if (pidfd >= 0) closeFd(pidfd);
    for (const signal of this.#early) this.signal(signal);
    if (this.job !== '') this.#endReply();
  }

  /** The pidfd is a help, not a need: where the kernel lets no further descriptor be on its way, the answer goes without. */
  #sendSpawned(spawned: Parameters<typeof encodeSpawned>[0], pidfd: number): void {
    if (pidfd >= 0) {
      try {
        this.#reply?.send(encodeSpawned(spawned, 1), [pidfd]);
        return;
      } catch (error) {
        if (!(error instanceof NativeError) || error.code !== 'ETOOMANYREFS') throw error;
      }
    }
    this.#reply?.send(encodeSpawned(spawned, 0));
  }

  #onFailed(result: SpawnResult & { started: false }): void {
    if (result.errno === ETXTBSY && result.step === Step.EXEC && ++this.#tries <= BUSY_RETRIES) {
      this.#state = { kind: 'waiting', retry: setTimeout(() => this.start(), BUSY_RETRY_MS) };
      return;
    }
    if (result.step === Step.FORK && EXHAUSTED.includes(result.errno)) {
      this.#refuseForWant(result);
      return;
    }
    if (this.#wrapped === undefined && this.#isFunction(result)) return;
    const step = isStep(result.step) ? result.step : Step.EXEC;
    if (this.#wrapped !== undefined && PROGRAM_STEPS.includes(step) && result.errno !== E2BIG) {
      const { code, message, hint } = this.#wrapped.failure(result);
      this.#refuse(code, message, hint);
      return;
    }
    this.result = { kind: 'notStarted', step, errno: result.errno };
    const searched = step === Step.PROGRAM || step === Step.EXEC ? this.#searched() : Buffer.alloc(0);
    this.#reply?.send(encodeNotStarted({ step, errno: result.errno, subject: result.subject, searched }));
    this.#finish();
  }

  /** A name that is no program may be a shell function: then it is better to say so. True: it was answered. */
  #isFunction(result: SpawnResult & { started: false }): boolean {
    if (result.step !== Step.PROGRAM || result.errno !== ENOENT) return false;
    const { plan } = this.#host;
    const why = plan.functions.get(result.subject.toString('latin1'));
    if (why === undefined || (why === 'session' && this.run.exact)) return false;
    this.#reply?.send(encodeNotStarted({ step: Step.FUNCTION, errno: ENOENT, subject: Buffer.from(why), searched: this.#searched() }));
    this.#finish();
    return true;
  }

  #searched(): Buffer {
    return this.#host.plan.lastPath?.subarray(0, -1) ?? Buffer.alloc(0);
  }

  #refuseForWant(want: unknown): void {
    const what = TABLE_FULL.includes(errnoOf(want)) ? 'descriptors left' : 'room for another process';
    this.#refuse(
      RefusalCode.RESOURCES,
      `the session has no ${what}`,
      'run fewer commands at once, or raise its limits before it is opened',
    );
  }

  #refuse(code: RefusalCode, message: string, hint: string): void {
    this.result = { kind: 'refused', code };
    this.#reply?.send(encodeRefused({ code, message, hint }));
    this.#finish();
  }

  /** The user's own signal: to the target's group, once, whatever it makes of it. */
  signal(signal: number): void {
    if (this.#state.kind === 'waiting') this.#early.push(signal);
    else if (this.isRunning && this.#wrapped?.signal(signal, this.#pid, (own) => this.#signalGroup(own)) !== true)
      this.#signalGroup(signal);
  }

  #signalGroup(signal: number): void {
    if (this.isRunning) killGroup(this.#pid, signal);
  }

  suspend(): void {
    this.signal(SIGSTOP);
  }

  resume(): void {
    this.#peerStopped = false;
    this.signal(SIGCONT);
  }

  /**
   * The one way in which we end a request: TERM to everything, then KILL when the grace is over. Later calls change nothing.
   *
   * @param isHeard its client waits to be told how it ends: not one that is gone.
   */
  cancel(by: Canceller, graceMs: number = this.run.killGraceMs ?? this.#host.killGraceMs, isHeard: boolean = by !== 'client'): void {
    if (!isHeard) this.#reply = undefined;
    if (this.#state.kind === 'waiting') {
      if (by === 'deadline') this.#refuse(RefusalCode.DEADLINE, 'the deadline passed while the command waited for its turn', '');
      else if (by === 'client') this.#refuse(RefusalCode.STOPPING, 'the request was cancelled before the command could start', '');
      else this.#refuse(RefusalCode.STOPPING, 'the session was closed before the command could start', '');
      return;
    }
    if (this.#state.kind !== 'running') return;
    this.#state = { kind: 'ending', by, kill: setTimeout(() => this.#kill(), Math.min(graceMs, MAX_TIMER_MS)) };
    this.#terminate(graceMs);
  }

  /** What runs behind a wrapper is ended first: the wrapper then ends by itself, with what its command had still to say. */
  #terminate(graceMs: number): void {
    const far = this.#wrapped?.end(graceMs);
    if (far === undefined) this.#terminateOwn();
    else {
      const state = this.#state;
      if (state.kind !== 'ending' && state.kind !== 'sweeping') return;
      clearTimeout(state.kill);
      this.#isFarEnding = true;
      void far.then(() => {
        this.#isFarEnding = false;
        if (this.#state !== state && this.#state.kind !== 'sweeping') return;
        this.#terminateSoon(graceMs);
      });
    }
  }

  #terminateSoon(graceMs: number): void {
    const state = this.#state;
    if (state.kind !== 'ending' && state.kind !== 'sweeping') return;
    state.kill = setTimeout(() => {
      this.#terminateOwn();
      state.kill = setTimeout(() => this.#kill(), Math.min(graceMs, MAX_TIMER_MS));
    }, WRAPPER_END_MS);
  }

  #terminateOwn(): void {
    this.#containment?.signal(SIGTERM);
    this.#containment?.signal(SIGCONT); // a stopped process would take the TERM only when continued
  }

  /** Ends a job, and what it left running; ended() of the host tells when. False: there is nothing to end. */
  end(): boolean {
    switch (this.#state.kind) {
      case 'waiting':
        this.#refuse(RefusalCode.BUSY, 'the job was ended before it could start', '');
        return false;
      case 'running':
        this.cancel('client');
        return true;
      case 'ending':
      case 'sweeping':
        return true;
      case 'left': {
        const graceMs = this.run.killGraceMs ?? this.#host.killGraceMs;
        this.#state = {
          kind: 'sweeping',
          kill: setTimeout(() => this.#kill(), Math.min(graceMs, MAX_TIMER_MS)),
          poll: setInterval(() => this.#sweep(), EMPTY_POLL_MS),
        };
        this.#terminate(graceMs);
        return true;
      }
      case 'ended':
        return false;
    }
  }

  /** A job that has ended, and what it left can still be ended. */
  get hasLeft(): boolean {
    return this.#state.kind === 'left' || this.#state.kind === 'sweeping';
  }

  /** What a job that has ended left running, where that is known. */
  leftovers(): number[] {
    return this.hasLeft ? (this.#containment?.members() ?? []) : [];
  }

  /** Of a job that has ended: what it left is out of reach from now on, until the session closes. */
  forget(): void {
    const state = this.#state;
    if (state.kind !== 'left' && state.kind !== 'sweeping') return;
    if (state.kind === 'sweeping') {
      clearTimeout(state.kill);
      clearInterval(state.poll);
    }
    this.#state = { kind: 'ended' };
    this.#containment?.release();
  }

  #kill(): void {
    const state = this.#state;
    if (state.kind !== 'ending' && state.kind !== 'sweeping') return;
    try {
      this.#containment?.kill();
    } catch {
      // At the limit of open files cgroup.kill cannot be opened: what needs no descriptor is done, and the rest tried again.
      if (state.kind === 'ending') killGroup(this.#pid, SIGKILL);
      state.kill = setTimeout(() => this.#kill(), KILL_RETRY_MS);
      return;
    }
    if (state.kind === 'sweeping' && !this.#isFarEnding) this.#finish();
  }

  /** Of the target, which is not reaped yet. */
  onFailure(exitCode: number): void {
    this.#wrapped?.onFailure(this.#pid, exitCode);
  }

  /** A change of the target's state, from waitid(2). */
  onChange(change: ChildChange): void {
    const status = change.waitStatus;
    if (status === 0xffff) this.#reply?.send(encodeContinued());
    else if ((status & 0xff) === 0x7f) {
      this.#peerStopped = true;
      this.#reply?.send(encodeStopped(status >> 8));
    } else this.#onEnded(change);
  }

  #onEnded(change: ChildChange, waitedMs = 0, isJudged = false): void {
    if (!isJudged && this.#state.kind === 'running' && this.#judge(change, waitedMs)) return;
    if (this.#state.kind === 'running' && this.#isHangup(waitedMs)) {
      setTimeout(() => this.#onEnded(change, waitedMs + HANGUP_POLL_MS, isJudged), HANGUP_POLL_MS);
      return;
    }
    let exited = this.#exited(change);
    const isHeard = this.#reply?.send(encodeExited(exited)) !== false;
    if (!isHeard && this.#state.kind === 'running') {
      this.cancel('client');
      exited = this.#exited(change);
    }
    const state = this.#state;
    this.waitStatus = change.waitStatus;
    this.cancelledBy = exited.cancelledBy;
    this.result = { kind: 'exited', exited };
    if (this.#peerStopped) this.#reply?.wake?.();
    if (state.kind !== 'ending' || this.#isOver()) {
      if (state.kind === 'ending') clearTimeout(state.kill);
      this.#finish();
      return;
    }
    // A cancelled request takes everything with it; what the target left has the rest of the grace.
    this.#endReply();
    this.#state = { kind: 'sweeping', kill: state.kill, poll: setInterval(() => this.#sweep(), EMPTY_POLL_MS) };
  }

  #exited(change: ChildChange): Exited {
    return {
      waitStatus: change.waitStatus,
      cancelledBy: this.#state.kind === 'ending' ? this.#state.by : 'nobody',
      usage: change,
      timings: this.timings(),
      tree: this.run.report
        ? (this.#containment?.usage() ?? { cpuUs: undefined, peakBytes: undefined })
        : { cpuUs: undefined, peakBytes: undefined },
      leftovers: this.run.report ? (this.#containment?.members() ?? []) : [],
    };
  }

  /**
   * Whether it may be its client's end that has ended the target: with a client its pseudo-terminal goes, an instant before its
   * connection does. That is no end of the target's own, and what it leaves is not to stay; so that instant is waited for.
   */
  #isHangup(waitedMs: number): boolean {
    if (this.run.terminal.kind !== 'pty' || this.#reply === undefined || this.#reply.isPeerGone === true) return false;
    return waitedMs < HANGUP_MS && this.#containment?.isEmpty() === false;
  }

  /** An exit code that may be the wrapper's own is looked into first. False: it is the command's. */
  #judge(change: ChildChange, waitedMs: number): boolean {
    const exitCode = change.waitStatus >> 8;
    if ((change.waitStatus & 0x7f) !== 0 || this.#wrapped?.mayJudge(exitCode) !== true) return false;
    void this.#wrapped.judge(exitCode).then((verdict) => {
      if (typeof verdict === 'number') this.#onEnded({ ...change, waitStatus: verdict << 8 }, waitedMs, true);
      else if (this.#state.kind !== 'running') this.#onEnded(change, waitedMs, true);
      else {
        this.waitStatus = change.waitStatus;
        this.#refuse(verdict.code, verdict.message, verdict.hint);
      }
    });
    return true;
  }

  /** Nothing of it lives, here or behind a wrapper. */
  #isOver(): boolean {
    return !this.#isFarEnding && (this.#containment === undefined || this.#containment.isEmpty());
  }

  #sweep(): void {
    if (this.#state.kind !== 'sweeping' || !this.#isOver()) return;
    this.#finish();
  }

  #finish(): void {
    const state = this.#state;
    if (state.kind === 'ended' || state.kind === 'left') return;
    if (state.kind === 'waiting') clearTimeout(state.retry);
    if (state.kind === 'ending' || state.kind === 'sweeping') clearTimeout(state.kill);
    if (state.kind === 'sweeping') clearInterval(state.poll);
    this.#state = { kind: state.kind === 'running' && this.#leavesSomething() ? 'left' : 'ended' };
    this.#endReply(); // first: its client is waiting
    this.#wrapped?.release();
    if (this.#deadline !== undefined) clearTimeout(this.#deadline);
    this.#closeFds();
    if (this.#state.kind === 'ended') this.#containment?.release();
    this.#host.ended(this);
  }

  /** A process group may be another's once it is empty, so nothing is kept of one. */
  #leavesSomething(): boolean {
    if (this.job === '' || this.#containment === undefined) return false;
    if (this.#wrapped?.isFar === true) return true; // nobody knows
    return this.#containment.kind !== 'group' && !this.#containment.isEmpty();
  }

  #endReply(): void {
    this.#reply?.end();
    this.#reply = undefined;
  }

  #closeFds(): void {
    closeFds(this.job === '' ? this.#fds : [...new Set(this.#fds)]); // a job's file is there twice
    this.#fds = [];
  }
}
