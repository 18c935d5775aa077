// An explanation for programs: text where it is UTF-8; what is not stands one character a byte, and says so (`"bytes": true`). Pure.

import { functionOf } from '../session/functions.js';
import type { Difference } from './explain-diff.js';
import type { Absence, Given, Variable } from './explanation.js';
import { textOfBytes } from './shell-bytes.js';

type Json = Readonly<Record<string, unknown>>;

export function variableJson({ name, value, from, over, entries }: Variable): Json {
  return {
    ...nameJson(name),
    ...valueJson(value),
    from,
    ...(over.length === 0 ? {} : { over: over.map(givenJson) }),
    ...(entries === undefined ? {} : { entries: entries.map(givenJson) }),
  };
}

export function absenceJson({ name, kind, why, value }: Absence): Json {
  return { [kind === 'function' ? 'function' : 'name']: textOfBytes(name).text, why, ...(value === undefined ? {} : valueJson(value)) };
}

export function differenceJson({ added, changed, removed }: Difference): Json {
  return {
    added: added.map(({ name, value, from }) => ({ ...nameJson(name), ...valueJson(value), from })),
    changed: changed.map(({ name, value, was, from, entries }) => ({
      ...nameJson(name),
      ...valueJson(value),
      was: textOfBytes(was).text,
      from,
      ...(entries === undefined ? {} : { entries: { added: entries.added.map(text), removed: entries.removed.map(text) } }),
    })),
    removed: removed.map(({ name, was }) => ({ ...nameJson(name), was: textOfBytes(was).text })),
  };
}

function text(latin1: string): string {
  return textOfBytes(latin1).text;
}

function givenJson({ value, from }: Given): Json {
  return { ...valueJson(value), from };
}

function nameJson(name: string): Json {
  const carried = functionOf(name);
  return { name: text(name), ...(carried === undefined ? {} : { function: text(carried) }) };
}

function valueJson(value: string): Json {
  const { text: shown, isText } = textOfBytes(value);
  return { value: shown, ...(isText ? {} : { bytes: true }) };
}
