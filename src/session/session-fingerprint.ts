// The fingerprint and the identity of an open session: what its agent holds and what its opener wrote down.

import * as v from 'valibot';

import { HoldfastError } from '../errors.js';
import { control } from './control.js';
import { type Fingerprint, fingerprintOf } from './fingerprint.js';
import { type Identity, identityOfRecord } from './identity.js';
import { readOpened } from './opened.js';
import type { BytePairs } from './record.js';

const TIMEOUT_MS = 5000;

const ANSWER = v.object({ captured: v.array(v.tuple([v.string(), v.string()])) });

export interface SessionFingerprint extends Fingerprint {
  readonly identity: Identity;
}

/** The fingerprint of an open session, its agent asked. @throws {HoldfastError} `NO_SESSION`, `PROTOCOL` (an agent of another version), and as `control`. */
export async function fingerprintSession(name: string): Promise<SessionFingerprint> {
  const captured = new Map(await capturedVariables(name));
  const { record } = readOpened(name);
  const { definition, declared, weak, inputs } = record;
  return {
    ...fingerprintOf({
      definition,
      captured,
      launched: record.launched ?? [],
      declared,
      weak,
      inputs,
      scripts: record.scripts ?? [],
      held: record.held?.identity,
    }),
    identity: identityOfRecord(record),
  };
}

/** What the launcher made, before anything declared is laid over it. @throws as `fingerprintSession`. */
export async function capturedVariables(name: string): Promise<BytePairs> {
  const answer = v.safeParse(ANSWER, await control(name, { op: 'environment', protocol: 1 }, { timeoutMs: TIMEOUT_MS }));
  if (answer.success) return answer.output.captured;
  throw new HoldfastError('PROTOCOL', `the environment of session '${name}' is not understood`, {
    hint: 'close the session and open it again with this version of Holdfast',
  });
}
