// Settings that are each right and cannot be together. Checked in a file, and again once flags are laid over it.

import { PRESETS } from '../wrap/presets/presets.js';
import { findOptionFault } from './preset-options.js';
import type { SessionSettings } from './settings.js';

export interface Contradiction {
  /** The key to point at: the later of the two. */
  readonly key: keyof SessionSettings;
  readonly message: string;
  readonly hint: string;
}

/** Each says what environment is entered. */
export const ENTRY_KEYS = ['launcher', 'source', 'source_command', 'provider'] as const;
/** Only for mode "wrap". */
export const WRAP_KEYS = [
  'preset',
  'options',
  'prefix',
  'operand',
  'env_style',
  'env_option',
  'cwd_option',
  'tty_option',
  'end_of_options',
  'command_style',
  'path_map',
  'map_argv',
  'failure_codes',
  'far_side',
  'kill',
  'start',
  'stop',
] as const;

export type SessionMode = NonNullable<SessionSettings['mode']>;

/** The mode said, or what the other settings make plain: a prefix or a preset is only for wrap. */
export function modeOf(settings: SessionSettings): SessionMode {
  return settings.mode ?? (settings.prefix === undefined && settings.preset === undefined ? 'session' : 'wrap');
}

/** The first contradiction in `settings`; what is merely absent is none. */
export function findContradiction(settings: SessionSettings): Contradiction | undefined {
  const mode = modeOf(settings);
  const entries = ENTRY_KEYS.filter((key) => settings[key] !== undefined);
  const [first, second] = entries;
  if (first !== undefined && second !== undefined) {
    return { key: second, message: `'${first}' and '${second}' both say what is entered`, hint: `keep one of ${ENTRY_KEYS.join(', ')}` };
  }
  // With mode "wrap" the wrapper is run inside of what is entered.
  if (first !== undefined && mode === 'host') {
    return { key: first, message: `'${first}' has no meaning with mode "host"`, hint: 'mode "host" is no environment at all' };
  }
  if (mode !== 'wrap') {
    const wrapKey = WRAP_KEYS.find((key) => settings[key] !== undefined);
    if (wrapKey !== undefined) {
      return { key: wrapKey, message: `'${wrapKey}' has no meaning with mode "${mode}"`, hint: 'it belongs to mode = "wrap"' };
    }
  }
  if (settings.launcher_style !== undefined && first !== undefined && first !== 'launcher') {
    return { key: 'launcher_style', message: `'launcher_style' has no meaning with '${first}'`, hint: 'it belongs to launcher' };
  }
  if (settings.kill !== undefined && settings.far_side !== undefined && settings.far_side !== 'marker') {
    const message = `'kill' has no meaning with far_side "${settings.far_side}"`;
    return { key: 'kill', message, hint: 'it is how what carries the marker is ended: far_side = "marker"' };
  }
  if (settings.map_argv === true && settings.path_map === undefined) {
    return {
      key: 'map_argv',
      message: "'map_argv' has no meaning without 'path_map'",
      hint: 'path_map says which directory is where inside',
    };
  }
  const fault = findOptionFault(settings);
  if (fault !== undefined) return fault;
  if (settings.stop !== undefined && settings.start === undefined && settings.preset === undefined) {
    return { key: 'stop', message: "'stop' has no meaning without 'start'", hint: 'it ends what start has made' };
  }
  const { env_style: style = settings.preset === undefined ? undefined : PRESETS[settings.preset]?.facts.envStyle } = settings;
  if (settings.env_option !== undefined && style !== 'option' && style !== 'option-by-name' && style !== 'setenv') {
    const message = `'env_option' has no meaning with env_style "${style ?? 'inherit'}"`;
    return { key: 'env_option', message, hint: 'it belongs to env_style "option", "option-by-name" or "setenv"' };
  }
  return undefined;
}
