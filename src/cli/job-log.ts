// `holdfast job logs`: what a job has written, from its file and, when that is full, from the agent's memory. Where something is
// missing between the two, a line says how much and why.

import { closeSync, constants, openSync, readSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { HoldfastError } from '../errors.js';
import { type JobOutput, readJobOutput } from './job-control.js';

const CHUNK_BYTES = 64 * 1024;
const FOLLOW_PAUSE_MS = 50;

export async function printJobLog(name: string, id: string, follow: boolean): Promise<void> {
  let output = await readJobOutput(name, id, undefined);
  const file = openOutput(output.job.output.path);
  try {
    for (let printed = 0; ; ) {
      printed = await printFrom(file, printed, output);
      if (!follow || output.job.state === 'ended') return;
      // One that writes without pause would otherwise be asked after without pause.
      await sleep(FOLLOW_PAUSE_MS);
      output = await readJobOutput(name, id, printed);
    }
  } finally {
    closeSync(file);
  }
}

/** The file is opened once: it is removed with the session, and what is in it can be read to its end all the same. */
function openOutput(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (cause) {
    throw new HoldfastError('RUNTIME_DIR', `the job's output '${path}' cannot be read: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
  }
}

/** @param printed how much has been. @returns how much is now. */
async function printFrom(file: number, printed: number, { job, tail }: JobOutput): Promise<number> {
  const { bytes, fileBytes, cut } = job.output;
  let at = printed;
  for (const chunk = Buffer.alloc(CHUNK_BYTES); at < fileBytes; ) {
    const got = readSync(file, chunk, 0, Math.min(chunk.length, fileBytes - at), at);
    if (got === 0) break;
    await write(chunk.subarray(0, got));
    at += got;
  }
  const tailStart = bytes - tail.length;
  if (at < tailStart) {
    const why = cut === undefined ? 'the limit of its output was reached' : `its file could take no more (${cut})`;
    await write(`\n[holdfast: ${tailStart - at} bytes of the job are left out here: ${why}]\n`);
    at = tailStart;
  }
  await write(tail.subarray(at - tailStart));
  return bytes;
}

/** Waits until a slow reader has taken it: the output of a job may be large. */
async function write(bytes: Buffer | string): Promise<void> {
  await new Promise<void>((resolve, reject) => process.stdout.write(Buffer.from(bytes), (error) => (error ? reject(error) : resolve())));
}
