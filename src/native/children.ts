// What becomes of children: their changes of state as waitid(2) and wardens tell them. native/process.c, warden.h.

import { addon, check, unlessBlocked } from '../native.js';
import { watch } from './poll.js';

/** A change of a child's state: ended (and reaped), stopped or continued, as `waitStatus` tells. */
export interface ChildChange {
  pid: number;
  waitStatus: number;
  userUs: number;
  systemUs: number;
  maxRssKib: number;
  minorFaults: number;
  majorFaults: number;
  blocksIn: number;
  blocksOut: number;
  voluntarySwitches: number;
  involuntarySwitches: number;
}

const changeOut = new Float64Array(11);

function changeRead(): ChildChange {
  return {
    pid: changeOut[0] ?? 0,
    waitStatus: changeOut[1] ?? 0,
    userUs: changeOut[2] ?? 0,
    systemUs: changeOut[3] ?? 0,
    maxRssKib: changeOut[4] ?? 0,
    minorFaults: changeOut[5] ?? 0,
    majorFaults: changeOut[6] ?? 0,
    blocksIn: changeOut[7] ?? 0,
    blocksOut: changeOut[8] ?? 0,
    voluntarySwitches: changeOut[9] ?? 0,
    involuntarySwitches: changeOut[10] ?? 0,
  };
}

/**
 * Calls back for each child that ends, stops or continues: of the whole process, so only the agent may use it. What it throws is
 * an uncaught exception, and costs no other child its news.
 */
export function watchChildren(onChange: (change: ChildChange) => void): void {
  const fd = check(addon.watchChildren(), 'eventfd');
  watch(fd, { readable: true }, () => takeChanges(onChange));
}

const ANY_CHILD = 0;
const observed = new Map<number, (waitStatus: number) => void>();

/** Calls back for a child that has ended and is not reaped: /proc still tells of it. @returns ends that; it does so by itself, too. */
export function observeEnd(pid: number, onEnd: (waitStatus: number) => void): () => void {
  observed.set(pid, onEnd);
  return () => {
    if (observed.get(pid) === onEnd) observed.delete(pid);
  };
}

/** Whose change is the next one: it is left to be taken. */
function observe(): number {
  if (check(addon.nextChange(changeOut, ANY_CHILD, 1), 'waitid') !== 1) return ANY_CHILD;
  const { pid, waitStatus } = changeRead();
  const onEnd = observed.get(pid);
  if (onEnd !== undefined && waitStatus !== 0xffff && (waitStatus & 0xff) !== 0x7f) {
    observed.delete(pid);
    onEnd(waitStatus);
  }
  return pid;
}

/** A fork storm makes orphans faster than they are reaped one by one; whoever asks for its end must be heard meanwhile. */
const CHANGES_A_TURN = 64;

function takeChanges(onChange: (change: ChildChange) => void): void {
  for (let taken = 0; taken < CHANGES_A_TURN; taken++) {
    const pid = observed.size === 0 ? ANY_CHILD : observe();
    if (check(addon.nextChange(changeOut, pid, 0), 'waitid') !== 1) return;
    try {
      onChange(changeRead());
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
  setImmediate(() => takeChanges(onChange));
}

/** What a warden tells of its target; `undefined`: nothing for now; `'gone'`: it holds nothing any more, or was killed. */
export function wardenNews(control: number): ChildChange | 'gone' | undefined {
  const result = unlessBlocked(addon.wardenNews(control, changeOut), 'recv');
  return result === undefined ? undefined : result === 0 ? 'gone' : changeRead();
}

/** Orders a warden to send a signal to all that it holds. False: it is gone. */
export function wardenSignal(control: number, signal: number): boolean {
  return addon.wardenOrder(control, signal) === 0;
}

/** WARDEN_KILL of native/warden.h. */
const WARDEN_KILL = 255;

/** Orders a warden to end all that it holds, whatever that forks meanwhile. False: it is gone. */
export function wardenKill(control: number): boolean {
  return addon.wardenOrder(control, WARDEN_KILL) === 0;
}
