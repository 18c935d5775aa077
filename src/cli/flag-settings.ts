// The values of setting flags, checked by the schema that checks holdfast.toml.

import { flagOf, type KeyInfo, SESSION_KEYS } from '../config/keys.js';
import { findNearestChoice } from '../config/nearest.js';
import { checkSettings, type Fault } from '../config/schema.js';
import type { SessionSettings } from '../config/settings.js';
import { HoldfastError } from '../errors.js';

/**
 * The settings that the flags say, relative paths still as typed.
 *
 * @param options what commander collected; options that are no key of a session are passed over.
 * @throws {HoldfastError} `USAGE`.
 */
export function settingsFromFlags(options: Readonly<Record<string, unknown>>, launcher: readonly string[]): SessionSettings {
  const raw: Record<string, unknown> = {};
  for (const [key, info] of Object.entries<KeyInfo>(SESSION_KEYS)) {
    const given = options[attributeOf(key)];
    if (given !== undefined) raw[key] = readFlag(key, info, given);
  }
  const single = options['option'];
  if (Array.isArray(single))
    raw['options'] = gathered([...(Array.isArray(options['options']) ? options['options'] : []), ...single].map(String));
  const inputs = options['input'];
  if (Array.isArray(inputs)) raw['inputs'] = [...(Array.isArray(raw['inputs']) ? raw['inputs'] : []), ...inputs];
  if (launcher.length > 0) {
    if (raw['launcher'] !== undefined)
      throw new HoldfastError('USAGE', "both '--launcher' and words after '--' are given", { hint: 'keep one' });
    raw['launcher'] = launcher;
  }
  const checked = checkSettings(raw);
  if ('settings' in checked) return checked.settings;
  const fault = checked.faults[0];
  if (fault === undefined) throw new Error('a failed check without a fault');
  throw badFlag(fault);
}

function readFlag(key: string, info: KeyInfo, given: unknown): unknown {
  // What is no number is left as it is: the schema's message says what was expected.
  if (info.flag === 'count') return asNumber(given);
  if (info.flag === 'counts' && Array.isArray(given)) return given.map(asNumber);
  // The one key that is a word or a list: a sole "all" or "none" is the word.
  if (key === 'functions' && Array.isArray(given) && given.length === 1 && ['all', 'none'].includes(String(given[0]))) return given[0];
  if (info.flag === 'gathered' && Array.isArray(given)) return gathered(given.map(String));
  if (info.flag !== 'pairs' || !Array.isArray(given)) return given;
  const entries = given.map((pair): [string, string] => {
    const text = String(pair);
    const equals = text.indexOf('=');
    if (equals <= 0) {
      throw new HoldfastError('USAGE', `'${flagOf(key)} ${text}' is not K=V`, {
        hint: `write ${flagOf(key)} ${text === '' || equals === 0 ? 'NAME' : text}=VALUE; --pass-env NAME takes the value that NAME has now`,
      });
    }
    return [text.slice(0, equals), text.slice(equals + 1)];
  });
  return Object.fromEntries(entries);
}

/** `a=1 b=2 b=3 c` → { a: '1', b: ['2', '3'], c: true }. */
function gathered(given: readonly string[]): Record<string, string | string[] | true> {
  const values = new Map<string, string | string[] | true>();
  for (const text of given) {
    const equals = text.indexOf('=');
    const key = equals === -1 ? text : text.slice(0, equals);
    const before = values.get(key);
    const value = equals === -1 ? true : text.slice(equals + 1);
    if (before === undefined || before === true || value === true) values.set(key, value);
    else values.set(key, typeof before === 'string' ? [before, value] : [...before, value]);
  }
  return Object.fromEntries(values);
}

function asNumber(given: unknown): unknown {
  return typeof given === 'string' && /^\d+$/.test(given) ? Number(given) : given;
}

function badFlag(fault: Fault): HoldfastError {
  const flag = flagOf(fault.path[0] ?? '');
  const received = typeof fault.received === 'object' ? undefined : String(fault.received);
  const nearest = received === undefined ? undefined : findNearestChoice(fault.expected, received);
  const got = received === undefined ? '' : `, not '${received}'`;
  return new HoldfastError('USAGE', `'${flag}' must be ${fault.expected.replace(' in quotes', '')}${got}`, {
    hint: nearest === undefined ? "'holdfast open --help' describes each flag" : `did you mean '${nearest}'?`,
  });
}

/** The name under which commander keeps an option: `idle_timeout` → `idleTimeout`. */
function attributeOf(key: string): string {
  return key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
