// `holdfast logs`: what the launcher and the agent of a session wrote.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Command } from 'commander';

import { HoldfastError } from '../errors.js';
import { selectName } from './selection.js';

const CHUNK_BYTES = 64 * 1024;
/** inotify would tell sooner, but not of a log that is replaced while we wait. */
const POLL_MS = 200;

export function addLogs(program: Command): void {
  program
    .command('logs')
    .description("print a session's log: what its launcher and its agent wrote")
    .argument('[name]', 'the session')
    .option('-f, --follow', 'go on printing what is added, until interrupted')
    .addHelpText(
      'after',
      `
The output of the commands that run in a session is not in here: it goes where
their callers sent it.

Examples:
  holdfast logs web
  holdfast logs -f web | grep -i error`,
    )
    .action(logs);
}

async function logs(given: string | undefined, options: { follow?: true }): Promise<void> {
  const name = selectName(given);
  const { findPlace } = await import('../session/place.js');
  const place = findPlace(name);
  const log = place === undefined ? undefined : openLog(place.files.log);
  place?.close();
  if (log === undefined) throw noLog(name);
  let offset = await copyFrom(log, 0);
  while (options.follow) {
    await sleep(POLL_MS);
    if (fstatSync(log).size < offset) offset = 0;
    offset = await copyFrom(log, offset);
  }
  closeSync(log);
}

function openLog(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** @returns the offset behind the last byte printed. */
async function copyFrom(log: number, start: number): Promise<number> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let offset = start;
  for (;;) {
    const bytes = readSync(log, chunk, 0, chunk.length, offset);
    if (bytes === 0) return offset;
    offset += bytes;
    // Waiting for the reader bounds what is held in memory, however long the log is.
    const flushed = process.stdout.write(Buffer.from(chunk.subarray(0, bytes)));
    if (!flushed) await new Promise<void>((resolve) => process.stdout.once('drain', () => resolve()));
  }
}

function noLog(name: string): HoldfastError {
  return new HoldfastError('NO_SESSION', `session '${name}' has no log: it was not opened, or was closed`, {
    hint: "'holdfast list' shows the sessions that are open",
  });
}
