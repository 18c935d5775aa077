// From settings to what a wrap session puts in front of a command, and what it holds: the preset's facts, and over them what is said.

import { HoldfastError } from '../errors.js';
import { isEntered, type Launch, type SessionDefinition } from '../session/definition.js';
import type { HoldDefinition, WrapDefinition } from '../wrap/definition.js';
import { hasPlaceholder } from '../wrap/placeholders.js';
import { findOptionLike, type PresetChoice } from '../wrap/presets/preset.js';
import { type Chosen, choosePreset, PRESETS } from '../wrap/presets/presets.js';
import type { SessionPlace } from './define.js';
import type { SessionSettings } from './settings.js';

/** @throws {HoldfastError} `USAGE` when nothing says what the prefix is, or a preset lacks something. */
export function defineWrap(
  settings: SessionSettings,
  place: SessionPlace,
  launch: Launch,
): Pick<SessionDefinition, 'wrap' | 'hold' | 'launch'> {
  const chosen = chosenOf(settings, place);
  const hold = holdOf(settings, chosen);
  const wrap = wrapOf(settings, place, chosen);
  return {
    wrap: hold === undefined ? wrap : { ...wrap, operand: withId(wrap) },
    ...(hold === undefined ? {} : { hold }),
    // What the user enters is the user's.
    launch:
      chosen?.enter === undefined || isEntered(launch)
        ? launch
        : { style: 'enter', argv: ['bash', '-c', `${chosen.enter}\nexec "$@"`, 'enter'] },
  };
}

function chosenOf(settings: SessionSettings, place: SessionPlace): Chosen | undefined {
  const { preset: name, options = {}, prefix, start } = settings;
  const preset = name === undefined ? undefined : PRESETS[name];
  if (name === undefined || preset === undefined) return undefined;
  const { count, about } = preset.operand;
  // What is started is the operand, unless its place is said.
  const operand = settings.operand ?? (start === undefined || count === 'none' || options['image'] !== undefined ? [] : ['{id}']);
  const choice: PresetChoice = {
    options,
    operand,
    directory: place.directory,
    uid: process.geteuid?.() ?? 0,
    gid: process.getegid?.() ?? 0,
  };
  const fault =
    count === 'none' && operand.length > 0
      ? { message: `preset "${name}" takes no operand`, hint: 'what it needs is in its options: see docs/config.md' }
      : count === 'one' && operand.length !== 1
        ? { message: `preset "${name}" needs one operand: ${about}`, hint: 'such as operand = ["box"], or --operand box' }
        : ((count === 'any'
            ? undefined
            : findOptionLike(
                'operand',
                operand.find((word) => word.startsWith('-')),
              )) ?? preset.findFault?.(choice));
  if (fault !== undefined) throw new HoldfastError('USAGE', `session '${place.name}': ${fault.message}`, { hint: fault.hint });
  return choosePreset(preset, choice, prefix);
}

function wrapOf(settings: SessionSettings, place: SessionPlace, chosen: Chosen | undefined): WrapDefinition {
  const prefix = chosen?.prefix ?? settings.prefix;
  if (prefix === undefined) {
    throw new HoldfastError('USAGE', `nothing says what session '${place.name}' puts in front of a command`, {
      hint: 'give it a preset, such as "docker", or a prefix, such as ["docker", "exec", "-i"]',
    });
  }
  const facts: Partial<Chosen['facts']> = chosen?.facts ?? {};
  const { kill } = settings;
  const envStyle = settings.env_style ?? facts.envStyle ?? 'inherit';
  // A preset's option belongs to its style.
  const envOption = settings.env_option ?? (settings.env_style === undefined ? facts.envOption : undefined) ?? defaultOption(envStyle);
  const cwdOption = settings.cwd_option ?? facts.cwdOption;
  const endOfOptions = settings.end_of_options ?? facts.endOfOptions;
  const commandStyle = settings.command_style ?? facts.commandStyle;
  return {
    prefix,
    operand: chosen?.operand ?? settings.operand ?? [],
    envStyle,
    ...(envOption === undefined ? {} : { envOption }),
    ...(cwdOption === undefined ? {} : { cwdOption }),
    ...(facts.startsIn === undefined || facts.tells === 'sign' ? {} : { startsIn: facts.startsIn }),
    ttyOption: settings.tty_option ?? facts.ttyOption ?? [],
    ...(endOfOptions === undefined ? {} : { endOfOptions }),
    ...(commandStyle === undefined ? {} : { commandStyle }),
    ...(facts.textOnly === undefined ? {} : { textOnly: facts.textOnly }),
    pathMap: settings.path_map ?? {},
    mapArgv: settings.map_argv ?? false,
    failureCodes: settings.failure_codes ?? facts.failureCodes ?? [],
    ...(facts.tells === undefined || facts.tells === 'sign' ? {} : { tells: facts.tells }),
    ...(facts.tells === 'status' && facts.statusOption !== undefined ? { statusOption: facts.statusOption } : {}),
    // A wrapper that hands its environment on is taken for one whose processes are its own.
    farSide: settings.far_side ?? (kill !== undefined ? 'marker' : (facts.farSide ?? (envStyle === 'inherit' ? 'local' : 'marker'))),
    ...(kill === undefined ? {} : { kill }),
  };
}

/** What the user says is held, over what the preset says. */
function holdOf({ start, stop }: SessionSettings, chosen: Chosen | undefined): HoldDefinition | undefined {
  const held = chosen?.hold;
  if (start === undefined && held === undefined) return undefined;
  return { ...held, start: start ?? held?.start ?? [], stop: stop ?? held?.stop ?? [] };
}

/** The same without a preset. */
function withId({ prefix, operand }: WrapDefinition): readonly string[] {
  const words = [...prefix, ...operand];
  const isNamed = (['name', 'id', 'pid'] as const).some((name) => hasPlaceholder(words, name));
  return isNamed || operand.length > 0 ? operand : ['{id}'];
}

function defaultOption(style: WrapDefinition['envStyle']): string | undefined {
  switch (style) {
    case 'option':
    case 'option-by-name':
      return '-e';
    case 'setenv':
      return '--setenv';
    case 'inherit':
    case 'env-command':
    case 'remote-shell':
      return undefined;
  }
}
