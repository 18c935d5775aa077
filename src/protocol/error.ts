// What a peer did wrong on the wire. None of these leaves a place to resume from: answer REFUSED if one can, and close.

/**
 * `FRAME_*`: the header alone was enough to refuse (docs/protocol.md §2). `BODY_MALFORMED`: the body does not say what §3 to §5
 * allow. `VERSION`: the peer speaks another version, which `peerVersion` names.
 */
export const PROTOCOL_ERROR_CODES = ['BODY_MALFORMED', 'FRAME_FDS', 'FRAME_KIND', 'FRAME_RESERVED', 'FRAME_TOO_LARGE', 'VERSION'] as const;

export type ProtocolErrorCode = (typeof PROTOCOL_ERROR_CODES)[number];

export class ProtocolError extends Error {
  static {
    ProtocolError.prototype.name = 'ProtocolError';
  }
  readonly code: ProtocolErrorCode;
  /** The peer's version when `code` is `VERSION` and the peer named one. */
  readonly peerVersion: number | undefined;
  constructor(code: ProtocolErrorCode, message: string, peerVersion?: number) {
    super(message);
    this.code = code;
    this.peerVersion = peerVersion;
  }
}

export function malformed(message: string): ProtocolError {
  return new ProtocolError('BODY_MALFORMED', message);
}
