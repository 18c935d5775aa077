// The variables of a command whose base environment is elsewhere, in a container or on another host: only what is to be changed
// there is known. DESIGN section 4 "Environment policy". Pure; text is latin1, one character a byte.

export type Pairs = ReadonlyArray<readonly [name: string, value: string]>;

/** What the session itself says. */
export interface DeclaredEnvironment {
  /** env, runtime_env and pass_env by name. */
  readonly declared: Pairs;
  /** Host variables passed by "*": only where the inside has none. */
  readonly weak: Pairs;
  readonly pathPrepend: readonly string[];
}

export interface InsideEnvironment {
  /** Nothing else is to be there. */
  readonly exact: boolean;
  readonly set: ReadonlyMap<string, string>;
  readonly unset: readonly string[];
  /** Where the inside has none of that name. */
  readonly weak: ReadonlyMap<string, string>;
  /** In front of the PATH that the inside has; empty where `set` says all of PATH. */
  readonly pathPrepend: readonly string[];
}

/**
 * @param changes as on the wire: `=K=V`, `-K`, `?K=V`, `:DIRECTORY`; others are passed over.
 * @param pathInside where a directory of the host is, inside.
 */
export function insideEnvironment(
  session: DeclaredEnvironment,
  changes: Iterable<string>,
  exact: boolean,
  pathInside: (path: string) => string = (path) => path,
): InsideEnvironment {
  const own = new Map<string, string | undefined>(exact ? [] : session.declared);
  const weak = new Map<string, string>(exact ? [] : session.weak);
  const prepended: string[] = [];
  for (const change of changes) {
    const rest = change.slice(1);
    const equals = rest.indexOf('=', 1);
    if (change[0] === ':') prepended.push(pathInside(rest));
    else if (change[0] === '-') own.set(rest, undefined);
    else if (change[0] === '=') own.set(rest.slice(0, equals), rest.slice(equals + 1));
    else if (change[0] === '?') weak.set(rest.slice(0, equals), rest.slice(equals + 1));
  }
  if (!exact) prepended.push(...session.pathPrepend.map(pathInside));
  const path = own.get('PATH');
  const isPathKnown = path !== undefined || exact || own.has('PATH');
  if (isPathKnown && prepended.length > 0) own.set('PATH', [...prepended, ...(path === undefined ? [] : [path])].join(':'));
  const set = new Map<string, string>();
  const unset: string[] = [];
  for (const [name, value] of own) {
    if (value !== undefined) set.set(name, value);
    else if (!exact) unset.push(name);
    weak.delete(name);
  }
  return { exact, set, unset, weak: exact ? new Map() : weak, pathPrepend: isPathKnown ? [] : prepended };
}
