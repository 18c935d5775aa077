// Mode "snapshot": the variables of an environment that was entered once and left again. From the cache where there is one with the
// same key, else by entering, which one process does however many ask. DESIGN section 1 "snapshot".

import { HoldfastError } from '../errors.js';
import { type Entry, enterAndLeave } from './entry.js';
import { findChange, isSettledByEntry } from './freshness.js';
import { hostEnvironment } from './host-environment.js';
import { hashOf } from './input-hash.js';
import { isBashLauncher } from './launch-command.js';
import type { BytePairs } from './record.js';
import { CacheUnusable, SnapshotCache } from './snapshot-cache.js';
import { divideEnviron, type Snapshot, type SnapshotFacts } from './snapshot-file.js';
import { isOfOneLogin, snapshotKey } from './snapshot-key.js';
import { toldInputs } from './told-inputs.js';

/** The snapshot for a session that is being opened, complete with what is this login's own. @throws {HoldfastError} as `enterAndLeave`; `BUSY`. */
export async function takeSnapshot(entry: Entry): Promise<Snapshot> {
  const { definition } = entry.record;
  const source = sourceOf(entry);
  let cache: SnapshotCache | undefined;
  try {
    cache = SnapshotCache.make();
    return withLogin(load(cache, source) ?? (await makeOnce(cache, entry, source)), entry);
  } catch (error) {
    if (!(error instanceof CacheUnusable)) throw error;
    entry.options.warn?.(`the snapshot of session '${definition.name}' is not kept: ${error.message}`);
    return withLogin(await make(entry, source), entry);
  } finally {
    cache?.close();
  }
}

type Source = ReturnType<typeof snapshotKey>;

function sourceOf({ record: { definition, declared }, environment: launched }: Entry): Source {
  const caller = isBashLauncher(definition.launch, definition.directory) ? hostEnvironment() : undefined;
  return snapshotKey({ definition, declared, launched, caller });
}

function load(cache: SnapshotCache, { key }: Source): Snapshot | undefined {
  const snapshot = cache.load(key);
  return snapshot?.facts.inputs.every((input) => findChange(input) === undefined) ? snapshot : undefined;
}

async function makeOnce(cache: SnapshotCache, entry: Entry, source: Source): Promise<Snapshot> {
  const { definition } = entry.record;
  const { progress, signal } = entry.options;
  const startedAt = performance.now();
  const lock = await cache.lock(source.key, definition.openTimeoutMs, () => {
    if (signal?.aborted) throw new HoldfastError('LAUNCH_INTERRUPTED', `opening session '${definition.name}' was interrupted`);
    progress?.('another process enters the same environment', performance.now() - startedAt, 'waiting');
  });
  if (lock === undefined) {
    throw new HoldfastError('BUSY', `the environment of session '${definition.name}' is still being entered by another process`, {
      hint: 'try again later',
    });
  }
  try {
    // Who held the lock before has made it.
    const made = load(cache, source);
    if (made !== undefined) return made;
    const snapshot = await make(entry, source);
    const after = settled(source, sourceOf(entry));
    if (after === undefined) return snapshot;
    const kept = { ...snapshot, facts: withSource(snapshot.facts, after) };
    keep(cache, kept, entry);
    cache.prune();
    return kept;
  } finally {
    lock.releaseAndRemove();
  }
}

/**
 * The source under which a snapshot is kept once the environment has been entered: entering may itself have written a lock file.
 * `undefined`: somebody changed an input meanwhile, so it is not known which of the two the environment was made of.
 */
function settled(before: Source, after: Source): Source | undefined {
  if (before.key === after.key) return before;
  const then = new Map(before.inputs.map(({ path, sha256 }) => [path, sha256]));
  const changed = after.inputs.filter(({ path, sha256 }) => then.get(path) !== sha256);
  return changed.length > 0 && changed.every(isSettledByEntry) ? after : undefined;
}

/** What the environment itself told stands behind what was in the key. */
function withSource(facts: SnapshotFacts, { key, inputs }: Source): SnapshotFacts {
  return { ...facts, key, inputs: [...inputs, ...facts.inputs.slice(inputs.length)] };
}

/** That it cannot be kept is no reason to enter again. */
function keep(cache: SnapshotCache, snapshot: Snapshot, { record, options }: Entry): void {
  try {
    cache.store(snapshot);
  } catch (error) {
    if (!(error instanceof CacheUnusable)) throw error;
    options.warn?.(`the snapshot of session '${record.definition.name}' is not kept: ${error.message}`);
  }
}

async function make(entry: Entry, { key, inputs }: Source): Promise<Snapshot> {
  const { definition } = entry.record;
  const { launch } = definition;
  const startedAt = performance.now();
  const { variables, functions } = divideEnviron(await enterAndLeave(entry, launch));
  const known = new Set(inputs.map(({ path }) => path));
  const told = toldInputs(new Map(variables)).filter((path) => !known.has(path));
  return {
    facts: {
      key,
      name: definition.name,
      directory: definition.directory,
      launcher: launch.style === 'source' ? ['source', launch.script] : launch.argv,
      takenAt: Date.now(),
      entryMs: Math.round(performance.now() - startedAt),
      inputs: [...inputs, ...told.map((path) => ({ path, sha256: hashOf(path) }))],
      functions,
      withheld: [...entry.environment.keys()].filter((name) => isOfOneLogin(name, definition.volatile) && !has(variables, name)),
    },
    variables: variables.filter(([name, value]) => !isOfOneLogin(name, definition.volatile) || entry.environment.get(name) !== value),
  };
}

/** What of one login the launcher left as it was, as it is now. */
function withLogin({ facts, variables }: Snapshot, entry: Entry): Snapshot {
  const { volatile } = entry.record.definition;
  const own = [...entry.environment].filter(
    ([name]) => isOfOneLogin(name, volatile) && !has(variables, name) && !facts.withheld.includes(name),
  );
  return { facts, variables: [...variables, ...own] };
}

function has(variables: BytePairs, name: string): boolean {
  return variables.some(([each]) => each === name);
}
