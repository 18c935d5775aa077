// Real engines for an e2e file: each is started when a test first asks for it, and ended, with all in it, after the file's last test.

import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { Holdfast } from '../harness/holdfast.js';
import { needs } from '../harness/needs.js';
import { Absent, type Engine, run, type Site } from './site.js';

export class Engines {
  /** Apart from the test's own folder, whose processes are looked for after each test. */
  readonly site: Site;
  readonly #started = new Map<string, Promise<Engine>>();
  readonly #ends: (() => void | Promise<void>)[] = [];
  readonly #holdfast: Holdfast;

  constructor(holdfast: Holdfast) {
    const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'hfe-')));
    const { PATH = '' } = holdfast.env;
    chmodSync(scratch, 0o755);
    this.#holdfast = holdfast;
    this.site = { scratch, env: { PATH: `${PATH}:/usr/sbin:/sbin`, HOME: scratch, LANG: 'C.UTF-8' } };
  }

  /** As `needs`, for an engine: skips the test where it cannot be had, and fails in CI. */
  async need(
    test: Parameters<typeof needs>[0],
    name: string,
    programs: readonly string[],
    start: (site: Site) => Promise<Engine>,
  ): Promise<Engine> {
    needs(test, ...programs);
    const starting = this.#started.get(name) ?? start(this.site);
    this.#started.set(name, starting);
    try {
      const engine = await starting;
      // Clients of ours run it in their own environment.
      Object.assign(this.#holdfast.more, engine.env);
      return engine;
    } catch (error) {
      if (!(error instanceof Absent) || process.env.CI) throw error;
      return test.skip(`${name}: ${error.message}`);
    }
  }

  /** The client's output. */
  async output({ client, env }: Engine, ...args: readonly string[]): Promise<string> {
    const [program, ...words] = client;
    const { stdout } = await run(program, [...words, ...args], { env: { ...this.site.env, ...env } });
    return stdout;
  }

  /** To be done before the engines end, the last first. */
  atEnd(end: () => void | Promise<void>): void {
    this.#ends.unshift(end);
  }

  async end(): Promise<void> {
    for (const end of this.#ends) await end();
    for (const starting of this.#started.values()) await starting.then((engine) => engine.end()).catch(() => undefined);
    rmSync(this.site.scratch, { recursive: true, force: true });
  }
}

/** To be called once at the top of a file, behind useHoldfast(). */
export function useEngines(holdfast: Holdfast): Engines {
  const engines = new Engines(holdfast);
  afterAll(async () => await engines.end(), 120_000);
  return engines;
}
