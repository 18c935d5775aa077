// From settings to a whole definition: how it is entered, and every default.

import { accessSync, constants, statSync } from 'node:fs';

import { HoldfastError } from '../errors.js';
import { DEFINITION_DEFAULTS, type Launch, NO_LAUNCHER, type SessionDefinition } from '../session/definition.js';
import { enterProvider } from '../session/launchers/providers.js';
import { ENTRY_KEYS, modeOf } from './contradiction.js';
import { defineWrap } from './define-wrap.js';
import type { SessionSettings } from './settings.js';

export interface SessionPlace {
  readonly name: string;
  /** Absolute: the launcher's working directory. */
  readonly directory: string;
  readonly isProject: boolean;
}

/** @throws {HoldfastError} `USAGE` when nothing says what is entered; `CONFIG_UNREADABLE` for a script that cannot be read. */
export function defineSession(settings: SessionSettings, place: SessionPlace): SessionDefinition {
  const mode = modeOf(settings);
  const { launch, inputs } = entryOf(settings, place);
  const wrapped = mode === 'wrap' ? defineWrap(settings, place, launch) : undefined;
  return {
    name: place.name,
    mode,
    directory: place.directory,
    launch,
    env: settings.env ?? DEFINITION_DEFAULTS.env,
    runtimeEnv: settings.runtime_env ?? DEFINITION_DEFAULTS.runtimeEnv,
    passEnv: settings.pass_env ?? DEFINITION_DEFAULTS.passEnv,
    runtimePassEnv: settings.runtime_pass_env ?? DEFINITION_DEFAULTS.runtimePassEnv,
    launchPassEnv: settings.launch_pass_env ?? DEFINITION_DEFAULTS.launchPassEnv,
    pathPrepend: settings.path_prepend ?? DEFINITION_DEFAULTS.pathPrepend,
    functions: settings.functions ?? DEFINITION_DEFAULTS.functions,
    inputs: settings.inputs ?? inputs,
    onStale: settings.on_stale ?? (place.isProject ? 'reopen' : DEFINITION_DEFAULTS.onStale),
    idleTimeoutMs: settings.idle_timeout === undefined ? DEFINITION_DEFAULTS.idleTimeoutMs : settings.idle_timeout,
    openTimeoutMs: settings.open_timeout ?? DEFINITION_DEFAULTS.openTimeoutMs,
    killGraceMs: settings.kill_grace ?? DEFINITION_DEFAULTS.killGraceMs,
    maxConcurrent: settings.max_concurrent ?? DEFINITION_DEFAULTS.maxConcurrent,
    maxQueue: settings.max_queue ?? DEFINITION_DEFAULTS.maxQueue,
    jobOutputLimitBytes: settings.job_output_limit ?? DEFINITION_DEFAULTS.jobOutputLimitBytes,
    containment: settings.containment ?? DEFINITION_DEFAULTS.containment,
    ...(settings.identity === undefined ? {} : { identity: settings.identity }),
    volatile: settings.volatile ?? DEFINITION_DEFAULTS.volatile,
    // Its launch, where it has one, in the place of ours.
    ...wrapped,
  };
}

/** How it is entered, and the files that this is known to depend on. */
function entryOf(settings: SessionSettings, place: SessionPlace): { launch: Launch; inputs: readonly string[] } {
  const { launcher, source, source_command: sourceCommand, provider } = settings;
  if (launcher !== undefined) {
    const style = settings.launcher_style === 'string' ? 'enter-string' : 'enter';
    return { launch: { style, argv: launcher }, inputs: [] };
  }
  if (source !== undefined) {
    refuseUnreadable(source);
    return { launch: { style: 'source', script: source }, inputs: [source] };
  }
  if (sourceCommand !== undefined) return { launch: { style: 'source-command', argv: sourceCommand }, inputs: [] };
  if (provider !== undefined) return enterProvider(provider, place.directory);
  const mode = modeOf(settings);
  if (mode === 'host' || mode === 'wrap') return { launch: NO_LAUNCHER, inputs: [] };
  throw new HoldfastError('USAGE', `nothing says what session '${place.name}' enters`, {
    hint: `name its launcher after '--', or give one of ${ENTRY_KEYS.join(', ')}`,
  });
}

/** bash would say it in the log; here it is said at once. */
function refuseUnreadable(script: string): void {
  try {
    accessSync(script, constants.R_OK);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace(/, access.*$/, '') : String(cause);
    throw new HoldfastError('CONFIG_UNREADABLE', `cannot read the script '${script}': ${reason}`, {
      hint: 'source names a bash script',
      cause,
    });
  }
  const stat = statSync(script);
  // bash would take nothing from a directory and go on; and a pipe can be read once, while a session is entered again.
  if (stat.isFile() || stat.isCharacterDevice()) return;
  throw new HoldfastError('CONFIG_UNREADABLE', `cannot read the script '${script}': it is no regular file`, {
    hint: 'source names a bash script',
  });
}
