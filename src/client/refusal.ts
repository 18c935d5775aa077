// What an agent's REFUSED means on this side: our own failure, with a code of the closed list. docs/protocol.md §5.

import { HoldfastError, type HoldfastErrorCode } from '../errors.js';
import { type Refusal, type RefusalName, refusalName } from '../protocol/messages.js';

const CODE_OF: Readonly<Record<RefusalName, HoldfastErrorCode>> = {
  VERSION: 'VERSION_MISMATCH',
  BAD_REQUEST: 'REQUEST_INVALID',
  BUSY: 'BUSY',
  STOPPING: 'SESSION_STOPPING',
  RESOURCES: 'RESOURCES',
  NOT_PERMITTED: 'NOT_PERMITTED',
  TOO_LARGE: 'TOO_LARGE',
  BAD_DIRECTORY: 'DIRECTORY_REFUSED',
  INTERNAL: 'INTERNAL',
  UNSUPPORTED: 'UNSUPPORTED',
  DEADLINE: 'DEADLINE',
  STALE: 'STALE',
  REOPEN: 'STALE',
  CALLER: 'CALLER_NEEDED',
  WRAPPER: 'WRAPPER_FAILED',
};

/** The session is stale, and is to be opened again by who can: `holdfast reopen --if-stale`. */
export class ReopenError extends HoldfastError {}

/** The agent's own words are kept: it knows the cause and the cure, we only know that it would not. @param session its name, for a request. */
export function refusalError(refusal: Refusal, session?: string): HoldfastError {
  const isOfSession = refusalName(refusal.code) !== 'WRAPPER';
  const message = session === undefined || !isOfSession ? refusal.message : `session '${session}' refused: ${refusal.message}`;
  const name = refusalName(refusal.code);
  return new (name === 'REOPEN' ? ReopenError : HoldfastError)(CODE_OF[name], message, refusal.hint === '' ? {} : { hint: refusal.hint });
}
