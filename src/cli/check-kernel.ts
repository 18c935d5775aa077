// What the kernel offers. Tried where a harmless try exists; told from the version where none does.

import { release } from 'node:os';

import { type Check, reasonOf } from './check.js';

const OLDEST: Version = [5, 10];
/** PIDFD_GET_INFO: the exact status of a command whose agent is gone. */
const EXIT_INFO: Version = [6, 15];

type Version = readonly [major: number, minor: number];

export function checkKernel(text: string = release()): Check {
  const version = kernelVersion(text);
  if (isAtLeast(version, OLDEST)) return { name: 'kernel', state: 'ok', detail: text };
  return { name: 'kernel', state: 'fail', detail: `${text} is older than ${OLDEST.join('.')}`, cure: 'use a newer kernel' };
}

export function checkExitInfo(text: string = release()): Check {
  const name = 'exit of a lost command';
  if (isAtLeast(kernelVersion(text), EXIT_INFO)) return { name, state: 'ok', detail: `PIDFD_GET_INFO, since Linux ${EXIT_INFO.join('.')}` };
  return {
    name,
    state: 'warn',
    detail: `no PIDFD_GET_INFO before Linux ${EXIT_INFO.join('.')}`,
    cure: 'none needed: when an agent is killed, its commands end without a known status',
  };
}

export async function checkCloseRange(): Promise<Check> {
  const name = 'close_range';
  try {
    const { closeOnExecFrom } = await import('../native/descriptors.js');
    // Nothing is open that high: the call is made and changes nothing.
    closeOnExecFrom(0x7ffffff0);
    return { name, state: 'ok', detail: 'works' };
  } catch (error) {
    return { name, state: 'fail', detail: reasonOf(error), cure: 'allow close_range(2) in the seccomp filter that this runs under' };
  }
}

/** `6.1.0-18-amd64` → [6, 1]; what cannot be read counts as 0. */
export function kernelVersion(text: string): Version {
  const [major = 0, minor = 0] = text.split(/[.-]/, 2).map((part) => Number.parseInt(part, 10) || 0);
  return [major, minor];
}

function isAtLeast([major, minor]: Version, [wantedMajor, wantedMinor]: Version): boolean {
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}
