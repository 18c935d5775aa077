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

/** Told of a child that has ended with an exit code other than 0, before it is reaped: /proc has it still. */
export type OnFailure = (pid: number, exitCode: number) => void;

/**
 * Calls back for each child that ends, stops or continues: of the whole process, so only the agent may use it. What it throws is
 * an uncaught exception, and costs no other child its news.
 */
export function watchChildren(onChange: (change: ChildChange) => void, onFailure?: OnFailure): void {
  const fd = check(addon.watchChildren(), 'eventfd');
  watch(fd, { readable: true }, () => takeChanges(onChange, onFailure));
}

const ANY_CHILD = 0;
/** What nextChange() answers: a change that was taken; a child that has failed, and is left to be looked at first. */
const TAKEN = 1;
const LEFT = 2;

/** False: none is there. */
function takeChange(onFailure: OnFailure | undefined): boolean {
  const found = check(addon.nextChange(changeOut, ANY_CHILD, onFailure === undefined ? 0 : 1), 'waitid');
  if (found !== LEFT) return found === TAKEN;
  const { pid, waitStatus } = changeRead();
  onFailure?.(pid, waitStatus >> 8);
  return check(addon.nextChange(changeOut, pid, 0), 'waitid') === TAKEN;
}

/** A fork storm makes orphans faster than they are reaped one by one; whoever asks for its end must be heard meanwhile. */
const CHANGES_A_TURN = 64;

function takeChanges(onChange: (change: ChildChange) => void, onFailure: OnFailure | undefined): void {
  for (let taken = 0; taken < CHANGES_A_TURN; taken++) {
    if (!takeChange(onFailure)) return;
    try {
      onChange(changeRead());
    } catch (error) {
      queueMicrotask(() => {
        throw error;
      });
    }
  }
  setImmediate(() => takeChanges(onChange, onFailure));
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
