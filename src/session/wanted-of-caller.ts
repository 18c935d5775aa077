// What clients are to send along of their own environment: the lines of a session's file ID.pass. docs/protocol.md §4.

import { CALLER_LINE } from '../client/environment.js';
import { needsCaller } from '../wrap/definition.js';
import { isEntered, type SessionDefinition } from './definition.js';

/** Told beforehand, it spares each command a refusal (CALLER), after which the request is sent again. */
export function wantedOfCaller({ wrap, launch, runtimePassEnv }: SessionDefinition): readonly string[] {
  const isWanted = wrap !== undefined && needsCaller(wrap, isEntered(launch));
  return isWanted ? [CALLER_LINE, ...runtimePassEnv] : runtimePassEnv;
}
