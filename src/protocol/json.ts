// The two bodies that are JSON, CONTROL and ANSWER: one object, in UTF-8, and nothing else.

import { malformed } from './error.js';

export type JsonObject = Readonly<Record<string, unknown>>;

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function encodeJson(value: JsonObject): Buffer {
  return Buffer.from(JSON.stringify(value), 'utf8');
}

/** @throws {ProtocolError} `BODY_MALFORMED`. */
export function parseJson(frame: string, body: Buffer): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(UTF8.decode(body));
  } catch {
    throw malformed(`malformed ${frame}: it is not JSON`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(`malformed ${frame}: it is not a JSON object`);
  return value as JsonObject;
}
