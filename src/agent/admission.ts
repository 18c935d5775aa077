// Who may run now and who waits: `max_concurrent` and `max_queue` of a session. First come, first served. DESIGN section 4 "Admission".

export class Admission<Item> {
  readonly #maxRunning: number;
  readonly #maxQueue: number;
  readonly #running = new Set<Item>();
  readonly #queue: Item[] = [];

  /** @param maxRunning 0: no cap. */
  constructor(maxRunning: number, maxQueue: number) {
    this.#maxRunning = maxRunning === 0 ? Number.POSITIVE_INFINITY : maxRunning;
    this.#maxQueue = maxQueue;
  }

  get running(): number {
    return this.#running.size;
  }

  get queued(): readonly Item[] {
    return this.#queue;
  }

  /** `run`: it counts as running from now on. Otherwise its position in the queue (1 is next), or that the queue is full. */
  admit(item: Item): 'run' | 'full' | number {
    if (this.#running.size < this.#maxRunning) {
      this.#running.add(item);
      return 'run';
    }
    if (this.#queue.length >= this.#maxQueue) return 'full';
    return this.#queue.push(item);
  }

  /** Takes an item out, wherever it is; returns those that may run in its place and count as running now. */
  leave(item: Item): Item[] {
    const at = this.#running.delete(item) ? -1 : this.#queue.indexOf(item);
    if (at >= 0) this.#queue.splice(at, 1);
    const next: Item[] = [];
    while (this.#running.size < this.#maxRunning && this.#queue.length > 0) {
      const first = this.#queue.shift();
      if (first === undefined) break;
      this.#running.add(first);
      next.push(first);
    }
    return next;
  }
}
