// By what a session's environment is told from another one: pinned by something that cannot change unnoticed, or asserted by
// somebody's word. It changes nothing; it says how far a fingerprint can be trusted. Pure.

import type { SessionDefinition } from './definition.js';
import type { InputHash, SessionRecord } from './record.js';

export type Identity =
  /** `by`: a lock file, an image's digest, a path of the nix store. */
  | { readonly kind: 'pinned'; readonly by: string }
  /** `by`: the session's `identity`, or what there is instead. */
  | { readonly kind: 'asserted'; readonly by: string };

const DIGEST = /sha256:[0-9a-f]{64}\b/;
const STORE_PATH = /\/nix\/store\/[0-9a-z]{32}-[^/:\s]+/;
const LOCK_FILE = /(^|[./-])lock(\.\w+)?$/;

/**
 * The user's own word comes first: who gives one has a reason.
 *
 * @param inputs as they are in the session's record; a lock file that is not there pins nothing.
 * @param held what the session holds, by its own word: the digest of an image.
 */
export function identityOf(definition: SessionDefinition, inputs: readonly InputHash[], held?: string): Identity {
  if (definition.identity !== undefined) return { kind: 'asserted', by: definition.identity };
  if (held !== undefined) return { kind: 'pinned', by: DIGEST.test(held) ? `image ${held}` : held };
  const { wrap, hold, launch } = definition;
  const words = wordsOf([wrap, hold, launch]);
  const digest = findIn(words, DIGEST);
  if (digest !== undefined) return { kind: 'pinned', by: `image ${digest}` };
  const lock = inputs.find(({ path, sha256 }) => sha256 !== null && LOCK_FILE.test(path));
  if (lock !== undefined && wrap === undefined) return { kind: 'pinned', by: `lock file ${relativeTo(definition.directory, lock.path)}` };
  const store = findIn(words, STORE_PATH);
  if (store !== undefined) return { kind: 'pinned', by: `store path ${store}` };
  if (definition.mode === 'host') return { kind: 'asserted', by: 'the host as it is' };
  return { kind: 'asserted', by: 'its definition alone' };
}

/** Of an open session. */
export function identityOfRecord({ definition, inputs, held }: Pick<SessionRecord, 'definition' | 'inputs' | 'held'>): Identity {
  return identityOf(definition, inputs, held?.identity);
}

/** For people: `pinned by lock file flake.lock`. */
export function formatIdentity({ kind, by }: Identity): string {
  return `${kind} by ${by}`;
}

/** A path as seen from the session's directory, where it lies in it. */
export function relativeTo(directory: string, path: string): string {
  if (path === directory) return '.';
  const home = directory.endsWith('/') ? directory : `${directory}/`;
  return path.startsWith(home) ? path.slice(home.length) : path;
}

function wordsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(wordsOf) : [];
}

function findIn(words: readonly string[], pattern: RegExp): string | undefined {
  for (const word of words) {
    const found = pattern.exec(word)?.[0];
    if (found !== undefined) return found;
  }
  return undefined;
}
