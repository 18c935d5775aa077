// The schema for editors says what the checks say, and is the one that is shipped.

import { readFileSync } from 'node:fs';

import { describe, expect, it } from 'vitest';

import { findDuration } from '../../../src/config/duration.js';
import { describedKeys, jsonSchema } from '../../../src/config/json-schema.js';
import { SESSION_KEY_NAMES } from '../../../src/config/keys.js';
import { checkSettings } from '../../../src/config/schema.js';
import { findSize } from '../../../src/config/size.js';
import { PROVIDER_NAMES } from '../../../src/session/launchers/providers.js';

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const texts = describedKeys(read('docs/config.md'));
const shipped: { definitions: { session: { properties: Record<string, Record<string, unknown>> } } } = JSON.parse(
  read('dist/holdfast.schema.json'),
);
const { properties } = shipped.definitions.session;

describe('dist/holdfast.schema.json', () => {
  it("is up to date, else run 'npm run build'", () => {
    expect(shipped).toEqual(JSON.parse(JSON.stringify(jsonSchema(texts))));
  });

  it('has every key, and says of each what docs/config.md says', () => {
    expect(Object.keys(properties)).toEqual(SESSION_KEY_NAMES);
    for (const key of SESSION_KEY_NAMES) expect(properties[key]?.['description'], key).toMatch(/^[A-Z`"].{20,}\n\n--/s);
    expect(properties['pass_env']?.['description']).toContain('Taken from the caller');
  });

  it('offers the choices that are taken', () => {
    expect(properties['provider']?.['enum']).toEqual(PROVIDER_NAMES);
    for (const [key, { enum: choices }] of Object.entries(properties)) {
      if (!Array.isArray(choices)) continue;
      for (const choice of choices) expect(checkSettings({ [key]: choice }), `${key} = ${choice}`).toHaveProperty('settings');
    }
  });

  it('takes the durations and sizes that are taken', () => {
    const pattern = (key: string): RegExp => new RegExp(String(properties[key]?.['pattern']));
    for (const text of ['never', '90', '1.5', '500ms', '1h30m', '2.5s', '1d', '', '1 h', 'h', '1x', '-1s', '1h30', '1m1m']) {
      expect(pattern('idle_timeout').test(text), text).toBe(findDuration(text) !== undefined);
      expect(pattern('open_timeout').test(text), text).toBe(typeof findDuration(text) === 'number');
    }
    for (const text of ['0', '4096', '64M', '1G', '2K', '', '1k', '1.5M', 'M', '-1', '1T']) {
      expect(pattern('job_output_limit').test(text), text).toBe(findSize(text) !== undefined);
    }
  });

  it('has bounds where there are bounds', () => {
    expect(properties['max_queue']).toMatchObject({ type: 'integer', minimum: 0, maximum: 1_000_000 });
    expect(properties['launcher']).toMatchObject({ type: 'array', items: { type: 'string' }, minItems: 1 });
    expect(properties['env']).toMatchObject({ type: 'object', additionalProperties: { type: 'string' } });
  });
});
