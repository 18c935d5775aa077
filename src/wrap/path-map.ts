// Directories of the host that have other paths inside. Pure.

export type PathMap = Readonly<Record<string, string>>;

/** The path inside; the one of the longest directory that holds it wins, and what none holds stays as it is. */
export function mapPath(map: PathMap, path: string): string {
  let best: string | undefined;
  for (const host of Object.keys(map)) if (isWithin(host, path) && (best === undefined || host.length > best.length)) best = host;
  const inside = best === undefined ? undefined : map[best];
  if (best === undefined || inside === undefined) return path;
  const rest = path.slice(trimmed(best).length);
  return rest === '' || rest === '/' ? inside : `${trimmed(inside)}${rest}`;
}

/** A word of a command: a path, or one behind the first `=`, as in `--prefix=/src`. */
export function mapWord(map: PathMap, word: string): string {
  if (word.startsWith('/')) return mapPath(map, word);
  const equals = word.indexOf('=');
  return equals === -1 || word[equals + 1] !== '/' ? word : word.slice(0, equals + 1) + mapPath(map, word.slice(equals + 1));
}

function isWithin(directory: string, path: string): boolean {
  const base = trimmed(directory);
  return path === base || path.startsWith(`${base}/`);
}

/** Without the slashes at its end: the root is empty. */
function trimmed(directory: string): string {
  return directory.replace(/\/+$/, '');
}
