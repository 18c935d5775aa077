// Whether what an environment was made of is as it was when it was entered: the content of its inputs, and for a project, that its
// directory is still the same one. Here: what is recorded, and what a change is. Who looks, and when: src/agent/freshness.ts.

import { statSync } from 'node:fs';
import { resolve } from 'node:path';

import type { SessionDefinition } from './definition.js';
import { type ContentHash, hashOf } from './input-hash.js';
import type { InputHash, Place, SessionRecord } from './record.js';

/** `changed`: its content. `replaced`: another directory of the same name. */
export interface Change {
  readonly path: string;
  readonly how: 'changed' | 'new' | 'gone' | 'replaced';
}

/** A missing input is recorded as missing: when it comes, the session is stale. */
export function hashInputs(definition: Pick<SessionDefinition, 'directory' | 'inputs'>): InputHash[] {
  const paths = new Set(definition.inputs.map((input) => resolve(definition.directory, input)));
  return [...paths].map((path) => ({ path, sha256: hashOf(path) }));
}

/** Which directory it is. `undefined`: there is none. */
export function findPlaceOf(path: string): Place | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat?.isDirectory() ? { path, identity: `${stat.dev}:${stat.ino}` } : undefined;
}

/** An input that entering may itself write: what counts is how it is when the environment has been entered. */
export function isSettledByEntry({ path }: Pick<InputHash, 'path'>): boolean {
  return path.endsWith('.lock');
}

/** `undefined`: it is as it was. */
export function findChange(input: InputHash, sha256: ContentHash = hashOf(input.path)): Change | undefined {
  if (sha256 === input.sha256) return undefined;
  return { path: input.path, how: sha256 === null ? 'gone' : input.sha256 === null ? 'new' : 'changed' };
}

/** `undefined`: it is the same directory. */
export function findReplacement(place: Place): Change | undefined {
  const now = findPlaceOf(place.path);
  if (now?.identity === place.identity) return undefined;
  return { path: place.path, how: now === undefined ? 'gone' : 'replaced' };
}

/** All that the record tells, for where no agent is to be asked. */
export function findChanges(record: Pick<SessionRecord, 'inputs' | 'sources' | 'place'>): Change[] {
  const place = record.place === undefined ? undefined : findReplacement(record.place);
  return [...[...record.inputs, ...(record.sources ?? [])].map((input) => findChange(input)), place].filter(
    (change) => change !== undefined,
  );
}

const SHOWN_CHANGES = 3;

/** One clause: `'a' changed, 'b' is gone and 2 more`. Empty for no change. */
export function changesText(changes: readonly Change[]): string {
  const shown = changes.slice(0, SHOWN_CHANGES).map(changeText).join(', ');
  return changes.length <= SHOWN_CHANGES ? shown : `${shown} and ${changes.length - SHOWN_CHANGES} more`;
}

function changeText({ path, how }: Change): string {
  switch (how) {
    case 'changed':
      return `'${path}' changed`;
    case 'new':
      return `'${path}' is new`;
    case 'gone':
      return `'${path}' is gone`;
    case 'replaced':
      return `'${path}' is another directory now`;
  }
}
