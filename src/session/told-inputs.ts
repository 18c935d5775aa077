// What an environment itself says that it depends on, once it has been entered. Pure.

import { inflateSync } from 'node:zlib';

import * as v from 'valibot';

/** More is nobody's list of files. */
const MAX_BYTES = 4 * 1024 * 1024;

/** direnv writes the names with capitals, and newer versions without. */
const WATCHES = v.array(
  v.union([
    v.pipe(
      v.object({ Path: v.string() }),
      v.transform(({ Path }) => Path),
    ),
    v.pipe(
      v.object({ path: v.string() }),
      v.transform(({ path }) => path),
    ),
  ]),
);

/**
 * The files that direnv watches: the .envrc with all that it sources or names by watch_file, and the allowance to load it.
 *
 * @param variables latin1, a character a byte, as captured.
 * @returns absolute paths; none where the environment is not direnv's, or its list cannot be read.
 */
export function toldInputs(variables: ReadonlyMap<string, string>): string[] {
  const watches = variables.get('DIRENV_WATCHES');
  if (watches === undefined) return [];
  try {
    const text = inflateSync(Buffer.from(watches, 'base64url'), { maxOutputLength: MAX_BYTES }).toString('utf8');
    return v.parse(WATCHES, JSON.parse(text)).filter((path) => path.startsWith('/'));
  } catch {
    return [];
  }
}
