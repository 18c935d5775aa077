// All presets by name, and what a session's choice of one comes to.

import { basename } from 'node:path';
import type { HoldDefinition } from '../definition.js';
import { bubblewrap } from './bubblewrap.js';
import { chroot } from './chroot.js';
import { docker } from './docker.js';
import { kubectl } from './kubectl.js';
import { nixDevelop, nixShell } from './nix.js';
import { nomad } from './nomad.js';
import { nsenter } from './nsenter.js';
import { crun, runc } from './oci.js';
import { podman } from './podman.js';
import { isOn, listOf, type OptionInfo, type Preset, type PresetChoice, type WrapperFacts } from './preset.js';
import { setpriv, sudo } from './rights.js';
import { ssh } from './ssh.js';
import { systemdRun } from './systemd-run.js';
import { unshare } from './unshare.js';

export const PRESETS: Readonly<Record<string, Preset>> = {
  chroot,
  unshare,
  bubblewrap,
  nsenter,
  docker,
  podman,
  runc,
  crun,
  'nix-develop': nixDevelop,
  'nix-shell': nixShell,
  ssh,
  kubectl,
  nomad,
  'systemd-run': systemdRun,
  sudo,
  setpriv,
};

export const PRESET_NAMES: readonly string[] = Object.keys(PRESETS);

export interface Chosen {
  readonly prefix: readonly string[];
  readonly operand: readonly string[];
  readonly facts: WrapperFacts;
  readonly hold?: HoldDefinition;
  /** See Adjusted. */
  readonly enter?: string;
}

/** @param ownPrefix in the place of the preset's: the same program by another path, or with words of its own. */
export function choosePreset(preset: Preset, choice: PresetChoice, ownPrefix?: readonly string[]): Chosen {
  const { options } = choice;
  const [program = '', ...rest] = ownPrefix ?? preset.prefix;
  const { facts = {}, operand = choice.operand, ...more } = preset.adjust?.(choice) ?? {};
  return {
    ...more,
    prefix: [program, ...optionWords(preset, options, true), ...rest, ...optionWords(preset, options, false)],
    operand: [...operand, ...(preset.tail ?? [])],
    facts: { ...preset.facts, ...facts, ...(isItself(preset, ownPrefix) ? {} : { tells: 'sign' }) },
  };
}

/** What is known of how a program works holds for that program alone, and not for another that starts it, or for options of the user's. */
function isItself({ prefix: [program] }: Preset, ownPrefix: readonly string[] | undefined): boolean {
  return ownPrefix === undefined || (ownPrefix.length === 1 && basename(ownPrefix[0] ?? '') === program);
}

/** In the order in which they were said, which matters to some; those that are on by themselves first. */
function optionWords(preset: Preset, options: PresetChoice['options'], isGlobal: boolean): string[] {
  const names = [...Object.keys(preset.options).filter((name) => !(name in options)), ...Object.keys(options)];
  return names.flatMap((name) => {
    const info = preset.options[name];
    return info === undefined || (info.isGlobal ?? false) !== isGlobal ? [] : wordsOf(info, name, options);
  });
}

function wordsOf(info: OptionInfo, name: string, options: PresetChoice['options']): readonly string[] {
  const { words } = info;
  if (words === undefined) return [];
  if (info.kind === 'switch') return isOn(options, name, info) ? words('') : [];
  return listOf(options, name).flatMap(words);
}
