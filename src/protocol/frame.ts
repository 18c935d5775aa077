// Frame codec: bytes to frames and back, whatever their bodies mean. Pure: no sockets, no descriptors, no clock.
// docs/protocol.md §2 specifies the layout; change both in one commit or neither.

import { ProtocolError } from './error.js';
import { findRule, HEADER_BYTES, type Kind, type KindRule, type Side } from './limits.js';

export interface Header {
  readonly kind: Kind;
  /** Descriptors that ride on this frame's first byte. */
  readonly fdCount: number;
  readonly bodyBytes: number;
}

export interface Frame {
  readonly kind: Kind;
  readonly fdCount: number;
  /** A view of the input, not a copy. */
  readonly body: Buffer;
}

/**
 * An unfinished frame: its header is written, its body is `HEADER_BYTES` in and still garbage. For encoders that know the size.
 *
 * @throws {ProtocolError} `FRAME_TOO_LARGE`, `FRAME_FDS`: the peer would close the connection.
 */
export function startFrame(kind: Kind, bodyBytes: number, fdCount: number): Buffer {
  judge(findRule(kind), kind, bodyBytes, fdCount);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + bodyBytes);
  frame.writeUInt32BE(bodyBytes, 0);
  // Kind, descriptors and the two reserved zero bytes in one store.
  frame.writeUInt32BE(kind * 0x1000000 + fdCount * 0x10000, 4);
  return frame;
}

/**
 * The whole frame in one buffer.
 *
 * @throws {ProtocolError} `FRAME_TOO_LARGE`, `FRAME_FDS`.
 */
export function encodeFrame(kind: Kind, body: Buffer, fdCount = 0): Buffer {
  const frame = startFrame(kind, body.length, fdCount);
  body.copy(frame, HEADER_BYTES);
  return frame;
}

/**
 * Judges the header at `offset`, which alone decides whether the frame is taken.
 *
 * @returns `undefined` when fewer than `HEADER_BYTES` have come.
 * @throws {ProtocolError} `FRAME_KIND`, `FRAME_RESERVED`, `FRAME_TOO_LARGE`, `FRAME_FDS`.
 */
export function parseHeader(input: Buffer, offset: number, from: Side): Header | undefined {
  if (input.length - offset < HEADER_BYTES) return undefined;
  const bodyBytes = input.readUInt32BE(offset);
  const kind = input.readUInt8(offset + 4);
  const fdCount = input.readUInt8(offset + 5);
  const rule = findRule(kind);
  if (rule?.from !== from)
    throw new ProtocolError('FRAME_KIND', `kind ${kind} is not one that ${from === 'agent' ? 'an agent' : 'a client'} sends`);
  if (input.readUInt16BE(offset + 6) !== 0)
    throw new ProtocolError('FRAME_RESERVED', `reserved bytes of a ${rule.name} frame are not zero`);
  judge(rule, kind, bodyBytes, fdCount);
  return { kind: rule.kind, fdCount, bodyBytes };
}

/**
 * Parses the first frame of the bytes received so far.
 *
 * @returns the frame and the bytes it used; `undefined` when it needs more bytes.
 * @throws {ProtocolError} as `parseHeader`, and as early: a lie about length never makes anybody wait or allocate.
 */
export function parseFrame(input: Buffer, from: Side): { frame: Frame; used: number } | undefined {
  const header = parseHeader(input, 0, from);
  if (header === undefined) return undefined;
  const used = HEADER_BYTES + header.bodyBytes;
  if (input.length < used) return undefined;
  return { frame: { kind: header.kind, fdCount: header.fdCount, body: input.subarray(HEADER_BYTES, used) }, used };
}

function judge(rule: KindRule | undefined, kind: number, bodyBytes: number, fdCount: number): void {
  if (rule === undefined) throw new ProtocolError('FRAME_KIND', `kind ${kind} is unknown`);
  if (bodyBytes > rule.maxBodyBytes) {
    throw new ProtocolError('FRAME_TOO_LARGE', `body of ${bodyBytes} bytes in a ${rule.name} frame, whose cap is ${rule.maxBodyBytes}`);
  }
  if (fdCount > rule.maxFds) {
    throw new ProtocolError('FRAME_FDS', `${fdCount} descriptors on a ${rule.name} frame, which may carry ${rule.maxFds}`);
  }
}
