// Reads test/vectors/frames.txt, whose head explains it.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROTOCOL_ERROR_CODES, type ProtocolErrorCode } from '../../../src/protocol/error.js';
import type { Side } from '../../../src/protocol/limits.js';

export interface Vector {
  name: string;
  side: Side;
  verdict: 'ok' | ProtocolErrorCode;
  bytes: Buffer;
  text: string;
}

export const VECTOR_FILE = join(import.meta.dirname, '../../vectors/frames.txt');

export function readVectors(): Vector[] {
  const lines = readFileSync(VECTOR_FILE, 'utf8').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('#')).map(parseLine);
}

function parseLine(line: string): Vector {
  const [name, side, verdict, hex, text, ...rest] = line.split('\t');
  const known = ['ok' as const, ...PROTOCOL_ERROR_CODES].find((code) => code === verdict);
  const bytes = Buffer.from(hex ?? '', 'hex');
  if ((side !== 'client' && side !== 'agent') || name === undefined || known === undefined || text === undefined || rest.length > 0) {
    throw new Error(`not a vector: ${line}`);
  }
  if (bytes.length * 2 !== hex?.length) throw new Error(`not hex: ${line}`);
  return { name, side, verdict: known, bytes, text };
}
