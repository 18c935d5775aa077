// The library's face: what a program may import from 'holdfast'.
// `run({ program: 'make' }, addressOf('web'))` runs a command in the session 'web', which `openSession` or the command line opened.

export { addressOf, type SessionAddress } from './client/connect.js';
export type { LimitName, LimitValue } from './client/limits.js';
export type { Selection } from './client/locate.js';
export type { RunSpec } from './client/request.js';
export { type RunHandle, type RunOptions, type RunReport, run } from './client/run.js';
export type { HasDescriptor, StdioFile, StdioOption, StdioSlot, StdioTerminal } from './client/stdio.js';
export { HOLDFAST_ERROR_CODES, HoldfastError, type HoldfastErrorCode } from './errors.js';
export type { Timings, Usage } from './protocol/exited.js';
export type { Ending, Outcome } from './protocol/outcome.js';
export { type CloseOptions, closeSession } from './session/close.js';
export { type Launch, parseDefinition, type SessionDefinition } from './session/definition.js';
export { type Fingerprint, type FingerprintFacts, type FingerprintPart, fingerprintOf } from './session/fingerprint.js';
export { type Identity, identityOf } from './session/identity.js';
export { findSession, listSessions, type SessionState, type SessionSummary } from './session/list.js';
export { type OpenedSession, type OpenOptions, openSession } from './session/open.js';
export { fingerprintSession, type SessionFingerprint } from './session/session-fingerprint.js';
