// openSession() of the library.

import { isAbortSignal } from '../client/check-command.js';
import { HoldfastError } from '../errors.js';
import type { ExecSession } from '../session/exec-session.js';
import { holdSession } from '../session/held-opening.js';
import { definitionOf, type OpenSessionOptions } from './open-options.js';

/**
 * Enters an environment and holds it for this program: it closes by `teardown`, or with the program, however that ends.
 *
 * ```ts
 * const session = await openSession({ launcher: ['nix', 'develop', '--command'], cwd: root });
 * ```
 *
 * @throws {HoldfastError} `LAUNCH_FAILED`, `LAUNCH_TIMEOUT`, `LAUNCH_INTERRUPTED` (the signal), `USAGE`, `CONFIG_INVALID`, `ALREADY_OPEN`,
 *   `RUNTIME_DIR`, …; nothing is left of it then.
 */
export async function openExecSession(options: OpenSessionOptions): Promise<ExecSession> {
  const { progress, signal, on } = checkedOptions(options);
  return await holdSession(definitionOf(options), {
    ...(progress === undefined ? {} : { progress }),
    ...(signal === undefined ? {} : { signal }),
    on,
  });
}

/** What no schema is asked about: for programs that no type checker has looked at. */
function checkedOptions(options: OpenSessionOptions): OpenSessionOptions {
  const given: unknown = options;
  if (typeof given !== 'object' || given === null)
    throw misused("'openSession' takes an object, as in { launcher: ['devenv', 'shell', '--'] }");
  const { progress, signal }: { progress?: unknown; signal?: unknown } = given;
  if (progress !== undefined && progress !== null && typeof progress !== 'function') throw misused("option 'progress' must be a function");
  if (signal !== undefined && !isAbortSignal(signal)) throw misused("option 'signal' must be an AbortSignal");
  return options;
}

function misused(message: string): HoldfastError {
  return new HoldfastError('USAGE', message, { hint: 'docs/library.md has examples' });
}
