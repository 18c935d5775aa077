// The words of our own command line as bytes. Node decodes them as UTF-8 and cannot give back what was not.

import { readFileSync } from 'node:fs';

/** Text of which each character stands for one byte, so that string functions work on what need not be UTF-8. */
export type ByteText = string;

/** The last `count` words of the command line, as the kernel has them. */
export function lastWords(count: number, cmdline: Buffer = readFileSync('/proc/self/cmdline')): ByteText[] {
  if (count === 0) return [];
  // Each word is ended by a NUL; what follows the last one is nothing.
  const words = cmdline.toString('latin1').split('\0').slice(0, -1);
  return words.slice(-count);
}

export function toBytes(text: ByteText): Buffer {
  return Buffer.from(text, 'latin1');
}

/** For a person to read. */
export function toText(text: ByteText): string {
  return toBytes(text).toString('utf8');
}
