// The e2e fixture: sessions and clients of the built programs in a private runtime directory, and after each test the proof that
// nothing is left: no process, no file of a closed session, no descriptor here or in an agent.
//
//   const holdfast = useHoldfast();
//   it('…', async () => {
//     const session = await holdfast.open('web', { script: 'export A=1' });
//     expect(await session.output(['printenv', 'A'])).toBe('1\n');
//   });

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { Leftovers } from './leftovers.js';
import { type Ended, Running, type RunOptions } from './running.js';
import { Session } from './session.js';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The built programs. */
export const programs: { readonly runnerExec: string; readonly holdfast: string; readonly library: string } = {
  runnerExec: join(root, 'dist/runner-exec'),
  holdfast: join(root, 'dist/holdfast.cjs'),
  library: join(root, 'dist/index.js'),
};

export interface OpenOptions {
  /** Bash code that a launcher script runs before it execs the agent. Default: none. */
  script?: string;
  /** A launcher of the test's own, instead. */
  launcher?: readonly string[];
  /** Options of `holdfast open`. */
  flags?: readonly string[];
  env?: Record<string, string | undefined>;
  cwd?: string;
  /** Stays open until the file's end, and is checked after every test to be idle. Default: closed with the test that opened it. */
  shared?: boolean;
}

export class Holdfast {
  /** Private to the test file; its path marks every process that belongs to it. */
  readonly directory: string = realpathSync(mkdtempSync(join(tmpdir(), 'hf-')));
  readonly runtimeDirectory: string = join(this.directory, 'run');
  readonly leftovers: Leftovers = new Leftovers(this.directory, this.runtimeDirectory);
  /** What every child of this file gets beside that: where its engines are. */
  readonly more: Record<string, string> = {};
  readonly #sessions = new Set<Session>();
  #serial = 0;

  constructor() {
    for (const name of ['home', 'tmp']) mkdirSync(join(this.directory, name));
    mkdirSync(this.runtimeDirectory, { mode: 0o700 });
  }

  /** All that a child gets: nothing of the test runner's own environment but PATH. */
  get env(): Record<string, string> {
    const path = (process.env.PATH ?? '').split(':').filter((each) => !each.endsWith('node_modules/.bin'));
    return {
      PATH: [dirname(process.execPath), ...path].join(':'),
      HOME: join(this.directory, 'home'),
      LANG: 'C.UTF-8',
      TMPDIR: join(this.directory, 'tmp'),
      HOLDFAST_RUNTIME_DIR: this.runtimeDirectory,
      ...this.more,
    };
  }

  /** A new empty folder inside the file's own. */
  folder(name = 'folder'): string {
    const path = join(this.directory, `${name}-${++this.#serial}`);
    mkdirSync(path);
    return path;
  }

  /** A new executable file inside the file's own folder. */
  program(name: string, text: string): string {
    const path = join(this.folder(), name);
    writeFileSync(path, text, { mode: 0o755 });
    return path;
  }

  start(argv: readonly [string, ...string[]], options: RunOptions = {}): Running {
    return new Running(argv, this.env, { cwd: this.directory, ...options });
  }

  async run(argv: readonly [string, ...string[]], options: RunOptions = {}): Promise<Ended> {
    return await this.start(argv, options).ended;
  }

  startRunnerExec(args: readonly string[], options: RunOptions = {}): Running {
    return this.start([programs.runnerExec, ...args], options);
  }

  async runnerExec(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    return await this.startRunnerExec(args, options).ended;
  }

  startHoldfast(args: readonly string[], options: RunOptions = {}): Running {
    return this.start([process.execPath, programs.holdfast, ...args], options);
  }

  async holdfast(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    return await this.startHoldfast(args, options).ended;
  }

  /** `holdfast open NAME …`; throws with what it said when it does not open. */
  async open(name: string, options: OpenOptions = {}): Promise<Session> {
    const launcher = options.launcher ?? ['bash', this.program('launch.sh', `${options.script ?? ''}\nexec "$@"\n`)];
    const ended = await this.holdfast(['open', name, '--quiet', ...(options.flags ?? []), '--', ...launcher], {
      ...(options.env === undefined ? {} : { env: options.env }),
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
    if (ended.code !== 0) throw new Error(`'${name}' does not open (${ended.code ?? ended.signal}): ${ended.stderr}`);
    if (ended.stdout.length + ended.stderr.length > 0) throw new Error(`open was not silent: ${ended.stdout}${ended.stderr}`);
    return await this.adopt(name, options.shared);
  }

  /**
   * Takes in a session that was opened in another way (auto-open, `--config`), to be closed and checked like the others.
   *
   * @param cwd a directory that is there inside, too.
   */
  async adopt(name: string, shared = false, cwd?: string): Promise<Session> {
    const session = new Session(this, name, shared);
    await session.settle(cwd);
    this.#sessions.add(session);
    return session;
  }

  /** Closes what the test opened, then looks for what is left. */
  async afterTest(): Promise<void> {
    for (const session of this.#sessions) if (!session.shared) await this.#close(session);
    await this.leftovers.check([...this.#sessions]);
  }

  async afterFile(): Promise<void> {
    try {
      for (const session of this.#sessions) await this.#close(session);
      await this.leftovers.check([]);
    } finally {
      rmSync(this.directory, { recursive: true, force: true });
    }
  }

  async #close(session: Session): Promise<void> {
    this.#sessions.delete(session);
    this.leftovers.expectGone(session.processes());
    await session.close();
  }
}

/** To be called once at the top of an e2e file. */
export function useHoldfast(): Holdfast {
  const holdfast = new Holdfast();
  beforeAll(async () => {
    // Node opens its signal pipe with the first child.
    await holdfast.run(['true']);
  });
  beforeEach(() => holdfast.leftovers.startTest());
  afterEach(async () => await holdfast.afterTest());
  afterAll(async () => await holdfast.afterFile());
  return holdfast;
}
