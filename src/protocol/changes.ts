// The changes to the environment that a request asks for: docs/protocol.md §4, `env` of RUN. Most requests of a session ask for what the
// last one did, with all of the caller's variables where a wrapper needs them: then they are not judged again.

import type { BodyReader } from './reader.js';
import { EMPTY_LIST, type StringList } from './strings.js';

const EQUALS = 0x3d;
/** More is not kept for nothing. */
const MAX_KEPT_BYTES = 64 * 1024;

/** Judged, and bytes of its own. */
const last: { list: StringList; hasCaller: boolean } = { list: EMPTY_LIST, hasCaller: false };

/** @throws {ProtocolError} `BODY_MALFORMED`. */
export function readChanges(reader: BodyReader, hasCaller: boolean): StringList {
  const changes = reader.list(hasCaller === last.hasCaller ? last.list : undefined);
  if (changes === last.list) return changes;
  const fault = checkChanges(changes, hasCaller);
  if (fault !== undefined) throw reader.error(fault);
  if (changes.block.length > MAX_KEPT_BYTES) return changes;
  last.list = { count: changes.count, block: Buffer.from(changes.block) };
  last.hasCaller = hasCaller;
  return last.list;
}

/** What is wrong with them, or `undefined`. One pass, no copies, linear whatever the bytes are. */
function checkChanges({ block }: StringList, hasCaller: boolean): string | undefined {
  // The first '=' at or after the entry; looked for again only when passed, or entries without one would cost a scan each.
  let equals = -1;
  for (let at = 0; at < block.length; ) {
    const end = block.indexOf(0, at);
    const start = at + 1;
    if (start >= end) return 'a change of the environment is empty';
    if (equals < start) equals = indexOrEnd(block, start);
    switch (block[at]) {
      case 0x7e: // ~
        if (!hasCaller) return 'a variable of the caller is there without the flag that says so';
        if (equals === start || equals >= end) return 'a variable is set without a name and a value';
        break;
      case 0x3d: // =
      case 0x3f: // ?
        // A name may not be empty, and so may not begin with '='.
        if (equals === start || equals >= end) return 'a variable is set without a name and a value';
        break;
      case 0x2d: // -
        if (equals < end) return "the name of a variable contains '='";
        break;
      case 0x3a: // :
        break;
      default:
        return `unknown change ${block[at]} of the environment`;
    }
    at = end + 1;
  }
  return undefined;
}

function indexOrEnd(block: Buffer, from: number): number {
  const at = block.indexOf(EQUALS, from);
  return at === -1 ? block.length : at;
}
