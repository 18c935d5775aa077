// The library's face: what a program may import from 'holdfast'.
// docs/library.md shows it at work.

export { addressOf, type SessionAddress } from './client/connect.js';
export type { LimitName, LimitValue } from './client/limits.js';
export type { Selection } from './client/locate.js';
export type { RunSpec } from './client/request.js';
export { run } from './client/run.js';
export type { RunHandle, RunOptions, RunReport } from './client/run-handle.js';
export type { HasDescriptor, StdioFile, StdioOption, StdioSlot, StdioTerminal } from './client/stdio.js';
export { chooseSession, type OpenRequest } from './config/choose.js';
export { openExecSession as openSession } from './config/open-exec-session.js';
export { type OpenSessionOptions, sessionKey } from './config/open-options.js';
export { parseRunnerJson, type RunnerJson, type RunnerName, type RunnerSettings } from './config/runner-json.js';
export { runnerJsonOfSession } from './config/session-runner-json.js';
export type { SessionSettings } from './config/settings.js';
export { HOLDFAST_ERROR_CODES, HoldfastError, type HoldfastErrorCode } from './errors.js';
export type { Timings, Usage } from './protocol/exited.js';
export type { Ending, Outcome } from './protocol/outcome.js';
export { type CloseOptions, closeSession } from './session/close.js';
export { type Launch, parseDefinition, type SessionDefinition } from './session/definition.js';
export type {
  CommandSpec,
  ExecSession,
  PreparedCommand,
  SessionCaps,
  SessionDescription,
  SessionMode,
} from './session/exec-session.js';
export { type Fingerprint, type FingerprintFacts, type FingerprintPart, fingerprintOf } from './session/fingerprint.js';
export { attachSession } from './session/held-opening.js';
export { type Identity, identityOf } from './session/identity.js';
export type { AcquireOptions, Lease, Opener, PoolOptions } from './session/lease.js';
export { findSession, listSessions, type SessionState, type SessionSummary } from './session/list.js';
export { ExecSessionPool } from './session/pool.js';
export { fingerprintSession, type SessionFingerprint } from './session/session-fingerprint.js';
