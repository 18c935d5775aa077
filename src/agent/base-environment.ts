// The environment of a target: the base that the launcher made, what the session declares on top, and the changes of one request.
// DESIGN section 4 "Environment policy". Pure. Text is latin1, one character a byte, so every byte survives.

import type { StringList } from '../protocol/strings.js';

/** Never passed on: `_` and OLDPWD speak of the launcher's shell, NOTIFY_SOCKET of the session. PWD is set for each request. */
const DROPPED = ['_', 'OLDPWD', 'NOTIFY_SOCKET'];

export type Pairs = ReadonlyArray<readonly [name: string, value: string]>;

export interface TargetEnvironment {
  count: number;
  /** `NAME=VALUE` strings, each ended by one NUL. */
  block: Buffer;
  /** The PATH that the target will have, with a final NUL; `undefined`: none. */
  path: Buffer | undefined;
}

const EMPTY = Buffer.alloc(0);

export class BaseEnvironment {
  readonly #captured: ReadonlyMap<string, string>;
  readonly #variables: Map<string, string>;
  readonly #hasPwd: boolean;
  /** Everything but PWD, ready to be copied. */
  readonly #block: Buffer;
  /** The target's before: most ask for the same in the same directory. Its bytes are only read. */
  #last: { changes: Buffer; exact: boolean; cwd: string; environment: TargetEnvironment } | undefined;

  /** @param weak host variables passed by "*", beneath the base. @param declared env, runtime_env and pass_env, above it. */
  constructor(captured: ReadonlyMap<string, string>, declared: Pairs = [], weak: Pairs = [], pathPrepend: readonly string[] = []) {
    this.#captured = captured;
    this.#variables = new Map([...weak, ...captured, ...declared]);
    this.#hasPwd = captured.has('PWD');
    for (const name of [...DROPPED, 'PWD']) if (!declared.some(([declaredName]) => declaredName === name)) this.#variables.delete(name);
    if (pathPrepend.length > 0) this.#variables.set('PATH', joinPath(pathPrepend, this.#variables.get('PATH')));
    this.#block = blockOf(this.#variables);
  }

  /** What the launcher made, before anything was declared. */
  captured(): Pairs {
    return [...this.#captured];
  }

  /** All variables but PWD, in order. */
  entries(): Pairs {
    return [...this.#variables];
  }

  /**
   * The environment of one target.
   *
   * @param changes as on the wire: `=K=V`, `-K`, `?K=V`, `:DIRECTORY`; already judged by the codec.
   * @param exact only the changes count.
   * @param cwd the target's directory, latin1: becomes PWD where the base had one and the request says nothing else.
   */
  forTarget(changes: StringList, exact: boolean, cwd: string): TargetEnvironment {
    const last = this.#last;
    if (last !== undefined && last.exact === exact && last.cwd === cwd && last.changes.equals(changes.block)) return last.environment;
    const environment = this.#make(changes, exact, cwd);
    this.#last = { changes: changes.block, exact, cwd, environment };
    return environment;
  }

  #make(changes: StringList, exact: boolean, cwd: string): TargetEnvironment {
    const own = new Map<string, string | undefined>();
    const prepended: string[] = [];
    if (!exact && this.#hasPwd && cwd !== '') own.set('PWD', cwd);
    for (const change of changes.count === 0 ? [] : changes.block.toString('latin1', 0, changes.block.length - 1).split('\0'))
      this.#apply(change, exact, own, prepended);
    if (prepended.length > 0) own.set('PATH', joinPath(prepended, this.#valueOf('PATH', exact, own)));
    const path = this.#valueOf('PATH', exact, own);
    return { ...this.#merge(exact, own), path: path === undefined ? undefined : Buffer.from(`${path}\0`, 'latin1') };
  }

  #apply(change: string, exact: boolean, own: Map<string, string | undefined>, prepended: string[]): void {
    const rest = change.slice(1);
    switch (change[0]) {
      case ':':
        prepended.push(rest);
        return;
      case '-':
        own.set(rest, undefined);
        return;
      case '~':
        return; // the caller's own, for a wrapper
      default: {
        const equals = rest.indexOf('=', 1);
        const name = rest.slice(0, equals);
        if (change[0] === '?' && this.#valueOf(name, exact, own) !== undefined) return;
        own.set(name, rest.slice(equals + 1));
      }
    }
  }

  #valueOf(name: string, exact: boolean, own: Map<string, string | undefined>): string | undefined {
    if (own.has(name)) return own.get(name);
    return exact ? undefined : this.#variables.get(name);
  }

  #merge(exact: boolean, own: Map<string, string | undefined>): { count: number; block: Buffer } {
    if (exact) return { block: blockOf(own), count: countOf(own) };
    let overlaps = false;
    for (const name of own.keys()) overlaps ||= this.#variables.has(name);
    // The usual case: nothing of the base changes, so it is copied as one block.
    if (!overlaps) return { block: Buffer.concat([this.#block, blockOf(own)]), count: this.#variables.size + countOf(own) };
    const merged = new Map<string, string | undefined>(this.#variables);
    for (const [name, value] of own) merged.set(name, value);
    return { block: blockOf(merged), count: countOf(merged) };
  }
}

function joinPath(prepended: readonly string[], path: string | undefined): string {
  return [...prepended, ...(path === undefined ? [] : [path])].join(':');
}

function countOf(variables: ReadonlyMap<string, string | undefined>): number {
  let count = 0;
  for (const value of variables.values()) if (value !== undefined) count++;
  return count;
}

function blockOf(variables: ReadonlyMap<string, string | undefined>): Buffer {
  if (variables.size === 0) return EMPTY;
  let text = '';
  for (const [name, value] of variables) if (value !== undefined) text += `${name}=${value}\0`;
  return Buffer.from(text, 'latin1');
}
