// What must not outlive this process, however that ends. Behind everything stands the owner's connection, whose end the kernel tells
// even after SIGKILL; here is what makes an ordinary end wait until nothing is left, and no more: exit codes, signals and the
// program's own handlers stay as they are.

import { killProcess } from '../native/processes.js';
import { isAlive } from '../process-tree.js';

/** A process that is to be gone soon. */
export interface Leaving {
  readonly pid: number;
  readonly startTicks: number | undefined;
  /** KILL after that; absent: it ends others, and is given its time. */
  readonly killAfterMs?: number;
}

/** Something of ours that lives outside of this process. */
export interface Dependent {
  /** Ends it. Resolves when it is gone, or cannot be ended; never rejects. */
  end(): Promise<void>;
  /** Has it end without us, at once and synchronously. */
  drop(): readonly Leaving[];
  /** Removes what is left when all that was dropped is gone, synchronously. */
  clear?(): void;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
type EndSignal = (typeof SIGNALS)[number];
/** At the most, for what was dropped: the usual grace, and some more. */
const EXIT_WAIT_MS = 5_000;
const EXIT_POLL_MS = 5;
const SIGKILL = 9;

const dependents = new Set<Dependent>();
let ending: EndSignal | undefined;

/** @returns takes it out again; safe to call twice. */
export function dependOnProcess(dependent: Dependent): () => void {
  if (dependents.size === 0) watch();
  dependents.add(dependent);
  return () => {
    if (dependents.delete(dependent) && dependents.size === 0) unwatch();
  };
}

function watch(): void {
  for (const signal of SIGNALS) process.on(signal, onSignal);
  process.on('beforeExit', onBeforeExit);
  process.on('exit', onExit);
}

function unwatch(): void {
  for (const signal of SIGNALS) process.off(signal, onSignal);
  process.off('beforeExit', onBeforeExit);
  process.off('exit', onExit);
}

/** A program with a handler of its own decides itself whether it ends; when it does, `onExit` is next. */
function onSignal(signal: EndSignal): void {
  if (process.listenerCount(signal) > 1 + politeListeners()) return;
  if (ending !== undefined) {
    // A second Ctrl-C is not made to wait.
    raise(ending);
    return;
  }
  ending = signal;
  void endAll().then(() => raise(signal));
}

async function endAll(): Promise<void> {
  // A program that has nothing else to do by now would be over before what it depends on is.
  const awake = setInterval(() => {}, 0x7fffffff);
  try {
    await endEach();
  } finally {
    clearInterval(awake);
  }
}

async function endEach(): Promise<void> {
  const asked = new Set<Dependent>();
  // An opening that was too far to be stopped has become a session meanwhile.
  for (let fresh = [...dependents]; fresh.length > 0; fresh = [...dependents].filter((each) => !asked.has(each))) {
    for (const dependent of fresh) asked.add(dependent);
    await Promise.all(fresh.map((dependent) => dependent.end()));
  }
}

/** With nobody listening any more, the signal does what it does to any process. */
function raise(signal: EndSignal): void {
  unwatch();
  process.kill(process.pid, signal);
}

/** Nothing is left to do: the program ends of itself, and waits for this as for any promise. */
function onBeforeExit(): void {
  if (ending === undefined) void endAll();
}

/** Of process.exit() and crashes as well. No promise is waited for any more; the kernel can be. */
function onExit(): void {
  const dropped = [...dependents];
  if (isGone(dropped.flatMap((dependent) => dependent.drop()))) for (const dependent of dropped) dependent.clear?.();
}

/** Whether all of them have ended in time. */
function isGone(leaving: readonly Leaving[]): boolean {
  let left = leaving;
  const cell = new Int32Array(new SharedArrayBuffer(4));
  const startedAt = performance.now();
  for (let elapsedMs = 0; elapsedMs < EXIT_WAIT_MS; elapsedMs = performance.now() - startedAt) {
    left = left.filter(({ pid, startTicks }) => isAlive(pid, startTicks));
    if (left.length === 0) return true;
    for (const { pid, killAfterMs } of left) if (killAfterMs !== undefined && elapsedMs > killAfterMs) killProcess(pid, SIGKILL);
    Atomics.wait(cell, 0, 0, EXIT_POLL_MS);
  }
  return false;
}

/**
 * Listeners of the package signal-exit (execa brings it), which ends the process only when it finds no listeners but its own: were
 * each of us to wait for the other, Ctrl-C would do nothing.
 */
function politeListeners(): number {
  return countIn(Reflect.get(globalThis, Symbol.for('signal-exit emitter'))) + countIn(Reflect.get(process, '__signal_exit_emitter__'));
}

function countIn(emitter: unknown): number {
  if (typeof emitter !== 'object' || emitter === null || !('count' in emitter)) return 0;
  return typeof emitter.count === 'number' ? emitter.count : 0;
}
