// A file of the user's that we write: whole or not at all, and for everybody to read.

import { chmodSync, linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { HoldfastError } from '../errors.js';

/**
 * A reader finds the old file or the new one, whatever ends us; mode 0644 whatever the umask.
 *
 * @param replace default true; else a file that is there stays as it is.
 * @returns whether it was written: false where it was there, and was not to be replaced.
 * @throws {HoldfastError} `USAGE`.
 */
export function writeWholeFile(path: string, text: string, { replace = true }: { replace?: boolean } = {}): boolean {
  const fresh = join(dirname(path), `.${basename(path)}.${process.pid}`);
  try {
    writeFileSync(fresh, text, { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    throw unwritable(path, cause);
  }
  try {
    chmodSync(fresh, 0o644);
    // A link never replaces, so two at once cannot either.
    if (replace) renameSync(fresh, path);
    else linkSync(fresh, path);
    return true;
  } catch (cause) {
    if (!replace && cause instanceof Error && 'code' in cause && cause.code === 'EEXIST') return false;
    throw unwritable(path, cause);
  } finally {
    rmSync(fresh, { force: true });
  }
}

function unwritable(path: string, cause: unknown): HoldfastError {
  const reason = cause instanceof Error ? cause.message.replace(/, \w+ '.*$/, '') : String(cause);
  return new HoldfastError('USAGE', `cannot write '${path}': ${reason}`, {
    hint: 'name a file in a directory that you can write to',
    cause,
  });
}
