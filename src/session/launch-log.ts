// The session's log (ID.log): what the launcher and the agent write. Here: its making, and its end for those who wait or complain.

import { closeSync, constants, fchmodSync, fstatSync, openSync, readSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';

const TAIL_BYTES = 8 * 1024;

/** Owns the descriptor; close() it. */
export class LaunchLog {
  readonly fd: number;

  /** Empties a log of an earlier session of that name. O_APPEND: the launcher and the agent write to it side by side. */
  constructor(path: string) {
    const { O_RDWR, O_CREAT, O_TRUNC, O_APPEND, O_NOFOLLOW } = constants;
    this.fd = openSync(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW, 0o600);
    fchmodSync(this.fd, 0o600);
  }

  close(): void {
    closeSync(this.fd);
  }

  /** The last line that says something, as a person would see it; empty when there is none. */
  lastLine(): string {
    return this.tail(1)[0] ?? '';
  }

  /** The last lines that say something: no escape sequences, no empty ones, at most `count`. */
  tail(count: number): string[] {
    return visibleLines(this.#end()).slice(-count);
  }

  #end(): string {
    const { size } = fstatSync(this.fd);
    const start = Math.max(0, size - TAIL_BYTES);
    const bytes = Buffer.alloc(size - start);
    const text = bytes.toString('utf8', 0, readSync(this.fd, bytes, 0, bytes.length, start));
    // What was cut begins in the middle of a line.
    return start === 0 ? text : text.slice(text.indexOf('\n') + 1);
  }
}

/** A progress bar rewrites its own line with carriage returns: only what stands after the last one is left to see. */
export function visibleLines(text: string): string[] {
  return stripVTControlCharacters(text)
    .split('\n')
    .map((line) => line.trimEnd().split('\r').at(-1) ?? '')
    .map((line) => line.replace(/\t/g, ' ').replace(/[\p{Cc}\p{Cf}]/gu, ''))
    .filter((line) => line.trim() !== '');
}
