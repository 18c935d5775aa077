// The caller's variables as bytes, and the changes to a session's environment that a request asks for (docs/protocol.md §4,
// `env`). Only what is named here reaches a target.

import { readFileSync } from 'node:fs';

export type Bytes = Buffer | string;

/** Somebody's variables. Names and values are bytes; a string stands for its UTF-8. */
export interface Variables {
  find(name: Bytes): Bytes | undefined;
  entries(): Iterable<readonly [name: Bytes, value: Bytes]>;
}

/** The environment that this process was started with. Node's own view of it loses what is not UTF-8. */
export function initialVariables(environ: Buffer = readFileSync('/proc/self/environ')): Variables {
  // Keyed by latin1 text, which maps bytes one to one. The first of two of the same name is the one that getenv(3) finds.
  const values = new Map<string, Buffer>();
  for (let at = 0; at < environ.length; ) {
    const nul = environ.indexOf(0, at);
    const end = nul === -1 ? environ.length : nul;
    const equals = environ.indexOf(EQUALS, at + 1);
    if (equals !== -1 && equals < end) {
      const name = environ.toString('latin1', at, equals);
      if (!values.has(name)) values.set(name, environ.subarray(equals + 1, end));
    }
    at = end + 1;
  }
  return {
    find: (name) => values.get(latin1(name)),
    *entries() {
      for (const [name, value] of values) yield [Buffer.from(name, 'latin1'), value];
    },
  };
}

/** The variables of a Node program, its own changes to them included. */
export function nodeVariables(env: NodeJS.ProcessEnv = process.env): Variables {
  return {
    find: (name) => env[typeof name === 'string' ? name : name.toString()],
    *entries() {
      for (const [name, value] of Object.entries(env)) if (value !== undefined) yield [name, value];
    },
  };
}

/** All of them, for the wrapper of a session that has one; no change of what the target gets. */
export function callerEntries(caller: Variables): Buffer[] {
  const entries: Buffer[] = [];
  for (const [name, value] of caller.entries()) if (!OF_ONE_PROCESS.has(latin1(name))) entries.push(joined('~', name, '=', value));
  return entries;
}

export function setChange(name: Bytes, value: Bytes): Buffer {
  return joined('=', name, '=', value);
}

export function unsetChange(name: Bytes): Buffer {
  return joined('-', name);
}

/** Puts a directory in front of PATH; the first of several leads. */
export function prependChange(directory: Bytes): Buffer {
  return joined(':', directory);
}

/** What `docker run -e NAME` does: the caller's value, or no such variable when the caller has none. */
export function passChange(name: Bytes, caller: Variables): Buffer {
  const value = caller.find(name);
  return value === undefined ? unsetChange(name) : setChange(name, value);
}

/** Every variable of the caller: weaker than the session's own, or, for an exact environment, simply set. */
export function passAllChanges(caller: Variables, exact: boolean): Buffer[] {
  const changes: Buffer[] = [];
  for (const [name, value] of caller.entries()) {
    if (!OF_ONE_PROCESS.has(latin1(name))) changes.push(joined(exact ? '=' : '?', name, '=', value));
  }
  return changes;
}

/** Before all else, when the target sees a terminal: how to draw on it is the caller's to know, not the session's. */
export function terminalChanges(caller: Variables): Buffer[] {
  const changes: Buffer[] = [];
  for (const name of ['TERM', 'COLORTERM']) {
    const value = caller.find(name);
    if (value !== undefined) changes.push(setChange(name, value));
  }
  return changes;
}

/** A line before the names: the session's wrapper runs in the caller's environment (callerEntries). No variable has that name. */
export const CALLER_LINE = '~';

export function asksForCaller(names: Buffer): boolean {
  return names.toString('latin1', 0, CALLER_LINE.length + 1) === `${CALLER_LINE}\n`;
}

/**
 * The variables of `runtime_pass_env`, which the session has written one a line. Unlike `passChange`, a missing one is left alone; `*`
 * is all of them, weaker than the session's own.
 */
export function sessionPassChanges(names: Buffer, caller: Variables): Buffer[] {
  const changes: Buffer[] = [];
  for (const line of names.toString('latin1').split('\n')) {
    if (line === '*') changes.push(...passAllChanges(caller, false));
    const name = Buffer.from(line, 'latin1');
    const value = line === '' || line === CALLER_LINE ? undefined : caller.find(name);
    if (value !== undefined) changes.push(setChange(name, value));
  }
  return changes;
}

const EQUALS = 0x3d;

/** They describe the shell that has them, not the user. */
const OF_ONE_PROCESS: ReadonlySet<string> = new Set(['PWD', 'OLDPWD', 'SHLVL', '_']);

function latin1(text: Bytes): string {
  return Buffer.from(text).toString('latin1');
}

function joined(...parts: Bytes[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
}
