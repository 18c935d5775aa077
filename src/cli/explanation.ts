// What a command gets in its environment, variable by variable, and who gave each: the layers of DESIGN section 4 laid over one
// another as src/agent/base-environment.ts lays them, with the reasons kept. Pure. Text is latin1, one character a byte.

import type { Change } from './runner-exec-request.js';

/** Who gave a value; in the order of strength. */
export type Source =
  | "pass_env '*'"
  /** The launcher was started with it, and left it as it was. In mode "host": there is no launcher. */
  | 'host'
  | 'environment'
  | 'env'
  | 'runtime_env'
  | 'pass_env'
  | 'path_prepend'
  /** PWD: where the command runs. */
  | 'directory'
  | Change['from'];

export interface Given {
  readonly from: Source;
  readonly value: string;
}

export interface Variable extends Given {
  readonly name: string;
  /** Weaker ones that gave it another value, the strongest first. */
  readonly over: readonly Given[];
  /** Of PATH alone: each directory, and who put it there. */
  readonly entries?: readonly Given[];
}

/** Why what there was does not reach the command. */
export type Reason =
  /** Of the launcher's shell or of the session, and never passed on. */
  | 'internal'
  /** By `--unset`, or by `--pass-env` of what the caller lacks. */
  | 'unset'
  /** Functions: `functions` leaves it out, or mode "snapshot" holds none. */
  | 'filtered'
  | 'snapshot'
  | 'lost-directory'
  /** The request is `--exact`. */
  | 'exact'
  /** The caller's, who neither the launcher was shown nor a command is passed. */
  | 'scrubbed';

export interface Absence {
  readonly name: string;
  readonly kind: 'variable' | 'function';
  readonly why: Reason;
  /** Of a variable of the caller's. */
  readonly value?: string;
}

export interface Explanation {
  /** Sorted by name. */
  readonly variables: readonly Variable[];
  readonly absent: readonly Absence[];
}

type Pairs = Iterable<readonly [name: string, value: string]>;

export interface Layers {
  readonly weak: Pairs;
  readonly captured: Pairs;
  /** What the launcher was started with. */
  readonly launched: ReadonlyMap<string, string>;
  readonly declared: Iterable<readonly [name: string, value: string, from: Source]>;
  readonly pathPrepend: readonly string[];
  /** As the agent tells it. */
  readonly absent: readonly Absence[];
  /** Of one request. */
  readonly changes: readonly Pick<Change, 'bytes' | 'from'>[];
  readonly exact: boolean;
  /** Where it runs; empty: not known by name. */
  readonly directory: string;
  /** Variables of whoever asks, to say which of them are not passed. */
  readonly caller: ReadonlyMap<string, string>;
}

/** As `BaseEnvironment` drops them. */
const INTERNAL = ['_', 'OLDPWD', 'NOTIFY_SOCKET', 'PWD'];

export function explain(layers: Layers): Explanation {
  const stacks = new Map<string, Given[]>();
  const absent = new Map<string, Absence>();
  const give = (name: string, given: Given): void => {
    stacks.set(name, [given, ...(stacks.get(name) ?? [])]);
  };
  layBase(layers, give);
  dropInternal(layers, stacks, absent);
  const path = stacks.get('PATH');
  if (layers.pathPrepend.length > 0) give('PATH', { from: 'path_prepend', value: joined(layers.pathPrepend, path?.[0]?.value) });
  if (layers.exact) {
    for (const name of stacks.keys()) absent.set(name, { name, kind: 'variable', why: 'exact' });
    stacks.clear();
  } else if (hasPwd(layers) && layers.directory !== '') give('PWD', { from: 'directory', value: layers.directory });
  const prepended = layRequest(layers, stacks, absent, give);
  const variables = [...stacks].map(([name, given]) => variableOf(name, given, layers, prepended));
  for (const { name } of variables) absent.delete(name);
  return {
    variables: variables.sort((a, b) => order(a.name, b.name)),
    absent: [
      ...layers.absent.filter(({ kind, name }) => kind === 'function' || !stacks.has(name)),
      ...absent.values(),
      ...scrubbed(layers, stacks),
    ].sort((a, b) => order(a.name, b.name)),
  };
}

function layBase({ weak, captured, launched, declared }: Layers, give: (name: string, given: Given) => void): void {
  for (const [name, value] of weak) give(name, { from: "pass_env '*'", value });
  for (const [name, value] of captured) give(name, { from: launched.get(name) === value ? 'host' : 'environment', value });
  for (const [name, value, from] of declared) give(name, { from, value });
}

function dropInternal({ declared }: Layers, stacks: Map<string, Given[]>, absent: Map<string, Absence>): void {
  const declaredNames = new Set([...declared].map(([name]) => name));
  for (const name of INTERNAL) {
    if (declaredNames.has(name) || !stacks.delete(name)) continue;
    absent.set(name, { name, kind: 'variable', why: 'internal' });
  }
}

function hasPwd({ captured }: Layers): boolean {
  for (const [name] of captured) if (name === 'PWD') return true;
  return false;
}

/** The changes of the request, in their order. @returns directories that it puts in front of PATH. */
function layRequest(
  { changes }: Layers,
  stacks: Map<string, Given[]>,
  absent: Map<string, Absence>,
  give: (name: string, given: Given) => void,
): readonly string[] {
  const prepended: string[] = [];
  for (const { bytes, from } of changes) {
    const text = bytes.toString('latin1');
    const equals = text.indexOf('=', 2);
    const name = text[0] === '-' ? text.slice(1) : text.slice(1, equals);
    switch (text[0]) {
      case ':':
        prepended.push(text.slice(1));
        break;
      case '-':
        if (stacks.delete(name)) absent.set(name, { name, kind: 'variable', why: 'unset' });
        break;
      case '?':
        if (!stacks.has(name)) give(name, { from, value: text.slice(equals + 1) });
        break;
      case '=':
        give(name, { from, value: text.slice(equals + 1) });
        break;
    }
  }
  const before = stacks.get('PATH')?.[0]?.value;
  if (prepended.length > 0) give('PATH', { from: '--path-prepend', value: joined(prepended, before) });
  return prepended;
}

function variableOf(name: string, given: readonly Given[], layers: Layers, prepended: readonly string[]): Variable {
  const [top, ...rest] = given;
  if (top === undefined) throw new Error(`nobody gave '${name}'`);
  // One that gave the same value was not overruled.
  const over = rest.filter((weaker, i) => weaker.value !== top.value && rest.findIndex(({ value }) => value === weaker.value) === i);
  if (name !== 'PATH') return { name, ...top, over };
  return { name, ...top, over, entries: entriesOf(given, layers, prepended) };
}

/** Directories that were put in front belong to who put them there; the rest to who gave the list. */
function entriesOf(given: readonly Given[], layers: Layers, prepended: readonly string[]): Given[] {
  const entries: Given[] = [];
  for (const { from, value } of given) {
    if (from === '--path-prepend' || from === 'path_prepend') {
      const own = from === 'path_prepend' ? layers.pathPrepend : prepended;
      entries.push(...own.flatMap((part) => part.split(':')).map((part) => ({ from, value: part })));
      continue;
    }
    const hosts = new Set(layers.launched.get('PATH')?.split(':') ?? []);
    const ownerOf = (part: string): Source => (from === 'environment' && hosts.has(part) ? 'host' : from);
    return [...entries, ...value.split(':').map((part) => ({ from: ownerOf(part), value: part }))];
  }
  return entries;
}

/** What the caller has, and neither the launcher nor the command was given. */
function scrubbed({ caller, launched, weak }: Layers, stacks: ReadonlyMap<string, unknown>): Absence[] {
  const passed = new Set([...weak].map(([name]) => name));
  return [...caller]
    .filter(([name]) => !stacks.has(name) && !launched.has(name) && !passed.has(name) && !INTERNAL.includes(name) && name !== 'SHLVL')
    .map(([name, value]) => ({ name, kind: 'variable', why: 'scrubbed', value }));
}

function joined(directories: readonly string[], path: string | undefined): string {
  return [...directories, ...(path === undefined ? [] : [path])].join(':');
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
