// The end of what a session held: the keeper stops it when the agent is gone; where the keeper was killed too, or could not, we do.

import { execFile } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { promisify } from 'node:util';

import { HoldfastError } from '../errors.js';
import { killProcess } from '../native/processes.js';
import { fillPlaceholders, hasPlaceholder } from '../wrap/placeholders.js';
import { hostEnvironment } from './host-environment.js';
import { quoteForShell, withRawVariables } from './launch-command.js';
import { isGone } from './launcher-end.js';
import type { SessionRecord } from './record.js';

const SIGKILL = 9;
/** As long as the keeper gives the stop command, and a little more. */
export const HELD_END_MS = 130_000;

/**
 * Returns when it is stopped.
 *
 * @param fifo it is there until that is so.
 * @throws {HoldfastError} `STOP_FAILED`: the stop command does not succeed; the record and the FIFO stay, for another try.
 */
export async function endHeld({ definition, held }: SessionRecord, fifo: string): Promise<void> {
  if (held === undefined) return;
  if (!(await isGone(held.keeperPid, held.keeperStartTicks, HELD_END_MS))) killProcess(held.keeperPid, SIGKILL);
  const words = definition.hold?.stop ?? [];
  if (!existsSync(fifo)) return;
  const stop = fillPlaceholders(words, held);
  // Without an id nothing has come of the start command that could be stopped by it.
  if (stop.length > 0 && !hasPlaceholder(stop, 'id')) {
    const { argv, env } = withRawVariables(stop, hostEnvironment());
    const [program = '', ...args] = argv;
    try {
      await promisify(execFile)(program, args, { cwd: definition.directory, env, timeout: HELD_END_MS });
    } catch (cause) {
      const text = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim().split('\n').at(-1) : String(cause);
      throw new HoldfastError(
        'STOP_FAILED',
        `what session '${definition.name}' holds cannot be stopped: '${stop.map(quoteForShell).join(' ')}' fails: ${text}`,
        {
          hint: `see whether it is there still; 'holdfast close ${definition.name}' tries again`,
          cause,
        },
      );
    }
  }
  rmSync(fifo, { force: true });
}
