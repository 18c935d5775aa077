// The runner.json of an open session.

import { installed } from '../install.js';
import { readOpened } from '../session/opened.js';
import { capturedVariables, fingerprintSession } from '../session/session-fingerprint.js';
import type { RunnerJson } from './runner-json.js';
import { runnerJsonOf } from './runner-json-writer.js';

/** The runner.json of an open session, for tools that read one. @throws {HoldfastError} `NO_SESSION`, `UNSUPPORTED` for a variable that JSON cannot hold, and as `fingerprintSession`. */
export async function runnerJsonOfSession(name: string): Promise<RunnerJson> {
  const { fingerprint } = await fingerprintSession(name);
  const captured = new Map(await capturedVariables(name));
  const { record, socket } = readOpened(name);
  const { definition } = record;
  return runnerJsonOf({ definition, fingerprint, captured, declared: new Map(record.declared), socket, runnerExec: installed.runnerExec });
}
