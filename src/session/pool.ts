// Sessions that many parts of a program share: one of each key, opened when it is first asked for, closed when nobody uses it any more
// and that is asked for. What an unexpected end of the program means for them is process-end.ts's matter.

import { listenForAbort } from '../client/abort.js';
import { HoldfastError } from '../errors.js';
import { isAlive } from '../process-tree.js';
import type { ExecSession } from './exec-session.js';
import type { AcquireOptions, Lease, Opener, PoolOptions } from './lease.js';

interface Entry {
  readonly key: string;
  readonly controller: AbortController;
  /** Settles when the opening is over, one way or the other. */
  opened: Promise<void>;
  session: ExecSession | undefined;
  users: number;
  wasUsed: boolean;
  /** No more leases: it closes as soon as there are none. */
  retired: boolean;
  closed: Promise<void> | undefined;
}

interface Ask {
  readonly key: string;
  readonly open: Opener;
  readonly grant: (lease: Lease) => void;
  readonly refuse: (reason: unknown) => void;
}

/** Sessions by key: one each, opened when it is first asked for, shared by all who hold a lease of it, closed on request or with the pool. */
export class ExecSessionPool {
  readonly #capacity: number;
  /** In the order of their last use. */
  readonly #entries = new Map<string, Entry>();
  /** Those who wait, first come first served among those whose turn can come. */
  #asks: Ask[] = [];
  #teardown: Promise<void> | undefined;

  /** @throws {HoldfastError} `USAGE` for a capacity that admits nobody. */
  constructor({ capacity = Number.POSITIVE_INFINITY }: PoolOptions = {}) {
    if (!(capacity >= 1))
      throw new HoldfastError('USAGE', `a pool of ${capacity} sessions can hold none`, { hint: 'capacity is at least 1' });
    this.#capacity = capacity;
  }

  /** Sessions that are open, or about to be. */
  get size(): number {
    return this.#entries.size;
  }

  /**
   * A lease of the session of `key`. Opens it where it is not open, once however many ask. Waits while as many leases are held as
   * commands can run in it (`caps.maxConcurrent`), and while the pool is full.
   *
   * @throws {HoldfastError} what `open` throws; `SESSION_STOPPING` after `teardown`. The signal's reason.
   */
  acquire(key: string, open: Opener, { signal }: AcquireOptions = {}): Promise<Lease> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.#teardown !== undefined) throw stopping();
      const ask: Ask = {
        key,
        open,
        grant: (lease) => {
          unlisten?.();
          resolve(lease);
        },
        refuse: (reason) => {
          unlisten?.();
          reject(reason);
        },
      };
      const unlisten = signal === undefined ? undefined : listenForAbort(signal, () => this.#withdraw(ask, signal.reason));
      this.#asks.push(ask);
      this.#serve();
    });
  }

  /** Does `work` with a lease, and gives it back however that ends. */
  async use<T>(key: string, open: Opener, work: (session: ExecSession) => T | Promise<T>, options: AcquireOptions = {}): Promise<T> {
    const lease = await this.acquire(key, open, options);
    try {
      return await work(lease.session);
    } finally {
      lease.release();
    }
  }

  /** Closes the session of `key` when the leases that are held of it are given back; later ones get another. At once where there is none. */
  async close(key: string): Promise<void> {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    entry.retired = true;
    this.#serve();
    await this.#gone(entry);
  }

  /**
   * Grants no more leases, waits for those that are held, and closes every session. Later calls give the same promise.
   *
   * @throws {HoldfastError} what the teardown of a session throws; the others are closed all the same.
   */
  teardown(): Promise<void> {
    this.#teardown ??= this.#closeAll();
    return this.#teardown;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.teardown();
  }

  async #closeAll(): Promise<void> {
    for (const ask of this.#asks.splice(0)) ask.refuse(stopping());
    const entries = [...this.#entries.values()];
    for (const entry of entries) {
      entry.retired = true;
      if (entry.session === undefined) entry.controller.abort(stopping());
    }
    this.#serve();
    const ends = await Promise.allSettled(entries.map((entry) => this.#gone(entry)));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  /** Resolves when the entry is no more. */
  async #gone(entry: Entry): Promise<void> {
    await entry.opened;
    while (this.#entries.get(entry.key) === entry && entry.closed === undefined) {
      await new Promise<void>((resolve) => this.#onRelease.push(resolve));
    }
    await entry.closed;
  }

  /** Called once each, when a lease is given back. */
  readonly #onRelease: (() => void)[] = [];

  #withdraw(ask: Ask, reason: unknown): void {
    this.#asks = this.#asks.filter((each) => each !== ask);
    const entry = this.#entries.get(ask.key);
    const isWanted = this.#asks.some(({ key }) => key === ask.key);
    if (entry !== undefined && entry.session === undefined && !isWanted) entry.controller.abort(reason);
    ask.refuse(reason);
  }

  /** Does what can be done: the one place where leases are granted, and sessions begin to open and to close. */
  #serve(): void {
    for (const entry of this.#entries.values()) if (entry.retired) this.#closeIfIdle(entry);
    for (const ask of [...this.#asks]) this.#advance(ask);
  }

  #advance(ask: Ask): void {
    const entry = this.#entries.get(ask.key);
    if (entry === undefined) {
      if (this.#entries.size < this.#capacity) this.#open(ask);
      else this.#makeRoom();
      return;
    }
    const { session } = entry;
    if (session === undefined || entry.retired || entry.users >= (session.caps.maxConcurrent ?? Number.POSITIVE_INFINITY)) return;
    // One that has just been opened is not looked at: a session that ends at once is to fail, not to be opened for ever.
    if (entry.wasUsed && !isAlive(session.describe().agentPid)) {
      entry.retired = true;
      this.#closeIfIdle(entry);
      return;
    }
    this.#asks = this.#asks.filter((each) => each !== ask);
    ask.grant(this.#lease(entry, session));
  }

  #lease(entry: Entry, session: ExecSession): Lease {
    entry.users += 1;
    entry.wasUsed = true;
    this.#entries.delete(entry.key);
    this.#entries.set(entry.key, entry);
    let held = true;
    const release = (): void => {
      if (!held) return;
      held = false;
      entry.users -= 1;
      this.#serve();
      for (const resolve of this.#onRelease.splice(0)) resolve();
    };
    return { session, release, [Symbol.dispose]: release };
  }

  #open({ key, open }: Ask): void {
    const controller = new AbortController();
    const entry: Entry = {
      key,
      controller,
      opened: Promise.resolve(),
      session: undefined,
      users: 0,
      wasUsed: false,
      retired: false,
      closed: undefined,
    };
    this.#entries.set(key, entry);
    const opening = (async () => checkedSession(await open(controller.signal)))();
    entry.opened = opening.then(
      (session) => {
        entry.session = session;
        this.#serve();
      },
      (error: unknown) => {
        this.#entries.delete(key);
        // One that nobody wanted any more says nothing to who has asked since: for those it begins anew.
        const failed = controller.signal.aborted ? [] : this.#asks.filter((ask) => ask.key === key);
        this.#asks = this.#asks.filter((ask) => !failed.includes(ask));
        for (const ask of failed) ask.refuse(error);
        this.#serve();
      },
    );
  }

  /** The one that has been out of use for longest. */
  #makeRoom(): void {
    const entries = [...this.#entries.values()];
    // One that is on its way out is room enough for the first who waits.
    if (entries.some(({ closed, retired }) => closed !== undefined || retired)) return;
    const idle = entries.find(
      ({ session, users, key }) => session !== undefined && users === 0 && !this.#asks.some((ask) => ask.key === key),
    );
    if (idle === undefined) return;
    idle.retired = true;
    this.#closeIfIdle(idle);
  }

  #closeIfIdle(entry: Entry): void {
    const { session } = entry;
    if (session === undefined || entry.users > 0 || entry.closed !== undefined) return;
    entry.closed = (async () => await session.teardown())().finally(() => {
      this.#entries.delete(entry.key);
      this.#serve();
    });
    // Told to whoever waits for it; nobody may.
    entry.closed.catch(() => undefined);
  }
}

/** From a program that no type checker has looked at: without a session, who asked would wait for ever. */
function checkedSession(opened: ExecSession): ExecSession {
  const given: unknown = opened;
  if (typeof given === 'object' && given !== null && 'teardown' in given && 'caps' in given) return opened;
  throw new HoldfastError('USAGE', 'what is to open a session for the pool returned none', {
    hint: 'return what openSession returns, as in (signal) => openSession({ ...options, signal })',
  });
}

function stopping(): HoldfastError {
  return new HoldfastError('SESSION_STOPPING', 'the pool is being torn down', { hint: 'make another one' });
}
