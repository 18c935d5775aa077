// openSession() of the library.

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
  const { progress, signal, on } = options;
  return await holdSession(definitionOf(options), {
    ...(progress === undefined ? {} : { progress }),
    ...(signal === undefined ? {} : { signal }),
    on,
  });
}
