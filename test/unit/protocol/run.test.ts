// Pins RUN, docs/protocol.md §4, beyond the vectors: what is said to a peer of another version, and what time its nonsense takes.

import { describe, expect, it } from 'vitest';
import { ProtocolError } from '../../../src/protocol/error.js';
import { parseFrame } from '../../../src/protocol/frame.js';
import { HEADER_BYTES } from '../../../src/protocol/limits.js';
import { EMPTY_LIST, encodeRun, packStrings, parseRun, type RunRequest } from '../../../src/protocol/messages.js';

const PLAIN: RunRequest = {
  exact: false,
  detach: false,
  report: false,
  cwdByDescriptor: false,
  hasCaller: false,
  terminal: { kind: 'plain' },
  nice: undefined,
  umask: 0o22,
  ignored: 0n,
  killGraceMs: undefined,
  timeoutMs: undefined,
  fds: [0, 1, 2],
  limits: [],
  argv: packStrings(['true']),
  program: Buffer.alloc(0),
  env: EMPTY_LIST,
  cwd: Buffer.from('/'),
};

describe('a RUN of another version', () => {
  it('is refused with the version that the peer named', () => {
    const frame = encodeRun(PLAIN);
    frame.writeUInt16BE(7, HEADER_BYTES + 4);
    const error = thrown(() => parse(frame));
    expect(error).toMatchObject({ code: 'VERSION', peerVersion: 7, message: 'the client speaks version 7, this agent 1' });
  });
});

describe('a RUN that is read', () => {
  it('holds views of the frame, not copies', () => {
    const frame = encodeRun(PLAIN);
    const request = parse(frame);
    frame.write('F', frame.indexOf('true'));
    expect(request.argv.block.toString()).toBe('Frue\0');
  });
});

describe('a RUN that is written', () => {
  it('may fill the cap, and is refused one byte over it', () => {
    const room = 8_388_608 - (encodeRun(PLAIN).length - HEADER_BYTES);
    const program = Buffer.alloc(room, 0x70);
    expect(parse(encodeRun({ ...PLAIN, program })).program.length).toBe(room);
    const error = thrown(() => encodeRun({ ...PLAIN, program: Buffer.concat([program, Buffer.from('p')]) }));
    expect(error.code).toBe('FRAME_TOO_LARGE');
  });

  it('counts the directory among its descriptors', () => {
    const fds = Array.from({ length: 253 }, (_, number) => number);
    expect(encodeRun({ ...PLAIN, fds })[5]).toBe(253);
    expect(thrown(() => encodeRun({ ...PLAIN, fds, cwdByDescriptor: true })).code).toBe('FRAME_FDS');
  });

  it('is refused with a NUL in a path', () => {
    expect(thrown(() => encodeRun({ ...PLAIN, cwd: Buffer.from('/a\0b') })).code).toBe('BODY_MALFORMED');
  });
});

describe('a request from where the last one came from', () => {
  const env = packStrings(['=K=V', '~HOME=/h']);
  const from = (own: Partial<RunRequest>): RunRequest => parse(encodeRun({ ...PLAIN, ...own }));

  it('has the same environment and directory, not equal ones', () => {
    const first = from({ env, hasCaller: true, cwd: Buffer.from('/work') });
    const second = from({ env, hasCaller: true, cwd: Buffer.from('/work'), argv: packStrings(['other']) });
    expect(second.env).toBe(first.env);
    expect(second.cwd).toBe(first.cwd);
    const other = from({ env: packStrings(['=K=W', '~HOME=/h']), hasCaller: true, cwd: Buffer.from('/word') });
    expect([other.env.block.toString(), other.cwd.toString()]).toEqual(['=K=W\0~HOME=/h\0', '/word']);
    expect([first.env.block.toString(), first.cwd.toString()]).toEqual(['=K=V\0~HOME=/h\0', '/work']);
  });

  it('is judged by its own flags', () => {
    from({ env, hasCaller: true });
    expect(thrown(() => from({ env, hasCaller: false })).message).toMatch(/without the flag/);
    from({ cwd: Buffer.from('/work') });
    expect(thrown(() => from({ cwd: Buffer.alloc(0) })).message).toMatch(/not absolute/);
    expect(from({ env, hasCaller: true }).env.count).toBe(2);
  });
});

describe('an environment as large as the cap', () => {
  // A search for '=' from each entry to the end of the block would take minutes.
  it.each([
    ['without a value in it', '-K\0'],
    ['of empty values', '=K=\0'],
    ['of directories', ':d\0'],
  ])('%s is read in linear time', { timeout: 10_000 }, (_, entry) => {
    const count = Math.floor(8_000_000 / entry.length);
    const env = { count, block: Buffer.alloc(count * entry.length, entry) };
    expect(parse(encodeRun({ ...PLAIN, env })).env.count).toBe(count);
  });
});

function parse(frame: Buffer): RunRequest {
  const parsed = parseFrame(frame, 'client');
  if (parsed === undefined) throw new Error('the frame is not whole');
  return parseRun(parsed.frame);
}

function thrown(action: () => unknown): ProtocolError {
  try {
    action();
  } catch (error) {
    if (error instanceof ProtocolError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
