// What the opener of a session left for those who ask: its record and its paths.

import { HoldfastError } from '../errors.js';
import { findPlace } from './place.js';
import { findRecordLeniently, type SessionRecord } from './record.js';

export interface Opened {
  readonly record: SessionRecord;
  readonly socket: string;
  readonly log: string;
}

/** @throws {HoldfastError} `NO_SESSION` when it has been closed. */
export function readOpened(name: string): Opened {
  const place = findPlace(name);
  try {
    const record = place === undefined ? undefined : findRecordLeniently(place.files.record);
    if (place !== undefined && record !== undefined) return { record, socket: place.shown.socket, log: place.shown.log };
  } finally {
    place?.close();
  }
  throw new HoldfastError('NO_SESSION', `session '${name}' is not open`, { hint: "'holdfast list' shows the sessions that are" });
}
