// Our own failures. How a target ended is an `Outcome` (src/protocol/outcome.ts), never one of these.
// docs/errors.md lists every code with cause and cure; test/unit/errors.test.ts compares the two.

/** Every way in which Holdfast itself can fail. */
export const HOLDFAST_ERROR_CODES = [
  'AGENT_FROZEN',
  'ALREADY_OPEN',
  'BUSY',
  'CACHE_UNUSABLE',
  'CALLER_NEEDED',
  'CANCELLED',
  'CONFIG_INVALID',
  'CONFIG_UNREADABLE',
  'DEADLINE',
  'DIRECTORY_REFUSED',
  'INTERNAL',
  'LAUNCH_FAILED',
  'LAUNCH_INTERRUPTED',
  'LAUNCH_TIMEOUT',
  'NAME_INVALID',
  'NATIVE_MISSING',
  'NOT_PERMITTED',
  'NO_PROJECT',
  'NO_SESSION',
  'NO_SNAPSHOT',
  'PROGRAM_NOT_FOUND',
  'PROGRAM_NOT_RUNNABLE',
  'PROTOCOL',
  'REQUEST_INVALID',
  'RESOURCES',
  'RUNTIME_DIR',
  'SESSION_LOST',
  'SESSION_STOPPING',
  'SHIM_DIRECTORY',
  'STALE',
  'STOP_FAILED',
  'TOO_LARGE',
  'UNSUPPORTED',
  'USAGE',
  'VERSION_MISMATCH',
  'WRAPPER_FAILED',
] as const;

export type HoldfastErrorCode = (typeof HOLDFAST_ERROR_CODES)[number];

/** Our own failure. A target that exits non-zero is an `Outcome`, never an error. */
export class HoldfastError extends Error {
  /** What the user can do next: one sentence, or absent. Never repeats the message. */
  readonly hint: string | undefined;
  readonly code: HoldfastErrorCode;
  constructor(code: HoldfastErrorCode, message: string, more: { cause?: unknown; hint?: string } = {}) {
    super(message, 'cause' in more ? { cause: more.cause } : undefined);
    this.code = code;
    this.hint = more.hint;
  }
}

// Not in a static block: a class that names itself inside gets another name in the bundle, which is then what a stack trace shows.
HoldfastError.prototype.name = 'HoldfastError';
