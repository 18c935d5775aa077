// Whether the options that are given to a preset are its own, each of the right kind. What they add up to is the preset's to judge.

import type { OptionInfo, OptionValue } from '../wrap/presets/preset.js';
import { PRESETS } from '../wrap/presets/presets.js';
import type { Contradiction } from './contradiction.js';
import { findNearest } from './nearest.js';
import type { SessionSettings } from './settings.js';

export function findOptionFault({ preset: name, options }: SessionSettings): Contradiction | undefined {
  if (options === undefined) return undefined;
  const preset = name === undefined ? undefined : PRESETS[name];
  if (preset === undefined)
    return { key: 'options', message: "'options' has no meaning without 'preset'", hint: 'they are those of a preset' };
  for (const [key, value] of Object.entries(options)) {
    const info = preset.options[key];
    const known = Object.keys(preset.options);
    if (info === undefined) {
      const nearest = findNearest(key, known);
      const hint = nearest === undefined ? `its options are ${known.join(', ')}` : `did you mean '${nearest}'?`;
      return { key: 'options', message: `preset "${name}" has no option '${key}'`, hint };
    }
    if (!isOfKind(info, value))
      return { key: 'options', message: `option '${key}' of preset "${name}" must be ${KINDS[info.kind]}`, hint: info.about };
  }
  return undefined;
}

const KINDS: Readonly<Record<OptionInfo['kind'], string>> = {
  text: 'text in quotes',
  list: 'a list of text in quotes, such as ["a", "b"]',
  switch: 'true or false',
};

function isOfKind({ kind }: OptionInfo, value: OptionValue): boolean {
  switch (kind) {
    case 'text':
      return typeof value === 'string';
    case 'list':
      return typeof value !== 'boolean';
    case 'switch':
      return typeof value === 'boolean' || value === 'true' || value === 'false';
  }
}
