// RUN, the whole request in one frame: docs/protocol.md §4. What one field may hold is checked here, once; whether the
// request makes sense in a session (its directory, its descriptors, its flags together) is the agent's to say.

import { readChanges } from './changes.js';
import { ProtocolError } from './error.js';
import type { Frame } from './frame.js';
import { Kind, MAGIC, MAX_FDS, VERSION } from './limits.js';
import { MAX_INT, MAX_UMASK, RunFlag, TerminalKind } from './numbers.js';
import { BodyReader } from './reader.js';
import type { StringList } from './strings.js';
import { FrameWriter } from './writer.js';

export type RunTerminal =
  | { readonly kind: 'plain' }
  /** `fd`: number, in the target, of the terminal that becomes its controlling one. */
  | { readonly kind: 'handover' | 'pty'; readonly fd: number };

export interface RunLimit {
  /** RLIMIT number. */
  readonly resource: number;
  /** All ones: infinity. */
  readonly soft: bigint;
  readonly hard: bigint;
}

export interface RunRequest {
  readonly exact: boolean;
  readonly detach: boolean;
  /** A report is wanted: leftovers are looked for. */
  readonly report: boolean;
  /** The last descriptor is the working directory, and `cwd` only its name, or empty. */
  readonly cwdByDescriptor: boolean;
  /** The caller's own variables are in `env`, as `~K=V`: for the wrapper of a session that has one, and for no target. */
  readonly hasCaller: boolean;
  readonly terminal: RunTerminal;
  /** Absolute nice value, -20 to 19. */
  readonly nice: number | undefined;
  readonly umask: number;
  /** Bit N-1: signal N starts ignored. */
  readonly ignored: bigint;
  /** TERM to KILL; `undefined`: the session's. */
  readonly killGraceMs: number | undefined;
  /** Deadline from acceptance, above 0. */
  readonly timeoutMs: number | undefined;
  /** Target number of each descriptor, in the order they ride, without the directory. */
  readonly fds: readonly number[];
  readonly limits: readonly RunLimit[];
  readonly argv: StringList;
  /** What to execute; empty: argv[0]. */
  readonly program: Buffer;
  /** Changes to the base environment, in order: `=K=V`, `-K`, `?K=V`, `:DIRECTORY`; and `~K=V`, which is none: see `hasCaller`. */
  readonly env: StringList;
  readonly cwd: Buffer;
}

/** Fields of fixed size, the counts and lengths of the others included. */
const FIXED_BYTES = 63;
const BYTES_PER_FD = 4;
const BYTES_PER_LIMIT = 17;
const SESSION_GRACE = 0xffffffff;
const ALL_FLAGS = RunFlag.EXACT | RunFlag.DETACH | RunFlag.CWD_FD | RunFlag.REPORT | RunFlag.CALLER;
const SLASH = 0x2f;
/** In the order of their numbers. */
const TERMINALS = ['plain', 'handover', 'pty'] as const;

/**
 * The whole frame.
 *
 * @throws {ProtocolError} `FRAME_TOO_LARGE`, `FRAME_FDS`, and `BODY_MALFORMED` for a NUL in `program` or `cwd`.
 */
export function encodeRun(request: RunRequest): Buffer {
  const { terminal, nice, fds, limits, argv, program, env, cwd } = request;
  const variableBytes =
    fds.length * BYTES_PER_FD + limits.length * BYTES_PER_LIMIT + argv.block.length + program.length + env.block.length + cwd.length;
  const writer = new FrameWriter(Kind.RUN, FIXED_BYTES + variableBytes, fds.length + (request.cwdByDescriptor ? 1 : 0));
  writer.u32(MAGIC);
  writer.u16(VERSION);
  writer.u16(flagsOf(request));
  writer.u8(TERMINALS.indexOf(terminal.kind));
  writer.u32(terminal.kind === 'plain' ? 0 : terminal.fd);
  writer.u8(nice === undefined ? 0 : 1);
  writer.i8(nice ?? 0);
  writer.u32(request.umask);
  writer.u64(request.ignored);
  writer.u32(request.killGraceMs ?? SESSION_GRACE);
  writer.u32(request.timeoutMs ?? 0);
  writer.u16(fds.length);
  for (const fd of fds) writer.u32(fd);
  writer.u16(limits.length);
  for (const limit of limits) {
    writer.u8(limit.resource);
    writer.u64(limit.soft);
    writer.u64(limit.hard);
  }
  writer.list(argv);
  writer.bytes(program);
  writer.list(env);
  writer.bytes(cwd);
  return writer.end();
}

/** Of the last request, as bytes of its own: see parseRun(). */
let lastDirectory = Buffer.from('/');

/**
 * The request of a RUN frame. Its buffers are views of the frame's body, but for `env` and `cwd`: most requests of a session come from
 * where the last one did, and what was made of that is known again by identity.
 *
 * @throws {ProtocolError} `VERSION` before anything else is looked at; `BODY_MALFORMED`.
 */
export function parseRun(frame: Frame): RunRequest {
  const reader = new BodyReader('RUN', frame.body);
  checkMagic(reader);
  const flags = reader.u16();
  if ((flags & ~ALL_FLAGS) !== 0) throw reader.error(`unknown flags ${flags}`);
  const cwdByDescriptor = (flags & RunFlag.CWD_FD) !== 0;
  const hasCaller = (flags & RunFlag.CALLER) !== 0;
  const terminal = readTerminal(reader);
  const nice = readNice(reader);
  const umask = reader.u32();
  if (umask > MAX_UMASK) throw reader.error(`umask 0${umask.toString(8)} is over 0777`);
  const ignored = reader.u64();
  const killGraceMs = reader.u32();
  const timeoutMs = reader.u32();
  const fds = readFds(reader);
  const expected = fds.length + (cwdByDescriptor ? 1 : 0);
  if (expected !== frame.fdCount) throw reader.error(`it names ${expected} descriptors, and carries ${frame.fdCount}`);
  if (terminal.kind !== 'plain' && !fds.includes(terminal.fd)) throw reader.error(`terminal ${terminal.fd} is not among the descriptors`);
  const limits = readLimits(reader);
  const argv = reader.list();
  if (argv.count === 0) throw reader.error('argv is empty');
  const program = reader.bytes();
  const env = readChanges(reader, hasCaller);
  const cwd = readDirectory(reader, cwdByDescriptor);
  reader.end();
  return {
    exact: (flags & RunFlag.EXACT) !== 0,
    detach: (flags & RunFlag.DETACH) !== 0,
    report: (flags & RunFlag.REPORT) !== 0,
    cwdByDescriptor,
    hasCaller,
    terminal,
    nice,
    umask,
    ignored,
    killGraceMs: killGraceMs === SESSION_GRACE ? undefined : killGraceMs,
    timeoutMs: timeoutMs === 0 ? undefined : timeoutMs,
    fds,
    limits,
    argv,
    program,
    env,
    cwd,
  };
}

function flagsOf(request: RunRequest): number {
  return (
    (request.exact ? RunFlag.EXACT : 0) |
    (request.detach ? RunFlag.DETACH : 0) |
    (request.cwdByDescriptor ? RunFlag.CWD_FD : 0) |
    (request.report ? RunFlag.REPORT : 0) |
    (request.hasCaller ? RunFlag.CALLER : 0)
  );
}

/** The version is judged before the rest of the body: another version may lay it out in another way. */
function checkMagic(reader: BodyReader): void {
  const magic = reader.u32();
  if (magic !== MAGIC) throw reader.error(`magic 0x${magic.toString(16)} is not 0x${MAGIC.toString(16)}`);
  const version = reader.u16();
  if (version !== VERSION) throw new ProtocolError('VERSION', `the client speaks version ${version}, this agent ${VERSION}`, version);
}

function readTerminal(reader: BodyReader): RunTerminal {
  const kind = reader.u8();
  const fd = reader.u32();
  switch (kind) {
    case TerminalKind.PLAIN:
      if (fd !== 0) throw reader.error('a terminal is named, but none is asked for');
      return { kind: 'plain' };
    case TerminalKind.HANDOVER:
      return { kind: 'handover', fd };
    case TerminalKind.PTY:
      return { kind: 'pty', fd };
    default:
      throw reader.error(`unknown terminal ${kind}`);
  }
}

function readNice(reader: BodyReader): number | undefined {
  const set = reader.u8();
  const nice = reader.i8();
  if (set > 1 || (set === 0 && nice !== 0)) throw reader.error('nice is neither set nor unset');
  if (nice < -20 || nice > 19) throw reader.error(`nice ${nice} is not within -20 to 19`);
  return set === 1 ? nice : undefined;
}

function readFds(reader: BodyReader): number[] {
  const count = reader.u16();
  if (count > MAX_FDS) throw reader.error(`it names ${count} descriptors`);
  const fds: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const fd = reader.u32();
    if (fd > MAX_INT) throw reader.error(`descriptor ${fd} cannot be`);
    if (fds.includes(fd)) throw reader.error(`descriptor ${fd} is named twice`);
    fds.push(fd);
  }
  return fds;
}

function readLimits(reader: BodyReader): RunLimit[] {
  const count = reader.u16();
  const limits: RunLimit[] = [];
  for (let i = 0; i < count; i += 1) limits.push({ resource: reader.u8(), soft: reader.u64(), hard: reader.u64() });
  return limits;
}

function readDirectory(reader: BodyReader, mayBeEmpty: boolean): Buffer {
  const directory = reader.bytes(lastDirectory);
  if (directory === lastDirectory) return directory;
  if (directory.length === 0 && mayBeEmpty) return directory;
  if (directory[0] !== SLASH) throw reader.error('the working directory is not absolute');
  lastDirectory = Buffer.from(directory);
  return lastDirectory;
}
