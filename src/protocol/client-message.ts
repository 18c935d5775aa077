// What a client says, RUN aside: docs/protocol.md §4.

import { malformed, ProtocolError } from './error.js';
import { encodeFrame, type Frame } from './frame.js';
import { encodeJson, type JsonObject, parseJson } from './json.js';
import { Kind, VERSION } from './limits.js';
import { BodyReader } from './reader.js';
import { parseRun, type RunRequest } from './run.js';

/** `op` is `status`, `environment`, `jobs`, `job`, `own` or `stop`; what else is in it is between those who ask and answer. */
export type ControlRequest = JsonObject & { readonly op: string };

export type ClientMessage =
  | { readonly type: 'run'; readonly request: RunRequest }
  | { readonly type: 'signal'; readonly signal: number }
  | { readonly type: 'suspend' }
  | { readonly type: 'resume' }
  | { readonly type: 'cancel' }
  | { readonly type: 'control'; readonly request: ControlRequest };

export function encodeSignal(signal: number): Buffer {
  return encodeFrame(Kind.SIGNAL, Buffer.of(signal));
}

export function encodeSuspend(): Buffer {
  return encodeFrame(Kind.SUSPEND, Buffer.alloc(0));
}

export function encodeResume(): Buffer {
  return encodeFrame(Kind.RESUME, Buffer.alloc(0));
}

export function encodeCancel(): Buffer {
  return encodeFrame(Kind.CANCEL, Buffer.alloc(0));
}

/** The member `protocol` is added. @throws {ProtocolError} `FRAME_TOO_LARGE`. */
export function encodeControl(request: { readonly op: string; readonly [member: string]: unknown }): Buffer {
  return encodeFrame(Kind.CONTROL, encodeJson({ ...request, protocol: VERSION }));
}

/**
 * The message of a frame that `parseFrame(…, 'client')` gave. Buffers in it are views of the frame's body.
 *
 * @throws {ProtocolError} `VERSION`, `BODY_MALFORMED`; `FRAME_KIND` for a frame of an agent.
 */
export function parseClientFrame(frame: Frame): ClientMessage {
  switch (frame.kind) {
    case Kind.RUN:
      return { type: 'run', request: parseRun(frame) };
    case Kind.SIGNAL:
      return { type: 'signal', signal: parseSignal(frame.body) };
    case Kind.SUSPEND:
      new BodyReader('SUSPEND', frame.body).end();
      return { type: 'suspend' };
    case Kind.RESUME:
      new BodyReader('RESUME', frame.body).end();
      return { type: 'resume' };
    case Kind.CANCEL:
      new BodyReader('CANCEL', frame.body).end();
      return { type: 'cancel' };
    case Kind.CONTROL:
      return { type: 'control', request: parseControl(frame.body) };
    default:
      throw new ProtocolError('FRAME_KIND', `kind ${frame.kind} is not one that a client sends`);
  }
}

function parseSignal(body: Buffer): number {
  const reader = new BodyReader('SIGNAL', body);
  const signal = reader.signal();
  reader.end();
  return signal;
}

function parseControl(body: Buffer): ControlRequest {
  const request = parseJson('CONTROL', body);
  const { protocol, op } = request;
  if (protocol !== VERSION) {
    const peer = typeof protocol === 'number' ? protocol : undefined;
    throw new ProtocolError('VERSION', `the client speaks version ${peer ?? 'unnamed'}, this agent ${VERSION}`, peer);
  }
  if (typeof op !== 'string') throw malformed("malformed CONTROL: 'op' is not a string");
  return { ...request, op };
}
