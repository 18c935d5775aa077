// The agent's watch over what its environment was made of. A command must not run in an environment that is out of date, so each
// request looks: by stat(2), and by content only where that has moved. No inotify, whose news may come after the request.

import { statSync } from 'node:fs';

import { closeFd } from '../native/descriptors.js';
import { findMoved, newStamps, openDirectory } from '../native/files.js';
import { type Change, findChange, findReplacement, isSettledByEntry } from '../session/freshness.js';
import { hashOf, pathsIn } from '../session/input-hash.js';
import type { InputHash, Place } from '../session/record.js';
import type { AgentSettings } from './settings.js';

/** Of the session's record: as they were before the entry. */
type Watched = Pick<AgentSettings, 'inputs' | 'sources' | 'place'>;

const NONE: readonly Change[] = [];

export class Freshness {
  /** As they were when the environment had been entered. */
  readonly inputs: readonly InputHash[];
  /** The rest of what is looked at: no part of what the environment is. With what the environment itself told. */
  readonly sources: readonly InputHash[];
  readonly #all: readonly InputHash[];
  readonly #place: Place | undefined;
  /** By the number of an input; the place is behind the last one. */
  readonly #found: (Change | undefined)[] = [];
  #changes: readonly Change[] = NONE;
  /** What is looked at, the place last, and to which input each belongs: one that is a directory is many paths. */
  #paths: Buffer = Buffer.alloc(0);
  #owners: readonly number[] = [];
  #stamps: BigInt64Array = newStamps(0);
  #moved: Int32Array = new Int32Array(0);

  /** @param told what the environment itself says that it depends on; absolute paths. */
  constructor({ inputs, sources, place }: Watched, told: readonly string[] = []) {
    const known = new Set([...inputs, ...sources].map(({ path }) => path));
    const news = [...new Set(told)].filter((path) => !known.has(path));
    this.inputs = inputs.map((input) => (isSettledByEntry(input) ? { ...input, sha256: hashOf(input.path) } : input));
    this.sources = [...sources, ...news.map((path) => ({ path, sha256: hashOf(path) }))];
    this.#all = [...this.inputs, ...this.sources];
    this.#place = place;
    if (place !== undefined) holdPlace(place);
    this.#listPaths();
    this.#judge(this.#owners);
  }

  /** What is not as it was when the environment was entered. The same array as before, as long as nothing else has come. */
  look(): readonly Change[] {
    if (this.#moved.length === 0) return NONE;
    const count = this.#renew();
    if (count > 0) this.#lookAt(Array.from(this.#moved.subarray(0, count), (path) => this.#owners[path] ?? 0));
    return this.#changes;
  }

  /** Whether the directory that the session belongs to is not there any more: nobody will ask for the session again. */
  get isDeserted(): boolean {
    return this.#place !== undefined && this.look().some(({ path, how }) => path === this.#place?.path && how !== 'changed');
  }

  #lookAt(owners: readonly number[]): void {
    if (!owners.some((owner) => this.#isTree(owner))) {
      this.#judge(owners);
      return;
    }
    // What has come into a directory is to be looked at from now on. That swallows what else has moved meanwhile: all are judged.
    this.#listPaths();
    this.#judge(this.#owners);
  }

  #judge(owners: readonly number[]): void {
    for (const owner of new Set(owners)) this.#found[owner] = this.#changeOf(owner);
    const changes = this.#found.filter((change) => change !== undefined);
    if (!isSameList(changes, this.#changes)) this.#changes = changes;
  }

  #changeOf(owner: number): Change | undefined {
    const input = this.#all[owner];
    if (input !== undefined) return findChange(input);
    return this.#place === undefined ? undefined : findReplacement(this.#place);
  }

  #isTree(owner: number): boolean {
    const input = this.#all[owner];
    if (input === undefined) return false;
    const first = this.#owners.indexOf(owner);
    return this.#owners[first + 1] === owner || (statSync(input.path, { throwIfNoEntry: false })?.isDirectory() ?? false);
  }

  /** Stamps first, content afterwards: what changes in between is seen at the next look. */
  #listPaths(): void {
    const listed = this.#all.map(({ path }) => pathsIn(path));
    if (this.#place !== undefined) listed.push([this.#place.path]);
    this.#owners = listed.flatMap((paths, owner) => paths.map(() => owner));
    this.#paths = Buffer.from(listed.flatMap((paths) => paths.map((path) => `${path}\0`)).join(''));
    this.#stamps = newStamps(this.#owners.length);
    this.#moved = new Int32Array(this.#owners.length);
    this.#renew();
  }

  #renew(): number {
    return findMoved(this.#paths, this.#place === undefined ? 0 : 1, this.#stamps, this.#moved);
  }
}

/** Held open for as long as we live, so that its inode is given to no other directory. */
function holdPlace(place: Place): void {
  try {
    const fd = openDirectory(place.path);
    if (findReplacement(place) !== undefined) closeFd(fd);
  } catch {
    // It is gone already, which the first look tells.
  }
}

function isSameList(a: readonly Change[], b: readonly Change[]): boolean {
  return a.length === b.length && a.every((change, i) => change.path === b[i]?.path && change.how === b[i]?.how);
}
