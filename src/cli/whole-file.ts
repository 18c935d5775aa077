// A file of the user's that we write: whole or not at all, and for everybody to read.

import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

import { HoldfastError } from '../errors.js';

/** A reader finds the old file or the new one, whatever ends us; mode 0644 whatever the umask. @throws {HoldfastError} `USAGE`. */
export function writeWholeFile(path: string, text: string): void {
  const fresh = join(dirname(path), `.${basename(path)}.${process.pid}`);
  try {
    writeFileSync(fresh, text, { flag: 'wx', mode: 0o600 });
  } catch (cause) {
    throw unwritable(path, cause);
  }
  try {
    chmodSync(fresh, 0o644);
    renameSync(fresh, path);
  } catch (cause) {
    rmSync(fresh, { force: true });
    throw unwritable(path, cause);
  }
}

function unwritable(path: string, cause: unknown): HoldfastError {
  const reason = cause instanceof Error ? cause.message.replace(/, \w+ '.*$/, '') : String(cause);
  return new HoldfastError('USAGE', `cannot write '${path}': ${reason}`, {
    hint: 'name a file in a directory that you can write to',
    cause,
  });
}
