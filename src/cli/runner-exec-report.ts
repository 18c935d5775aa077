// The file of `--report`: one JSON object on how the request ended, as native/client_report.c writes it. Names of variables, never
// their values.

import { closeSync, constants, openSync, writeSync } from 'node:fs';

import { systemErrorText } from '../client/errno.js';
import { signalName } from '../client/signal-name.js';
import { HoldfastError } from '../errors.js';
import type { Exited, Spawned } from '../protocol/messages.js';
import type { Ending, Outcome } from '../protocol/outcome.js';
import type { Ended } from './runner-exec-relay.js';
import type { Change } from './runner-exec-request.js';
import { say } from './runner-exec-say.js';

const REPORT_VERSION = 1;
const UNWRITABLE = 'name a file that you can write';

export interface ReportFacts {
  /** `undefined`: none was chosen yet. */
  readonly session: string | undefined;
  /** `undefined`: no agent was reached. */
  readonly ended: Ended | undefined;
  readonly spawned: Spawned | undefined;
  readonly exact: boolean;
  readonly changes: readonly Change[];
  /** Of the client; 128 + N when it dies of a signal. */
  readonly exitCode: number;
}

/** Opened, and emptied, before anything is asked for. The caller owns it. @throws {HoldfastError} `USAGE`. */
export function openReport(path: Buffer): number {
  try {
    return openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOCTTY, 0o600);
  } catch (cause) {
    throw new HoldfastError('USAGE', `cannot write the report '${path}': ${systemErrorText(cause)}`, { hint: UNWRITABLE, cause });
  }
}

/** Writes it all and closes `fd`. A failure is said, and changes nothing else. */
export function writeReport(fd: number, path: Buffer, facts: ReportFacts): void {
  try {
    const bytes = Buffer.from(`${JSON.stringify(reportOf(facts))}\n`);
    for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
  } catch {
    say(`cannot write the report '${path}'`, UNWRITABLE);
  }
  closeSync(fd);
}

export function reportOf({ session, ended, spawned, exact, changes, exitCode }: ReportFacts): object {
  const exited = ended?.kind === 'result' && ended.result.kind === 'ended' ? ended.result.exited : undefined;
  return {
    version: REPORT_VERSION,
    session,
    outcome: outcomeIn(ended, spawned),
    // Under 2^53 for 104 days of uptime: past that, nanoseconds of the start are not what anybody looks for.
    ...(spawned === undefined ? {} : { pid: spawned.pid, startNs: Number(spawned.startNs) }),
    ...(exited === undefined ? {} : countersOf(exited)),
    environment: {
      exact,
      passed: namesOf(changes, '=?', true),
      set: namesOf(changes, '=', false),
      unset: namesOf(changes, '-'),
      pathPrepend: namesOf(changes, ':', false),
    },
    client: { exitCode },
  };
}

function outcomeIn(ended: Ended | undefined, spawned: Spawned | undefined): object {
  switch (ended?.kind) {
    case undefined:
      return { kind: 'lost', when: 'before-spawn' };
    case 'overdue':
      return { kind: 'cancelled', by: 'deadline' };
    case 'interrupted':
      return { kind: 'cancelled', by: 'client' };
    case 'failure':
      if (ended.error.code === 'PROTOCOL') return { kind: 'lost', when: spawned === undefined ? 'unknown' : 'after-spawn' };
      return { kind: 'refused', code: ended.error.code, message: ended.error.message };
    case 'result':
      if (ended.result.kind === 'detached') return { kind: 'detached', job: ended.result.spawned.job };
      return outcomeOf(ended.result.outcome);
  }
}

function outcomeOf(outcome: Outcome): object {
  switch (outcome.kind) {
    case 'exited':
    case 'signaled':
      return endingOf(outcome);
    case 'cancelled':
      return { kind: 'cancelled', by: outcome.by, ending: endingOf(outcome.ending) };
    case 'notStarted':
      return { ...outcome, subject: textOf(outcome.subject), searched: textOf(outcome.searched) };
    case 'lost':
      return { kind: 'lost', when: outcome.when, ...(outcome.ending === undefined ? {} : { ending: endingOf(outcome.ending) }) };
  }
}

function endingOf(ending: Ending): object {
  if (ending.kind === 'exited') return { kind: 'exited', code: ending.code };
  return { kind: 'signaled', signal: signalName(ending.signal), number: ending.signal, core: ending.core };
}

function countersOf({ waitStatus, usage, timings, tree, leftovers }: Exited): object {
  return { waitStatus, usage, timings, tree: { cpuUs: tree.cpuUs ?? null, peakBytes: tree.peakBytes ?? null }, leftovers };
}

function namesOf(changes: readonly Change[], marks: string, passed?: boolean): string[] {
  const names: string[] = [];
  for (const change of changes) {
    const mark = String.fromCharCode(change.bytes[0] ?? 0);
    if (!marks.includes(mark) || (passed !== undefined && change.passed !== passed)) continue;
    const equals = change.bytes.indexOf('=', 1);
    names.push(textOf(change.bytes.subarray(1, equals === -1 ? undefined : equals)));
  }
  return names;
}

/** UTF-8 where it is; a byte that is not stands for the character of its number. */
function textOf(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  return text.includes('\ufffd') ? bytes.toString('latin1') : text;
}
