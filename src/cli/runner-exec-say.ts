// The one line that runner-exec writes about itself, as native/client_messages.c writes it: with one write(2) and without Node's
// streams, which would change the mode of a descriptor that the caller shares.

import { writeSync } from 'node:fs';

import { isTty } from '../native/descriptors.js';

const STDERR = 2;
const MAX_TEXT_BYTES = 1535;

/** Never fails. */
export function say(message: string, hint: string | undefined): void {
  try {
    writeSync(STDERR, lineOf(message, hint, isTty(STDERR)));
  } catch {
    // Nobody is left to tell.
  }
}

/** The hint follows on a line of its own at a terminal, else on the same line, so that a log holds exactly one. */
export function lineOf(message: string, hint: string | undefined, isTerminal: boolean): Buffer {
  const tail = hint === undefined || hint === '' ? '' : `${isTerminal ? '\nhint: ' : '; hint: '}${printable(hint)}`;
  return Buffer.from(`runner-exec: ${printable(shortened(message))}${tail}\n`);
}

function shortened(message: string): string {
  const bytes = Buffer.from(message);
  return bytes.length <= MAX_TEXT_BYTES ? message : `${bytes.subarray(0, MAX_TEXT_BYTES)}…`;
}

/** A program's name may hold a newline or an escape sequence: neither may reach the caller's terminal or log. */
function printable(text: string): string {
  return text.replace(/[\x00-\x1f\x7f]/g, (character) => {
    if (character === '\n') return '\\n';
    if (character === '\t') return '\\t';
    return `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
}
