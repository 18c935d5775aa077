// A list of byte strings as it travels: docs/protocol.md §3. It stays one block from the socket to execve, because splitting
// it would cost the hot path an object for each variable of the environment.

import { malformed } from './error.js';

export interface StringList {
  readonly count: number;
  /** `count` strings, each ended by one NUL. */
  readonly block: Buffer;
}

export const EMPTY_LIST: StringList = { count: 0, block: Buffer.alloc(0) };

/**
 * Packs strings (as UTF-8) and bytes (as they are) into a new block.
 *
 * @throws {ProtocolError} `BODY_MALFORMED` when one contains a NUL.
 */
export function packStrings(items: readonly (Buffer | string)[]): StringList {
  if (items.length === 0) return EMPTY_LIST;
  let bytes = items.length;
  for (const item of items) bytes += typeof item === 'string' ? Buffer.byteLength(item) : item.length;
  const block = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const item of items) {
    const start = at;
    at += typeof item === 'string' ? block.write(item, at) : item.copy(block, at);
    block[at] = 0;
    if (block.indexOf(0, start) !== at) throw malformed(`string ${items.indexOf(item) + 1} of a list contains a NUL byte`);
    at += 1;
  }
  return { count: items.length, block };
}

/** A view of each string, without its NUL. */
export function splitStrings(list: StringList): Buffer[] {
  const strings: Buffer[] = [];
  for (let at = 0; at < list.block.length; ) {
    const end = list.block.indexOf(0, at);
    if (end === -1) throw malformed('a list does not end with a NUL byte');
    strings.push(list.block.subarray(at, end));
    at = end + 1;
  }
  return strings;
}

/** What is wrong with a list that came from a peer, or `undefined`. */
export function checkList({ count, block }: StringList): string | undefined {
  if (block.length > 0 && block[block.length - 1] !== 0) return 'a list does not end with a NUL byte';
  let found = 0;
  for (let at = block.indexOf(0); at !== -1; at = block.indexOf(0, at + 1)) found += 1;
  return found === count ? undefined : `a list of ${count} strings holds ${found}`;
}
