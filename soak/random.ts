// Chance that can be had again: the same seed and number give the same draws, whatever was drawn before. Not for secrets.

export class Random {
  #state: number;

  constructor(seed: number, number: number) {
    // Neighbouring seeds and numbers are to have nothing in common: each is spread over all bits first.
    this.#state = (Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b)) >>> 0;
    for (let i = 0; i < 4; i++) this.next();
  }

  /** From 0 up to 1. Mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let bits = this.#state;
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  /** Of every order of magnitude as many: from 1 to `limit`. */
  scale(limit: number): number {
    return Math.round(Math.exp(this.next() * Math.log(limit)));
  }

  /** One of the names, each as often as its weight says. */
  pick<T extends string>(weights: Partial<Record<T, number>>): T {
    const entries = Object.entries<number | undefined>(weights).map(([name, weight]): [string, number] => [name, weight ?? 0]);
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    const found = entries.find(([, weight]) => {
      left -= weight;
      return left < 0;
    });
    return (found ?? entries[0] ?? [''])[0] as T;
  }
}
