// The interface that a program sees of a session, whatever its mode: a transformation of commands, and a way to run them from
// within. DESIGN section 7; docs/library.md shows each part at work.

import type { RunHandle, RunOptions } from '../client/run-handle.js';
import type { StdioOption } from '../client/stdio.js';
import type { HoldfastError } from '../errors.js';
import type { Outcome } from '../protocol/outcome.js';
import type { SessionDefinition } from './definition.js';
import type { Identity } from './identity.js';
import type { SessionFingerprint } from './session-fingerprint.js';

export type SessionMode = SessionDefinition['mode'];

/** A command as any spawner takes it. */
export interface CommandSpec {
  /** With a slash: relative to `cwd`. Without: looked up on the PATH that the command will have. */
  readonly program: string;
  readonly args?: readonly string[] | undefined;
  /** On top of the session's environment, and stronger; `undefined` takes a variable out. In mode host: all that there is, as for child_process. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** This process's working directory when absent; a relative one is taken from there. */
  readonly cwd?: string | undefined;
}

/** The same shape, for `child_process.spawn(program, args, { env, cwd })` and its like. */
export interface PreparedCommand extends CommandSpec {
  readonly program: string;
  readonly args: string[];
  readonly env: Record<string, string>;
  readonly cwd: string;
}

/** What a session can do. */
export interface SessionCaps {
  /** A command can have a terminal. */
  readonly pty: boolean;
  /** Commands that run at the same time; further ones wait in the session's queue. `undefined`: no limit. */
  readonly maxConcurrent: number | undefined;
  /** By what this environment is told from another: pinned by a lock file or a digest, or asserted by somebody's word. */
  readonly identity: Identity;
}

/** What a session is, for people and logs. Holds no value of a variable. */
export interface SessionDescription {
  readonly name: string;
  readonly mode: SessionMode;
  /** Absolute: where its launcher was started. */
  readonly directory: string;
  /** The words that enter it, or that are put in front of a command; empty in mode host. */
  readonly entry: readonly string[];
  /** Absolute path of its socket. */
  readonly socket: string;
  /** Process id of its agent. */
  readonly agentPid: number;
  /** It closes with this program, and by `teardown`. False for one that somebody else opened. */
  readonly owned: boolean;
  /** The session that it was opened on top of. */
  readonly base?: SessionDescription;
}

/** A held environment. Made by `openSession` or `attachSession`. */
export interface ExecSession {
  readonly name: string;
  readonly mode: SessionMode;
  readonly caps: SessionCaps;
  /**
   * The command that runs `spec` in the session: hand it to any spawner. In mode host it is `spec` itself; else it is `runner-exec`, with
   * the variables of `spec` in its own environment and only their names among its words. Pure: asks nobody, starts nothing.
   *
   * @throws {HoldfastError} `REQUEST_INVALID` for what no program can be given, `NO_SESSION` after `teardown`.
   */
  prepare(spec: CommandSpec): PreparedCommand;
  /** Runs a command from within this process. Returns at once and never throws: what goes wrong is told by the handle. */
  run<const S extends StdioOption = 'pipe'>(options: RunOptions<S>): RunHandle<S>;
  /**
   * The variables that a command has without asking; what is not UTF-8 in them is lost. Resolves with `undefined` where they cannot be
   * known, as behind a wrapper that makes the process elsewhere.
   *
   * @throws {HoldfastError} `NO_SESSION`, `SESSION_LOST`, `AGENT_FROZEN`.
   */
  baseEnv(): Promise<Readonly<Record<string, string>> | undefined>;
  describe(): SessionDescription;
  /**
   * Enters the environment again where a file that it was made of has changed, once nothing runs in it any more; resolves with whether it
   * was. `run` does so by itself where `onStale` is `'reopen'`; a prepared command cannot, since the session is this program's.
   *
   * @throws {HoldfastError} as `openSession`; `UNSUPPORTED` while other sessions lie on top of it.
   */
  refresh(): Promise<boolean>;
  /** One value for what commands find here, to be part of the key of what they make. @throws {HoldfastError} as `baseEnv`. */
  fingerprint(): Promise<SessionFingerprint>;
  /**
   * Our failure, where an outcome is no ending of the command's own: not found (on which PATH, and who supplied that), deadline,
   * session lost. `undefined` for `exited` and `signaled`.
   *
   * @param spec the command, for the words of the message.
   */
  failureOf(outcome: Outcome, spec: Pick<RunOptions, 'program' | 'env' | 'pathPrepend' | 'exact'>): HoldfastError | undefined;
  /**
   * Ends what runs in the session, and the session; resolves when nothing of it is left. A session that somebody else opened is left
   * as it is. Later calls give the same promise.
   *
   * @throws {HoldfastError} `BUSY`, `NOT_PERMITTED`, `RUNTIME_DIR`.
   */
  teardown(): Promise<void>;
  /** `await using session = …` */
  [Symbol.asyncDispose](): Promise<void>;
}
