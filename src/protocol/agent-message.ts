// What an agent says: docs/protocol.md §5. Each encoder gives a whole frame.

import { ProtocolError } from './error.js';
import { type ExitedMessage, parseExited } from './exited.js';
import { encodeFrame, type Frame } from './frame.js';
import { encodeJson, type JsonObject, parseJson } from './json.js';
import { Kind, RULES } from './limits.js';
import { isRefusalCode, isStep, MAX_ERRNO, MAX_INT, type RefusalCode, type Step } from './numbers.js';
import { BodyReader } from './reader.js';
import { FrameWriter } from './writer.js';

export interface Refusal {
  readonly code: RefusalCode;
  readonly message: string;
  /** Empty: none. */
  readonly hint: string;
}

/** Something that the user is to learn, and that changes nothing for the request. */
export interface Notice {
  readonly message: string;
  /** Empty: none. */
  readonly hint: string;
}

export interface Spawned {
  readonly pid: number;
  /** Nanoseconds of CLOCK_MONOTONIC. */
  readonly startNs: bigint;
  /** Its id when the request was detached, else empty. */
  readonly job: string;
}

export interface NotStarted {
  readonly step: Step;
  readonly errno: number;
  /** What failed: program, interpreter, directory, number of a descriptor… */
  readonly subject: Buffer;
  /** The PATH that was looked through; empty when none was. */
  readonly searched: Buffer;
}

export type AgentMessage =
  | ({ readonly type: 'refused' } & Refusal)
  /** 1 is next. */
  | { readonly type: 'queued'; readonly position: number }
  | ({ readonly type: 'spawned' } & Spawned)
  | NotStartedMessage
  | { readonly type: 'stopped'; readonly signal: number }
  | { readonly type: 'continued' }
  | ExitedMessage
  | { readonly type: 'answer'; readonly answer: JsonObject }
  | ({ readonly type: 'notice' } & Notice);

export type NotStartedMessage = { readonly type: 'notStarted' } & NotStarted;

/** Two strings share what the cap leaves beside the fields of fixed size. */
const MAX_REFUSAL_TEXT_BYTES = (RULES[Kind.REFUSED].maxBodyBytes - 10) / 2;
const MAX_FAILURE_TEXT_BYTES = Math.floor((RULES[Kind.NOT_STARTED].maxBodyBytes - 13) / 2);

/** Texts that are too long, and NULs in them, are cut: a refusal that quotes the peer's nonsense must still arrive. */
export function encodeRefused(refusal: Refusal): Buffer {
  const message = textBytes(refusal.message, MAX_REFUSAL_TEXT_BYTES);
  const hint = textBytes(refusal.hint, MAX_REFUSAL_TEXT_BYTES);
  const writer = new FrameWriter(Kind.REFUSED, 10 + message.length + hint.length);
  writer.u16(refusal.code);
  writer.bytes(message);
  writer.bytes(hint);
  return writer.end();
}

/** Texts that are too long are cut, as those of a refusal are. */
export function encodeNotice(notice: Notice): Buffer {
  const message = textBytes(notice.message, MAX_REFUSAL_TEXT_BYTES);
  const hint = textBytes(notice.hint, MAX_REFUSAL_TEXT_BYTES);
  const writer = new FrameWriter(Kind.NOTICE, 8 + message.length + hint.length);
  writer.bytes(message);
  writer.bytes(hint);
  return writer.end();
}

export function encodeQueued(position: number): Buffer {
  const writer = new FrameWriter(Kind.QUEUED, 4);
  writer.u32(position);
  return writer.end();
}

/** `fdCount`: 1 when the target's pidfd rides on it. @throws {ProtocolError} `BODY_MALFORMED`, `FRAME_TOO_LARGE` for a job id that cannot be. */
export function encodeSpawned(spawned: Spawned, fdCount: 0 | 1): Buffer {
  const job = Buffer.from(spawned.job, 'utf8');
  const writer = new FrameWriter(Kind.SPAWNED, 16 + job.length, fdCount);
  writer.u32(spawned.pid);
  writer.u64(spawned.startNs);
  writer.bytes(job);
  return writer.end();
}

/** A subject or a PATH over half of the cap is cut. @throws {ProtocolError} `BODY_MALFORMED` for a NUL in one. */
export function encodeNotStarted(failure: NotStarted): Buffer {
  const subject = failure.subject.subarray(0, MAX_FAILURE_TEXT_BYTES);
  const searched = failure.searched.subarray(0, MAX_FAILURE_TEXT_BYTES);
  const writer = new FrameWriter(Kind.NOT_STARTED, 13 + subject.length + searched.length);
  writer.u8(failure.step);
  writer.u32(failure.errno);
  writer.bytes(subject);
  writer.bytes(searched);
  return writer.end();
}

export function encodeStopped(signal: number): Buffer {
  return encodeFrame(Kind.STOPPED, Buffer.of(signal));
}

export function encodeContinued(): Buffer {
  return encodeFrame(Kind.CONTINUED, Buffer.alloc(0));
}

/** @throws {ProtocolError} `FRAME_TOO_LARGE`. */
export function encodeAnswer(answer: JsonObject): Buffer {
  return encodeFrame(Kind.ANSWER, encodeJson(answer));
}

/**
 * The message of a frame that `parseFrame(…, 'agent')` gave. Buffers in it are views of the frame's body.
 *
 * @throws {ProtocolError} `BODY_MALFORMED`; `FRAME_KIND` for a frame of a client.
 */
export function parseAgentFrame(frame: Frame): AgentMessage {
  switch (frame.kind) {
    case Kind.REFUSED:
      return parseRefused(frame.body);
    case Kind.QUEUED:
      return parseQueued(frame.body);
    case Kind.SPAWNED:
      return parseSpawned(frame.body);
    case Kind.NOT_STARTED:
      return parseNotStarted(frame.body);
    case Kind.STOPPED:
      return parseStopped(frame.body);
    case Kind.CONTINUED:
      new BodyReader('CONTINUED', frame.body).end();
      return { type: 'continued' };
    case Kind.EXITED:
      return parseExited(frame.body);
    case Kind.ANSWER:
      return { type: 'answer', answer: parseJson('ANSWER', frame.body) };
    case Kind.NOTICE:
      return parseNotice(frame.body);
    default:
      throw new ProtocolError('FRAME_KIND', `kind ${frame.kind} is not one that an agent sends`);
  }
}

function textBytes(text: string, maxBytes: number): Buffer {
  return Buffer.from(text.replaceAll('\0', ''), 'utf8').subarray(0, maxBytes);
}

function parseRefused(body: Buffer): AgentMessage {
  const reader = new BodyReader('REFUSED', body);
  const code = reader.u16();
  if (!isRefusalCode(code)) throw reader.error(`unknown code ${code}`);
  const message = reader.text();
  const hint = reader.text();
  reader.end();
  return { type: 'refused', code, message, hint };
}

function parseNotice(body: Buffer): AgentMessage {
  const reader = new BodyReader('NOTICE', body);
  const message = reader.text();
  const hint = reader.text();
  reader.end();
  return { type: 'notice', message, hint };
}

function parseQueued(body: Buffer): AgentMessage {
  const reader = new BodyReader('QUEUED', body);
  const position = reader.u32();
  reader.end();
  if (position === 0) throw reader.error('position 0 cannot be');
  return { type: 'queued', position };
}

function parseSpawned(body: Buffer): AgentMessage {
  const reader = new BodyReader('SPAWNED', body);
  const pid = reader.u32();
  if (pid === 0 || pid > MAX_INT) throw reader.error(`pid ${pid} cannot be`);
  const startNs = reader.u64();
  const job = reader.text();
  reader.end();
  return { type: 'spawned', pid, startNs, job };
}

function parseNotStarted(body: Buffer): AgentMessage {
  const reader = new BodyReader('NOT_STARTED', body);
  const step = reader.u8();
  if (!isStep(step)) throw reader.error(`unknown step ${step}`);
  const errno = reader.u32();
  if (errno > MAX_ERRNO) throw reader.error(`errno ${errno} cannot be`);
  const subject = reader.bytes();
  const searched = reader.bytes();
  reader.end();
  return { type: 'notStarted', step, errno, subject, searched };
}

function parseStopped(body: Buffer): AgentMessage {
  const reader = new BodyReader('STOPPED', body);
  const signal = reader.signal();
  reader.end();
  return { type: 'stopped', signal };
}
