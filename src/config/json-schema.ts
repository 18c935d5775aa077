// The schema of holdfast.toml for editors (dist/holdfast.schema.json): made from what schema.ts checks and from what keys.ts and
// docs/config.md say, so that none of it is said twice. Pure; scripts/build.mjs writes the file.

import { flagOf, type KeyInfo, SESSION_KEYS } from './keys.js';
import { KEY_SCHEMAS } from './schema.js';

export type JsonSchema = Readonly<Record<string, unknown>>;

/** @param texts what each key means, in words. @throws Error for a key without one, or for a check that it cannot express. */
export function jsonSchema(texts: ReadonlyMap<string, string>): JsonSchema {
  const schemas = new Map(Object.entries(KEY_SCHEMAS));
  const properties = Object.entries<KeyInfo>(SESSION_KEYS).map(([key, info]): [string, JsonSchema] => {
    const text = texts.get(key);
    if (text === undefined) throw new Error(`'${key}' is not described`);
    const description = `${text}\n\n${flagOf(key)} of 'holdfast open': ${info.about}.`;
    return [key, { description, ...valueSchema(schemas.get(key)?.wrapped) }];
  });
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'holdfast.toml',
    type: 'object',
    additionalProperties: false,
    properties: {
      session: { description: 'The session of this directory.', $ref: '#/definitions/session' },
      sessions: {
        description: 'Sessions by name: [sessions.NAME].',
        type: 'object',
        additionalProperties: { $ref: '#/definitions/session' },
      },
    },
    definitions: { session: { type: 'object', additionalProperties: false, properties: Object.fromEntries(properties) } },
  };
}

/** What is between the bars of the tables that list keys, the fourth cell, without the marks of Markdown. */
export function describedKeys(markdown: string): Map<string, string> {
  const texts = new Map<string, string>();
  for (const line of markdown.split('\n')) {
    const cells = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
    const key = /^`([a-z_]+)`$/.exec(cells[1] ?? '')?.[1];
    if (cells.length !== 6 || key === undefined || !Object.hasOwn(SESSION_KEYS, key)) continue;
    const plain = (cells[4] ?? '')
      .replace(/\[([^\]]+)\]\([^)]*\)/g, '$1')
      .replaceAll('`', '')
      .replaceAll('\\|', '|');
    texts.set(key, plain);
  }
  return texts;
}

/** A schema of valibot's as JSON schema. It is an object like any other at run time; its kinds are those that schema.ts uses. */
function valueSchema(schema: unknown): JsonSchema {
  const { type, pipe } = fieldsOf(schema);
  const actions = (Array.isArray(pipe) ? pipe : []).slice(1).map(fieldsOf);
  const stated = actions.map(({ metadata }) => metadata).find((metadata) => metadata !== undefined);
  // What is read by a function of ours is described where the function is used.
  if (stated !== undefined) return fieldsOf(fieldsOf(stated)['json']);
  return { ...typeSchema(fieldsOf(schema)), ...boundsOf(actions, type) };
}

function typeSchema(fields: JsonSchema): JsonSchema {
  const { type, options, item } = fields;
  switch (type) {
    case 'picklist':
      return { enum: options };
    case 'array':
      return { type: 'array', items: valueSchema(item) };
    case 'string':
    case 'number':
    case 'boolean':
      return { type };
    default:
      throw new Error(`json-schema.ts cannot express '${String(type)}': give it v.metadata({ json: … }) in schema.ts`);
  }
}

function boundsOf(actions: readonly JsonSchema[], type: unknown): JsonSchema {
  let bounds: JsonSchema = {};
  for (const { type: action, requirement } of actions) {
    if (action === 'min_length') bounds = { ...bounds, [type === 'array' ? 'minItems' : 'minLength']: requirement };
    else if (action === 'min_value') bounds = { ...bounds, minimum: requirement };
    else if (action === 'max_value') bounds = { ...bounds, maximum: requirement };
    else if (action === 'integer') bounds = { ...bounds, type: 'integer' };
    // A check is a function: an editor goes without.
  }
  return bounds;
}

function fieldsOf(value: unknown): JsonSchema {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}
