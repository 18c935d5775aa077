// docs/config.md, the list of keys and the schema say the same.

import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { flagOf, type KeyInfo, SESSION_KEY_NAMES, SESSION_KEYS } from '../../../src/config/keys.js';
import { checkSettings } from '../../../src/config/schema.js';
import { PROVIDER_NAMES, providerInputs } from '../../../src/session/launchers/providers.js';

const documentation = readFileSync(new URL('../../../docs/config.md', import.meta.url), 'utf8');
/** The tables that list keys have four columns; those of flags and variables have two. */
const rows = documentation
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .filter((cells) => cells.length === 6 && /^`[a-z_]+`$/.test(cells[1] ?? '') && !PROVIDER_NAMES.includes((cells[1] ?? '').slice(1, -1)))
  .map((cells) => ({ key: (cells[1] ?? '').replaceAll('`', ''), fallback: (cells[3] ?? '').replace(/["`]/g, '') }));

describe('the keys of a session', () => {
  it('are those that docs/config.md lists', () => {
    expect(rows.map((row) => row.key).sort()).toEqual([...SESSION_KEY_NAMES].sort());
  });

  it('are those that the schema knows', () => {
    for (const key of SESSION_KEY_NAMES) {
      const checked = checkSettings({ [key]: Symbol('no value that any key takes') });
      expect(checked, key).toMatchObject({ faults: [{ path: [key], unknownKey: false }] });
    }
  });

  it.each(Object.entries<KeyInfo>(SESSION_KEYS))('have the default that docs/config.md gives: %s', (key, info) => {
    const stated = rows.find((row) => row.key === key)?.fallback ?? '';
    if (info.fallback === '') expect(stated).toBe('');
    else expect(stated).toContain(info.fallback.split(' ')[0]);
  });

  it('have flags of the same name', () => {
    expect(flagOf('runtime_pass_env')).toBe('--runtime-pass-env');
  });
});

describe('the providers', () => {
  const listed = documentation
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter((cells) => cells.length === 6 && PROVIDER_NAMES.includes(cells[1]?.replaceAll('`', '') ?? ''))
    .map((cells) => ({ name: (cells[1] ?? '').replaceAll('`', ''), inputs: cells[4] ?? '' }));

  it('are those that docs/config.md lists', () => {
    expect(listed.map(({ name }) => name)).toEqual([...PROVIDER_NAMES]);
  });

  it('have the inputs that docs/config.md lists', () => {
    for (const { name, inputs } of listed) {
      if (inputs === 'the same') continue;
      expect(
        providerInputs(name)
          .map((input) => `\`${input}\``)
          .join(' '),
        name,
      ).toBe(inputs);
    }
  });
});
