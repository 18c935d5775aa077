// What a program may say of a session that it opens, and the definition that comes of it: the keys of holdfast.toml in the spelling of
// JavaScript (`idle_timeout = "1h"` is `idleTimeoutMs: 3_600_000`), checked by the same schema.

import { createHash, randomBytes } from 'node:crypto';
import { resolve } from 'node:path';

import { workingDirectory } from '../client/directory.js';
import { HoldfastError } from '../errors.js';
import { canonical, type SessionDefinition } from '../session/definition.js';
import type { ExecSession } from '../session/exec-session.js';
import type { OpenOptions } from '../session/open.js';
import { chooseSession } from './choose.js';
import { findContradiction, type WRAP_KEYS } from './contradiction.js';
import { defineSession } from './define.js';
import { MAX_DURATION_MS } from './duration.js';
import { withAbsolutePaths } from './file.js';
import { checkSettings } from './schema.js';
import type { SessionSettings } from './settings.js';

/** How long a session lives, and who opens it. */
interface LifeOptions {
  /** Made up when absent. A session of that name that is open already, with the same definition, is used, and not closed by `teardown`. */
  readonly name?: string | undefined;
  /** The launcher's working directory; this process's when absent. */
  readonly cwd?: string | undefined;
  /** From TERM to KILL for commands that are ended. */
  readonly killGraceMs?: number | undefined;
  /** Commands that run at the same time; 0, and when absent: no limit. */
  readonly maxConcurrent?: number | undefined;
  /** Commands that wait for their turn; one more is refused with `BUSY`. */
  readonly maxQueue?: number | undefined;
  /** Closes it when nothing has run for so long; `null`, and when absent: never, since it closes with this program. */
  readonly idleTimeoutMs?: number | null | undefined;
  readonly openTimeoutMs?: number | undefined;
  readonly containment?: SessionSettings['containment'] | undefined;
  /** The launcher's last line of output, several times a second while it lasts. */
  readonly progress?: OpenOptions['progress'] | undefined;
  /** Ends the opening, and everything that it started. */
  readonly signal?: AbortSignal | undefined;
}

/** What commands find beyond the environment. docs/config.md has each key, and which is stronger. */
interface EnvironmentOptions {
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly runtimeEnv?: Readonly<Record<string, string>> | undefined;
  readonly passEnv?: readonly string[] | undefined;
  readonly runtimePassEnv?: readonly string[] | undefined;
  readonly launchPassEnv?: readonly string[] | undefined;
  readonly pathPrepend?: readonly string[] | undefined;
  /** Which shell functions come along. */
  readonly functions?: 'all' | 'none' | readonly string[] | undefined;
  /** Files whose content makes the environment. */
  readonly inputs?: readonly string[] | undefined;
  readonly onStale?: SessionSettings['on_stale'] | undefined;
  /** Your own name for what the environment is; `caps.identity` is then asserted by it. */
  readonly identity?: string | undefined;
  /** Variables that are no part of the fingerprint. */
  readonly volatile?: readonly string[] | undefined;
  /** Opened inside that session: its launcher is a command there. It ends with that session at the latest. */
  readonly on?: ExecSession | undefined;
}

/** Keys that say what is entered: exactly one of them, but in mode host, which enters nothing. */
type EntryKey = 'launcher' | 'launcherStyle' | 'source' | 'sourceCommand' | 'provider' | 'config' | 'project';
type Without<Keys extends string> = { readonly [Key in Keys]?: undefined };

type Camel<Key extends string> = Key extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : Key;
type WrapKeys = { readonly [Key in (typeof WRAP_KEYS)[number] as Camel<Key>]?: Readonly<SessionSettings[Key]> | undefined };
type Entered = EnvironmentOptions & { readonly mode?: 'session' | 'snapshot' | undefined } & Without<keyof WrapKeys>;

/** No environment: commands run as this process's children would, only cheaper. */
type HostOptions = LifeOptions & { readonly mode: 'host' } & Without<keyof EnvironmentOptions | keyof WrapKeys | EntryKey>;
type LauncherOptions = LifeOptions &
  Entered & {
    /** A command that runs the words appended to it: `['devenv', 'shell', '--']`. */
    readonly launcher: readonly string[];
    /** `'string'`: they are appended as one shell-quoted word, as `nix-shell --run` wants it. */
    readonly launcherStyle?: 'words' | 'string' | undefined;
  } & Without<Exclude<EntryKey, 'launcher' | 'launcherStyle'>>;
/** A bash script to source. */
type SourceOptions = LifeOptions & Entered & { readonly source: string } & Without<Exclude<EntryKey, 'source'>>;
/** A command that prints bash code. */
type SourceCommandOptions = LifeOptions &
  Entered & { readonly sourceCommand: readonly string[] } & Without<Exclude<EntryKey, 'sourceCommand'>>;
/** A tool that Holdfast knows: `'nix-develop'`, `'direnv'`, … */
type ProviderOptions = LifeOptions & Entered & { readonly provider: string } & Without<Exclude<EntryKey, 'provider'>>;
/** What `holdfast open` would enter in that directory. */
type ProjectOptions = LifeOptions & { readonly project: string } & Without<
    keyof EnvironmentOptions | keyof WrapKeys | Exclude<EntryKey, 'project'> | 'mode' | 'cwd'
  >;
/** A holdfast.toml: its `[session]`, or the one of `[sessions]` that `session` names. */
type ConfigOptions = LifeOptions & { readonly config: string; readonly session?: string | undefined } & Without<
    keyof EnvironmentOptions | keyof WrapKeys | Exclude<EntryKey, 'config'> | 'mode' | 'cwd'
  >;
/** What the wrapper itself runs in, where that is not this program's own environment. */
interface WrapEntry {
  readonly launcher?: readonly string[] | undefined;
  readonly launcherStyle?: 'words' | 'string' | undefined;
  readonly source?: string | undefined;
  readonly sourceCommand?: readonly string[] | undefined;
  readonly provider?: string | undefined;
}
/** A prefix creates each process: chroot, bwrap, docker exec, ssh …; said whole, or by the name of a preset. */
type WrapOptions = LifeOptions &
  EnvironmentOptions & { readonly mode: 'wrap' } & WrapKeys &
  ({ readonly prefix: readonly string[] } | { readonly preset: string }) &
  WrapEntry &
  Without<'config' | 'project'>;

/** What `openSession` opens. Exactly one way to enter it, or the type checker objects. */
export type OpenSessionOptions =
  | HostOptions
  | LauncherOptions
  | SourceOptions
  | SourceCommandOptions
  | ProviderOptions
  | ProjectOptions
  | ConfigOptions
  | WrapOptions;

const NOT_SETTINGS: ReadonlySet<string> = new Set(['name', 'cwd', 'progress', 'signal', 'on', 'config', 'project', 'session']);

/** @throws {HoldfastError} `USAGE`, `CONFIG_INVALID`, `CONFIG_UNREADABLE`, `NO_PROJECT`, `NO_SESSION`. */
export function definitionOf(options: OpenSessionOptions): SessionDefinition {
  checkTexts({ ...options });
  const directory = options.cwd?.startsWith('/') ? resolve(options.cwd) : resolve(workingDirectory(), options.cwd ?? '.');
  const said = settingsOf(options, directory);
  // It closes with its program, so there is no other reason to.
  const settings: SessionSettings = 'idle_timeout' in said ? said : { ...said, idle_timeout: null };
  const name = options.name ?? inventName();
  if (options.config !== undefined || options.project !== undefined) {
    const session = 'session' in options ? options.session : undefined;
    // A runner.json holds one session without a name, which has no name of its own to fall back on.
    const asked = session ?? (options.config?.endsWith('.json') ? name : undefined);
    return { ...chooseSession({ name: asked, config: options.config, project: options.project, settings }), name };
  }
  const contradiction = findContradiction(settings);
  if (contradiction !== undefined) throw new HoldfastError('USAGE', contradiction.message, { hint: contradiction.hint });
  return defineSession(settings, { name, directory, isProject: false });
}

/**
 * A key for a pool: the same for options that open the same environment, whatever they call it. Reads what the options name (a
 * holdfast.toml, a project).
 *
 * @throws {HoldfastError} as `openSession`, before anything is entered.
 */
export function sessionKey(options: OpenSessionOptions): string {
  const { name: _, ...definition } = definitionOf({ ...options, name: 'key' });
  const base = options.on?.name ?? '';
  return createHash('sha256')
    .update(`${base}\0${canonical(definition)}`)
    .digest('hex');
}

/** Those of `NOT_SETTINGS` that are text, which no schema is asked about. */
function checkTexts({ name, cwd, config, project, session }: Readonly<Record<string, unknown>>): void {
  for (const [key, value] of Object.entries({ name, cwd, config, project, session })) {
    if (value === undefined || value === null || typeof value === 'string') continue;
    throw new HoldfastError('USAGE', `option '${key}' must be text, not ${JSON.stringify(value)}`);
  }
}

function settingsOf(options: OpenSessionOptions, directory: string): SessionSettings {
  const input: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(options)) {
    if (value === undefined || NOT_SETTINGS.has(key)) continue;
    // A file says "500ms", a program 500.
    if (key.endsWith('Ms')) input[snakeOf(key.slice(0, -2))] = durationOf(key, value);
    else input[snakeOf(key)] = value;
  }
  const checked = checkSettings(input);
  if ('settings' in checked) return withAbsolutePaths(checked.settings, directory);
  const [fault] = checked.faults;
  const key = camelOf(fault?.path[0] ?? '');
  if (fault?.unknownKey === true) throw new HoldfastError('USAGE', `unknown option '${key}'`, { hint: 'docs/library.md lists them' });
  throw new HoldfastError('USAGE', `option '${key}' must be ${fault?.expected}, not ${JSON.stringify(fault?.received)}`);
}

function durationOf(key: string, ms: unknown): string {
  const isIdle = key === 'idleTimeoutMs';
  if (ms === null && isIdle) return 'never';
  if (typeof ms === 'number' && Number.isInteger(ms) && ms >= (isIdle ? 1 : 0) && ms <= MAX_DURATION_MS) return `${ms}ms`;
  throw new HoldfastError(
    'USAGE',
    `option '${key}' must be ${isIdle ? 'null or above 0, ' : ''}a whole number of milliseconds, not ${JSON.stringify(ms)}`,
  );
}

/** So many sessions a program may open that only chance keeps the names of two programs apart. */
function inventName(): string {
  return `lib-${process.pid}-${randomBytes(6).toString('hex')}`;
}

function snakeOf(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function camelOf(key: string): string {
  return key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
