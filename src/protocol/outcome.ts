// How a request ended: exactly one `Outcome` each, after all output.

import type { NotStartedMessage } from './agent-message.js';
import { malformed } from './error.js';
import type { ExitedMessage } from './exited.js';
import { type CancelledBy, MAX_SIGNAL, type StepName, stepName } from './numbers.js';

/** How a process ended, as the kernel tells it. */
export type Ending =
  /** 0 to 255. */
  { readonly kind: 'exited'; readonly code: number } | { readonly kind: 'signaled'; readonly signal: number; readonly core: boolean };

export type Outcome =
  | Ending
  /** The target was never executed. `searched` is the PATH that was looked through, empty when none was. */
  | { readonly kind: 'notStarted'; readonly step: StepName; readonly errno: number; readonly subject: Buffer; readonly searched: Buffer }
  /** We ended it; `ending` is what it made of that. */
  | { readonly kind: 'cancelled'; readonly by: Exclude<CancelledBy, 'nobody'>; readonly ending: Ending }
  /** The agent went away. `ending` where a pidfd could still tell. */
  | { readonly kind: 'lost'; readonly when: 'before-spawn' | 'after-spawn' | 'unknown'; readonly ending?: Ending };

/** Whether a wait status is that of a process that ended (not one that stopped or went on). */
export function isEnding(waitStatus: number): boolean {
  const signal = waitStatus & 0x7f;
  if (waitStatus < 0 || waitStatus > 0xffff || signal > MAX_SIGNAL) return false;
  // A core without a signal cannot be.
  return signal !== 0 || (waitStatus & 0x80) === 0;
}

/** @throws {ProtocolError} `BODY_MALFORMED` when the status is not that of an end. */
export function decodeWaitStatus(waitStatus: number): Ending {
  if (!isEnding(waitStatus)) throw malformed(`wait status ${waitStatus} is not an end`);
  const signal = waitStatus & 0x7f;
  if (signal === 0) return { kind: 'exited', code: waitStatus >> 8 };
  return { kind: 'signaled', signal, core: (waitStatus & 0x80) !== 0 };
}

export function outcomeOf(message: ExitedMessage | NotStartedMessage): Outcome {
  switch (message.type) {
    case 'exited': {
      const ending = decodeWaitStatus(message.waitStatus);
      return message.cancelledBy === 'nobody' ? ending : { kind: 'cancelled', by: message.cancelledBy, ending };
    }
    case 'notStarted':
      return {
        kind: 'notStarted',
        step: stepName(message.step),
        errno: message.errno,
        subject: message.subject,
        searched: message.searched,
      };
  }
}
