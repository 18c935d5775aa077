// An entry as the user sees it: with a line of progress, and ended by the signal that interrupted it.

import type { OpenedSession, OpenOptions } from '../session/open.js';
import { Interrupted } from './ending.js';
import { Interruption } from './interruption.js';
import { ProgressLine, printable } from './progress.js';

interface Entering {
  readonly name: string;
  readonly quiet: boolean;
  /** Tell what was opened. */
  readonly json: boolean;
}

/**
 * @param enter given what it is to report to and to be stopped by.
 * @throws {Interrupted} when a signal came; and what `enter` throws.
 */
export async function showEntering<T extends OpenedSession>(
  { name, quiet, json }: Entering,
  enter: (options: Pick<OpenOptions, 'progress' | 'warn' | 'signal'>) => Promise<T>,
  after: (entered: T, signal: AbortSignal) => Promise<void> = async () => undefined,
): Promise<void> {
  const interruption = new Interruption();
  const progress = new ProgressLine(process.stderr, name, quiet ? { ...process.env, HOLDFAST_PROGRESS: 'none' } : process.env);
  try {
    const entered = await enter({
      progress: (line, _, phase) => progress.say(line, phase),
      warn: (message) => progress.interrupt(`holdfast: ${printable(message)}\n`),
      signal: interruption.signal,
    });
    progress.end();
    if (json) process.stdout.write(`${JSON.stringify({ name, ...entered }, undefined, 2)}\n`);
    await after(entered, interruption.signal);
  } catch (error) {
    if (interruption.number !== undefined) throw new Interrupted(interruption.number);
    throw error;
  } finally {
    progress.end();
    interruption.end();
  }
}
