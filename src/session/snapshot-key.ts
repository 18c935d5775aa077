// The key of a snapshot: everything that may change what entering gives. Two sessions with the same key share a snapshot; what is
// not in the key must not be able to change the captured variables. Pure but for reading the files that it hashes.

import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { resolve } from 'node:path';

import type { Launch, SessionDefinition } from './definition.js';
import { hashInputs } from './freshness.js';
import { bytesOf } from './host-environment.js';
import type { BytePairs, InputHash } from './record.js';
import { SNAPSHOT_VERSION } from './snapshot-file.js';
import { VOLATILE_NAMES } from './volatile.js';

/** A word of a launcher that names a larger file is a program, whose version its path tells. */
const MAX_SCRIPT_BYTES = 1024 * 1024;

/**
 * They speak of one terminal or login. A snapshot holds none that the launcher left as it was, and every opening puts in its own,
 * so they need not be in the key.
 */
const OF_ONE_LOGIN = /^(TERM|COLORTERM|XDG_(SESSION_(ID|TYPE|CLASS|DESKTOP|PATH)|VTNR|SEAT|SEAT_PATH|ACTIVATION_TOKEN))$/;
/** Of the caller's own environment, which a bash launcher can read: they speak of the window or shell in which it was typed. */
const OF_ONE_SHELL = ['shell', 'terminal', 'service'].flatMap((kind) => VOLATILE_NAMES[kind] ?? []);
/** How the entry itself is made: the installation's own paths. */
const OF_THE_ENTRY = /^(HOLDFAST_LAUNCH|HOLDFAST_USER_BASH_ENV)$/;

export interface SnapshotSources {
  readonly definition: Pick<SessionDefinition, 'directory' | 'launch' | 'inputs' | 'volatile'>;
  /** `env`, `runtime_env` and what `pass_env` named. */
  readonly declared: BytePairs;
  /** What the launcher is started with. */
  readonly launched: ReadonlyMap<string, string>;
  /** Given where the launcher can read all of it: it is a bash script (share/launcher-env.sh). */
  readonly caller: ReadonlyMap<string, string> | undefined;
}

/** @returns 64 hex digits, and the content of the files that are part of it. */
export function snapshotKey({ definition, declared, launched, caller }: SnapshotSources): { key: string; inputs: InputHash[] } {
  const { directory, launch, volatile } = definition;
  const isLasting = (name: string): boolean => !isOfOneLogin(name, volatile);
  const inputs = hashInputs({ directory, inputs: [...definition.inputs, ...scriptsOf(launch, directory)] });
  const parts = {
    version: SNAPSHOT_VERSION,
    uid: process.geteuid?.() ?? 0,
    directory,
    launch,
    inputs: [...inputs].sort((a, b) => (a.path < b.path ? -1 : 1)),
    declared: sorted(declared, isLasting),
    launched: sorted(launched, (name) => isLasting(name) && !OF_THE_ENTRY.test(name) && name !== 'BASH_ENV'),
    bashEnv: launched.get('HOLDFAST_USER_BASH_ENV') ?? null,
    caller: caller === undefined ? null : sorted(caller, (name) => isLasting(name) && !isNamed(name, OF_ONE_SHELL)),
  };
  return { key: createHash('sha256').update(JSON.stringify(parts)).digest('hex'), inputs };
}

/** Whether a variable is that of one terminal or login, or declared `volatile`: no part of a key. @param name latin1. */
export function isOfOneLogin(name: string, volatile: readonly string[]): boolean {
  return OF_ONE_LOGIN.test(name) || isNamed(name, volatile.map(bytesOf));
}

/** A final `*` stands for any ending. */
function isNamed(name: string, names: readonly string[]): boolean {
  return names.some((each) => (each.endsWith('*') ? name.startsWith(each.slice(0, -1)) : name === each));
}

/** Words that name a file, seen from the launcher's directory: `bash ./enter.sh` depends on what is in it. */
export function scriptsOf(launch: Launch, directory: string): string[] {
  const words = launch.style === 'source' ? [launch.script] : launch.argv;
  return words.filter((word) => word !== '' && isScript(resolve(directory, word)));
}

function isScript(path: string): boolean {
  try {
    const stat = statSync(path);
    return stat.isFile() && stat.size <= MAX_SCRIPT_BYTES;
  } catch {
    // Most words are no path at all.
    return false;
  }
}

function sorted(variables: Iterable<readonly [string, string]>, isMeant: (name: string) => boolean): BytePairs {
  return [...variables].filter(([name]) => isMeant(name)).sort(([a], [b]) => (a < b ? -1 : 1));
}
