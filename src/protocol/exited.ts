// EXITED, the last word on a target that was started: docs/protocol.md §5.

import { Kind, RULES } from './limits.js';
import { CANCELLED_BY, type CancelledBy, MAX_INT } from './numbers.js';
import { isEnding } from './outcome.js';
import { BodyReader } from './reader.js';
import { FrameWriter } from './writer.js';

/** As wait4(2) counts it. */
export interface Usage {
  readonly userUs: number;
  readonly systemUs: number;
  readonly maxRssKib: number;
  readonly minorFaults: number;
  readonly majorFaults: number;
  readonly blocksIn: number;
  readonly blocksOut: number;
  readonly voluntarySwitches: number;
  readonly involuntarySwitches: number;
}

export interface Timings {
  readonly queuedUs: number;
  readonly spawnUs: number;
  readonly runUs: number;
}

export interface Exited {
  /** As waitpid(2) gives it; always an end, never a stop. */
  readonly waitStatus: number;
  readonly cancelledBy: CancelledBy;
  readonly usage: Usage;
  readonly timings: Timings;
  /** Of everything that the request started; `undefined` where the containment cannot count. */
  readonly tree: { readonly cpuUs: number | undefined; readonly peakBytes: number | undefined };
  /** Pids of what the target left running. */
  readonly leftovers: readonly number[];
}

export type ExitedMessage = { readonly type: 'exited' } & Exited;

const FIXED_BYTES = 119;
const BYTES_PER_PID = 4;
/** What the cap of the frame has room for. */
export const MAX_LEFTOVERS: number = Math.floor((RULES[Kind.EXITED].maxBodyBytes - FIXED_BYTES) / BYTES_PER_PID);

/** The whole frame. Leftovers past `MAX_LEFTOVERS` are not listed. */
export function encodeExited(exited: Exited): Buffer {
  const { usage, timings, tree } = exited;
  const leftovers = exited.leftovers.slice(0, MAX_LEFTOVERS);
  const writer = new FrameWriter(Kind.EXITED, FIXED_BYTES + leftovers.length * BYTES_PER_PID);
  writer.u32(exited.waitStatus);
  writer.u8(CANCELLED_BY.indexOf(exited.cancelledBy));
  writer.count(usage.userUs);
  writer.count(usage.systemUs);
  writer.count(usage.maxRssKib);
  writer.count(usage.minorFaults);
  writer.count(usage.majorFaults);
  writer.count(usage.blocksIn);
  writer.count(usage.blocksOut);
  writer.count(usage.voluntarySwitches);
  writer.count(usage.involuntarySwitches);
  writer.count(timings.queuedUs);
  writer.count(timings.spawnUs);
  writer.count(timings.runUs);
  writer.count(tree.cpuUs);
  writer.count(tree.peakBytes);
  writer.u16(leftovers.length);
  for (const pid of leftovers) writer.u32(pid);
  return writer.end();
}

/** @throws {ProtocolError} `BODY_MALFORMED`. */
export function parseExited(body: Buffer): ExitedMessage {
  const reader = new BodyReader('EXITED', body);
  const waitStatus = reader.u32();
  if (!isEnding(waitStatus)) throw reader.error(`wait status ${waitStatus} is not an end`);
  const by = reader.u8();
  const cancelledBy = CANCELLED_BY[by];
  if (cancelledBy === undefined) throw reader.error(`cancelled by ${by} cannot be`);
  // Members are evaluated in the order they are written, which is the order of the wire.
  const message: ExitedMessage = {
    type: 'exited',
    waitStatus,
    cancelledBy,
    usage: {
      userUs: reader.count(),
      systemUs: reader.count(),
      maxRssKib: reader.count(),
      minorFaults: reader.count(),
      majorFaults: reader.count(),
      blocksIn: reader.count(),
      blocksOut: reader.count(),
      voluntarySwitches: reader.count(),
      involuntarySwitches: reader.count(),
    },
    timings: { queuedUs: reader.count(), spawnUs: reader.count(), runUs: reader.count() },
    tree: { cpuUs: reader.optionalCount(), peakBytes: reader.optionalCount() },
    leftovers: readPids(reader),
  };
  reader.end();
  return message;
}

function readPids(reader: BodyReader): number[] {
  const count = reader.u16();
  const pids: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const pid = reader.u32();
    if (pid === 0 || pid > MAX_INT) throw reader.error(`pid ${pid} cannot be`);
    pids.push(pid);
  }
  return pids;
}
