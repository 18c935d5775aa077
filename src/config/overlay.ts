// Settings laid over settings: flags over a file. Lists and variables are added to, all else is replaced.

import { ENTRY_KEYS } from './contradiction.js';
import type { SessionSettings } from './settings.js';

const TABLES = ['env', 'runtime_env', 'path_map'] as const;
const LISTS = ['pass_env', 'runtime_pass_env', 'launch_pass_env', 'inputs', 'volatile'] as const;

export function overlay(under: SessionSettings, over: SessionSettings): SessionSettings {
  const merged: SessionSettings = { ...under };
  // Saying what is entered replaces what was entered, however either of them says it.
  if (ENTRY_KEYS.some((key) => over[key] !== undefined)) {
    for (const key of [...ENTRY_KEYS, 'launcher_style'] as const) delete merged[key];
  }
  // Another preset has other options, and is of something else.
  if (over.preset !== undefined && over.preset !== under.preset) {
    for (const key of ['options', 'operand', 'prefix'] as const) delete merged[key];
  }
  const { options } = merged;
  Object.assign(merged, over);
  if (options !== undefined) merged.options = { ...options, ...over.options };
  for (const key of TABLES) {
    if (under[key] !== undefined && over[key] !== undefined) merged[key] = { ...under[key], ...over[key] };
  }
  for (const key of LISTS) {
    if (under[key] !== undefined && over[key] !== undefined) merged[key] = [...under[key], ...over[key]];
  }
  // The foremost directory is the one said last: on the command line.
  if (under.path_prepend !== undefined && over.path_prepend !== undefined) {
    merged.path_prepend = [...over.path_prepend, ...under.path_prepend];
  }
  return merged;
}
