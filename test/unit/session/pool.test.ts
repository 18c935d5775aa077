// Pins DESIGN section 7, ExecSessionPool: one open a key, counted, never closed while in use.

import { describe, expect, it } from 'vitest';

import type { ExecSession } from '../../../src/session/exec-session.js';
import type { Opener } from '../../../src/session/lease.js';
import { ExecSessionPool } from '../../../src/session/pool.js';

/** Sessions that are nothing but what a pool looks at. */
class Openings {
  readonly opened: string[] = [];
  readonly closed: string[] = [];
  readonly signals: AbortSignal[] = [];
  maxConcurrent: number | undefined;
  /** Ends the agent of the session opened last. */
  die: () => void = () => {};
  #hold: Promise<void> | undefined;
  #letGo: () => void = () => {};

  /** Openings from now on wait for `proceed`. */
  hold(): void {
    this.#hold = new Promise((resolve) => {
      this.#letGo = resolve;
    });
  }

  proceed(): void {
    this.#letGo();
    this.#hold = undefined;
  }

  opener(key: string, fault?: Error): Opener {
    return async (signal) => {
      this.opened.push(key);
      this.signals.push(signal);
      await this.#hold;
      signal.throwIfAborted();
      if (fault !== undefined) throw fault;
      return this.#session(key);
    };
  }

  #session(name: string): ExecSession {
    let pid = process.pid;
    this.die = () => {
      pid = 0x7ffffffe;
    };
    const unused = (): never => {
      throw new Error('a pool does not ask for that');
    };
    const teardown = async (): Promise<void> => {
      this.closed.push(name);
    };
    return {
      name,
      mode: 'session',
      caps: { pty: true, maxConcurrent: this.maxConcurrent, identity: { kind: 'asserted', by: 'the test' } },
      prepare: unused,
      fingerprint: unused,
      refresh: unused,
      run: unused,
      baseEnv: unused,
      failureOf: unused,
      describe: () => ({ name, mode: 'session', directory: '/', entry: [], socket: '/s', agentPid: pid, owned: true }),
      teardown,
      [Symbol.asyncDispose]: teardown,
    };
  }
}

/** Whether it is settled once everything that could happen now has happened. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const settle = (): void => {
    settled = true;
  };
  promise.then(settle, settle);
  for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate);
  return settled;
}

describe('one key', () => {
  it('is opened once, however many ask, before and after', async () => {
    const openings = new Openings();
    const pool = new ExecSessionPool();
    openings.hold();
    const asked = Array.from({ length: 50 }, () => pool.acquire('a', openings.opener('a')));
    openings.proceed();
    const leases = await Promise.all(asked);
    leases.push(await pool.acquire('a', openings.opener('a')));
    expect(openings.opened).toEqual(['a']);
    expect(new Set(leases.map(({ session }) => session)).size).toBe(1);
  });

  it('that cannot be opened is told to all who asked, and tried again for the next', async () => {
    const openings = new Openings();
    const pool = new ExecSessionPool();
    const fault = new Error('no');
    const asked = [pool.acquire('a', openings.opener('a', fault)), pool.acquire('a', openings.opener('a'))];
    expect(await Promise.allSettled(asked)).toEqual([
      { status: 'rejected', reason: fault },
      { status: 'rejected', reason: fault },
    ]);
    expect(pool.size).toBe(0);
    await pool.acquire('a', openings.opener('a'));
    expect(openings.opened).toEqual(['a', 'a']);
  });

  it('whose agent has died is opened anew', async () => {
    const openings = new Openings();
    const pool = new ExecSessionPool();
    (await pool.acquire('a', openings.opener('a'))).release();
    openings.die();
    const lease = await pool.acquire('a', openings.opener('a'));
    expect([openings.opened, openings.closed]).toEqual([['a', 'a'], ['a']]);
    expect(lease.session.describe().agentPid).toBe(process.pid);
  });

  it('an opener that gives no session is refused: nobody waits for it', async () => {
    const pool = new ExecSessionPool();
    for (const nothing of [undefined, 5]) {
      const open = (async () => nothing) as unknown as Opener;
      await expect(pool.acquire('a', open)).rejects.toMatchObject({
        code: 'USAGE',
        message: expect.stringContaining('returned none') as unknown,
      });
    }
    expect(pool.size).toBe(0);
  });

  it('an opener that throws at once is a failure like another', async () => {
    const pool = new ExecSessionPool();
    const asked = pool.acquire('a', () => {
      throw new Error('at once');
    });
    await expect(asked).rejects.toThrow('at once');
  });
});

describe('a session in use', () => {
  it('is closed when its last lease is given back, and once', async () => {
    const openings = new Openings();
    const pool = new ExecSessionPool();
    const first = await pool.acquire('a', openings.opener('a'));
    const second = await pool.acquire('a', openings.opener('a'));
    const closed = pool.close('a');
    first.release();
    first.release();
    expect(await isSettled(closed)).toBe(false);
    second.release();
    await closed;
    await pool.close('a');
    expect([openings.closed, pool.size]).toEqual([['a'], 0]);
  });

  it('that is to close gives no further leases: who asks waits for the next one', async () => {
    const openings = new Openings();
    const pool = new ExecSessionPool();
    const first = await pool.acquire('a', openings.opener('a'));
    const closed = pool.close('a');
    const next = pool.acquire('a', openings.opener('a'));
    expect(await isSettled(next)).toBe(false);
    first.release();
    await closed;
    await next;
    expect([openings.opened, openings.closed]).toEqual([['a', 'a'], ['a']]);
  });

  it('gives as many leases as it can run commands', async () => {
    const openings = new Openings();
    openings.maxConcurrent = 2;
    const pool = new ExecSessionPool();
    const [first] = await Promise.all([pool.acquire('a', openings.opener('a')), pool.acquire('a', openings.opener('a'))]);
    const third = pool.acquire('a', openings.opener('a'));
    expect(await isSettled(third)).toBe(false);
    first?.release();
    await third;
  });

  it('is given back whatever the work comes to', async () => {
    const openings = new Openings();
    const pool = new ExecSessionPool();
    expect(await pool.use('a', openings.opener('a'), ({ name }) => name)).toBe('a');
    const broken = pool.use('a', openings.opener('a'), () => Promise.reject(new Error('broken')));
    await expect(broken).rejects.toThrow('broken');
    await pool.teardown();
    expect(openings.closed).toEqual(['a']);
  });
});

describe('a full pool', () => {
  it('closes the session that was out of use for longest', async () => {
    const openings = new Openings();
    const pool = new ExecSessionPool({ capacity: 2 });
    for (const key of ['a', 'b', 'a']) (await pool.acquire(key, openings.opener(key))).release();
    await pool.acquire('c', openings.opener('c'));
    expect([openings.opened, openings.closed, pool.size]).toEqual([['a', 'b', 'c'], ['b'], 2]);
  });

  it('has the next one wait while all are in use, first come first served', async () => {
    const openings = new Openings();
    const pool = new ExecSessionPool({ capacity: 1 });
    const lease = await pool.acquire('a', openings.opener('a'));
    const [b, c] = [pool.acquire('b', openings.opener('b')), pool.acquire('c', openings.opener('c'))];
    expect([await isSettled(b), await isSettled(c)]).toEqual([false, false]);
    lease.release();
    const next = await b;
    expect(await isSettled(c)).toBe(false);
    next.release();
    await c;
    expect([openings.opened, openings.closed]).toEqual([
      ['a', 'b', 'c'],
      ['a', 'b'],
    ]);
  });

  it('of no session is refused', () => {
    for (const capacity of [0, -1, Number.NaN]) expect(() => new ExecSessionPool({ capacity })).toThrow(/can hold none/);
  });
});

describe('who gives up', () => {
  it('while others wait for the same leaves the opening to them', async () => {
    const openings = new Openings();
    const pool = new ExecSessionPool();
    openings.hold();
    const controller = new AbortController();
    const first = pool.acquire('a', openings.opener('a'), { signal: controller.signal });
    const second = pool.acquire('a', openings.opener('a'));
    controller.abort();
    await expect(first).rejects.toBe(controller.signal.reason);
    expect(openings.signals[0]?.aborted).toBe(false);
    openings.proceed();
    await second;
  });

  it('as the last one ends the opening', async () => {
    const openings = new Openings();
    const pool = new ExecSessionPool();
    openings.hold();
    const controller = new AbortController();
    const only = pool.acquire('a', openings.opener('a'), { signal: controller.signal });
    controller.abort();
    await expect(only).rejects.toBe(controller.signal.reason);
    expect(openings.signals[0]?.aborted).toBe(true);
    openings.proceed();
    await pool.acquire('a', openings.opener('a'));
    expect(openings.opened).toEqual(['a', 'a']);
  });

  it('before it has asked asks for nothing', async () => {
    const openings = new Openings();
    const pool = new ExecSessionPool();
    await expect(pool.acquire('a', openings.opener('a'), { signal: AbortSignal.abort('no') })).rejects.toBe('no');
    expect(openings.opened).toEqual([]);
  });
});

describe('a teardown', () => {
  it('waits for the leases, refuses who waits and who comes, and closes each session once', async () => {
    const openings = new Openings();
    openings.maxConcurrent = 1;
    const pool = new ExecSessionPool();
    const a = await pool.acquire('a', openings.opener('a'));
    (await pool.acquire('b', openings.opener('b'))).release();
    const waiting = pool.acquire('a', openings.opener('a'));
    const over = pool.teardown();
    expect(pool.teardown()).toBe(over);
    await expect(waiting).rejects.toMatchObject({ code: 'SESSION_STOPPING' });
    await expect(pool.acquire('a', openings.opener('a'))).rejects.toMatchObject({ code: 'SESSION_STOPPING' });
    expect(await isSettled(over)).toBe(false);
    a.release();
    await over;
    expect([openings.closed.toSorted(), pool.size]).toEqual([['a', 'b'], 0]);
  });

  it('ends an opening that is under way', async () => {
    const openings = new Openings();
    const pool = new ExecSessionPool();
    openings.hold();
    const asked = pool.acquire('a', openings.opener('a'));
    const over = pool.teardown();
    await expect(asked).rejects.toMatchObject({ code: 'SESSION_STOPPING' });
    expect(openings.signals[0]?.aborted).toBe(true);
    openings.proceed();
    await over;
    expect(pool.size).toBe(0);
  });
});
