// What a session may be called. Any name will do as a file's (client/runtime-directory.ts hashes it); what remains is that it
// can be said in one line.

import { HoldfastError } from '../errors.js';

/** PATH_MAX: a project's name is its directory. */
const MAX_NAME_BYTES = 4096;

/** @throws {HoldfastError} `NAME_INVALID`. */
export function checkName(name: string): void {
  if (typeof name !== 'string') throw new HoldfastError('NAME_INVALID', `a session's name must be text, not ${String(name)}`);
  const fault = findFault(name);
  if (fault === undefined) return;
  const shown = name.length > 60 ? `${name.slice(0, 60)}…` : name;
  throw new HoldfastError('NAME_INVALID', `the session name ${JSON.stringify(shown).replace(/^"|"$/g, "'")} ${fault}`, {
    hint: 'choose a short name of letters, digits, dots and dashes',
  });
}

function findFault(name: string): string | undefined {
  if (name === '') return 'is empty';
  if (name.includes('\0')) return 'has a NUL in it';
  if (/[\n\r]/.test(name)) return 'has a line break in it';
  const bytes = Buffer.byteLength(name);
  return bytes > MAX_NAME_BYTES ? `is ${bytes} bytes long, ${MAX_NAME_BYTES} is the limit` : undefined;
}
