// Random messages, each within what docs/protocol.md allows.

import fc from 'fast-check';
import {
  type AgentMessage,
  type ClientMessage,
  packStrings,
  RefusalCode,
  type RunRequest,
  Step,
  splitStrings,
} from '../../../src/protocol/messages.js';
import { CANCELLED_BY } from '../../../src/protocol/numbers.js';

const bytesWithoutNul = fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes.map((byte) => byte || 1)));
const directory = bytesWithoutNul.map((bytes) => Buffer.concat([Buffer.from('/'), bytes]));
const text = fc.string({ unit: 'binary', maxLength: 40 }).map((string) => string.replaceAll('\0', ''));
const name = bytesWithoutNul.map((bytes) => Buffer.concat([Buffer.from('N'), bytes.map((byte) => (byte === 0x3d ? 0x5f : byte))]));
const change = fc.oneof(
  fc
    .tuple(fc.constantFrom('=', '?'), name, bytesWithoutNul)
    .map(([sign, key, value]) => Buffer.concat([Buffer.from(sign), key, Buffer.from('='), value])),
  name.map((key) => Buffer.concat([Buffer.from('-'), key])),
  directory.map((path) => Buffer.concat([Buffer.from(':'), path])),
);
const u8 = fc.integer({ min: 0, max: 0xff });
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const int = fc.integer({ min: 0, max: 0x7fffffff });
const pid = fc.integer({ min: 1, max: 0x7fffffff });
const signal = fc.integer({ min: 1, max: 64 });
const count = fc.maxSafeNat();
const unknownOrCount = fc.option(count, { nil: undefined });
const json = fc.dictionary(fc.string(), fc.jsonValue()).map((value): Record<string, unknown> => JSON.parse(JSON.stringify(value)));

const parts = fc.record({
  exact: fc.boolean(),
  detach: fc.boolean(),
  report: fc.boolean(),
  cwdByDescriptor: fc.boolean(),
  hasCaller: fc.boolean(),
  terminal: fc.constantFrom('plain' as const, 'handover' as const, 'pty' as const),
  nice: fc.option(fc.integer({ min: -20, max: 19 }), { nil: undefined }),
  umask: fc.integer({ min: 0, max: 0o777 }),
  ignored: u64,
  killGraceMs: fc.option(fc.integer({ min: 0, max: 0xfffffffe }), { nil: undefined }),
  timeoutMs: fc.option(fc.integer({ min: 1, max: 0xffffffff }), { nil: undefined }),
  fds: fc.uniqueArray(int, { maxLength: 252 }),
  limits: fc.array(fc.record({ resource: u8, soft: u64, hard: u64 }), { maxLength: 20 }),
  argv: fc.array(bytesWithoutNul, { minLength: 1, maxLength: 30 }).map(packStrings),
  program: bytesWithoutNul,
  env: fc.array(change, { maxLength: 30 }).map(packStrings),
  cwd: fc.oneof(directory, fc.constant(Buffer.alloc(0))),
});

export const runRequests: fc.Arbitrary<RunRequest> = parts.map((request) => {
  const [fd] = request.fds;
  const terminal = request.terminal === 'plain' || fd === undefined ? { kind: 'plain' as const } : { kind: request.terminal, fd };
  const env = request.hasCaller ? packStrings([...splitStrings(request.env), '~CALLER=1']) : request.env;
  return { ...request, env, terminal, cwdByDescriptor: request.cwdByDescriptor || request.cwd.length === 0 };
});

export const clientMessages: fc.Arbitrary<ClientMessage> = fc.oneof(
  runRequests.map((request): ClientMessage => ({ type: 'run', request })),
  signal.map((number): ClientMessage => ({ type: 'signal', signal: number })),
  fc.constantFrom<ClientMessage>({ type: 'suspend' }, { type: 'resume' }, { type: 'cancel' }),
  fc.tuple(json, fc.string()).map(([request, op]): ClientMessage => ({ type: 'control', request: { ...request, op, protocol: 1 } })),
);

const usage = fc.record({
  userUs: count,
  systemUs: count,
  maxRssKib: count,
  minorFaults: count,
  majorFaults: count,
  blocksIn: count,
  blocksOut: count,
  voluntarySwitches: count,
  involuntarySwitches: count,
});

/** Of an end: an exit code, or a signal with or without a core. */
export const waitStatuses: fc.Arbitrary<number> = fc.oneof(
  u8.map((code) => code << 8),
  fc.tuple(signal, fc.boolean()).map(([number, core]) => number | (core ? 0x80 : 0)),
);

export const agentMessages: fc.Arbitrary<AgentMessage> = fc.oneof(
  fc.record({ type: fc.constant('refused' as const), code: fc.constantFrom(...Object.values(RefusalCode)), message: text, hint: text }),
  fc.record({ type: fc.constant('queued' as const), position: fc.integer({ min: 1, max: 0xffffffff }) }),
  fc.record({ type: fc.constant('spawned' as const), pid, startNs: u64, job: text }),
  fc.record({
    type: fc.constant('notStarted' as const),
    step: fc.constantFrom(...Object.values(Step)),
    errno: fc.integer({ min: 0, max: 4095 }),
    subject: bytesWithoutNul,
    searched: bytesWithoutNul,
  }),
  fc.record({ type: fc.constant('stopped' as const), signal }),
  fc.record({ type: fc.constant('continued' as const) }),
  fc.record({
    type: fc.constant('exited' as const),
    waitStatus: waitStatuses,
    cancelledBy: fc.constantFrom(...CANCELLED_BY),
    usage,
    timings: fc.record({ queuedUs: count, spawnUs: count, runUs: count }),
    tree: fc.record({ cpuUs: unknownOrCount, peakBytes: unknownOrCount }),
    leftovers: fc.array(pid, { maxLength: 20 }),
  }),
  fc.record({ type: fc.constant('answer' as const), answer: json }),
  fc.record({ type: fc.constant('notice' as const), message: text, hint: text }),
);

/** A change to a frame: bytes put over it, cut out of it or added to it. */
export const mutations = fc.array(
  fc.record({ at: fc.double({ min: 0, max: 1, noNaN: true }), cut: fc.integer({ min: 0, max: 8 }), put: fc.uint8Array({ maxLength: 8 }) }),
  {
    minLength: 1,
    maxLength: 3,
  },
);

export function mutate(frame: Buffer, changes: readonly { at: number; cut: number; put: Uint8Array }[]): Buffer {
  let bytes = frame;
  for (const { at, cut, put } of changes) {
    const start = Math.floor(at * bytes.length);
    bytes = Buffer.concat([bytes.subarray(0, start), put, bytes.subarray(start + cut)]);
  }
  return bytes;
}
