// What a pool is asked for, and what it gives.

import type { ExecSession } from './exec-session.js';

export interface PoolOptions {
  /** Sessions that are open at the same time. At that many, one that nobody uses is closed to make room; else one waits. Default: no limit. */
  readonly capacity?: number | undefined;
}

export interface AcquireOptions {
  /** Gives up waiting; the opening as well, where nobody else waits for it. */
  readonly signal?: AbortSignal | undefined;
}

/** Leave to use a session. While it is held, the session is not closed. */
export interface Lease {
  readonly session: ExecSession;
  /** Safe to call twice. */
  release(): void;
  /** `using lease = await pool.acquire(…)` */
  [Symbol.dispose](): void;
}

/** Opens the session of a key. The signal is aborted when nobody wants it any more. */
export type Opener = (signal: AbortSignal) => Promise<ExecSession>;
