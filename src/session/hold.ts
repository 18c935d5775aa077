// What a wrap session holds while it is open, most often a container: its start command is run once, at the opening, and its stop
// command when the session is over. Both are run by the keeper (native/keeper.c), in the opener's environment: it outlives the
// opener, and an agent that is killed.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { promisify } from 'node:util';

import { HoldfastError } from '../errors.js';
import { installed } from '../install.js';
import { processStartTicks } from '../native/processes.js';
import { fillPlaceholders, type HeldFacts, hasPlaceholder } from '../wrap/placeholders.js';
import { startBare } from './bare-start.js';
import type { SessionDefinition } from './definition.js';
import { hostEnvironment } from './host-environment.js';
import { lastWords } from './last-words.js';
import { withRawVariables } from './launch-command.js';
import { LaunchError } from './launch-error.js';
import type { LaunchLog } from './launch-log.js';
import type { OpenOptions } from './open.js';

const PROGRESS_MS = 100;
const TAIL_LINES = 15;

/** What the record keeps of it. */
export interface HeldRecord extends HeldFacts {
  readonly keeperPid: number;
  readonly keeperStartTicks: number;
  /** What exactly is held, such as the digest of an image; absent where nothing tells. */
  readonly identity?: string;
}

export interface HoldFacts {
  readonly definition: SessionDefinition;
  readonly hold: NonNullable<SessionDefinition['hold']>;
  /** Where the keeper makes its FIFO. */
  readonly fifo: string;
  readonly log: LaunchLog;
  readonly logPath: string;
  readonly options: OpenOptions;
}

/** Why the wait for the start command is over. */
type Verdict = { readonly kind: 'told'; readonly line: string } | { readonly kind: 'timeout' | 'interrupted' };

export class Holding {
  readonly #facts: HoldFacts;
  readonly #keeper: ChildProcess;
  readonly #ended: Promise<unknown>;
  #record: HeldRecord;

  private constructor(facts: HoldFacts, keeper: ChildProcess, record: HeldRecord) {
    this.#facts = facts;
    this.#keeper = keeper;
    this.#record = record;
    this.#ended = once(keeper, 'exit');
  }

  /** Starts the keeper, which starts the rest. @throws {HoldfastError} `LAUNCH_FAILED`: nothing runs. */
  static async begin(facts: HoldFacts): Promise<Holding> {
    const { definition, hold, fifo, log } = facts;
    const name = `holdfast-${slug(definition.name)}-${randomBytes(4).toString('hex')}`;
    const start = fillPlaceholders(hold.start, { name });
    const words = [installed.runnerExec, '__keeper', fifo, String(start.length), ...start, ...fillPlaceholders(hold.stop, { name })];
    const { argv, env } = withRawVariables(words, hostEnvironment());
    const [program = '', ...args] = argv;
    const keeper = startBare(() =>
      spawn(program, args, { cwd: definition.directory, env, detached: true, stdio: ['pipe', 'pipe', log.fd] }),
    );
    // Its end is told by 'exit'; a pipe that it has closed is no news.
    keeper.stdin?.on('error', () => undefined);
    try {
      await once(keeper, 'spawn');
    } catch (cause) {
      throw new HoldfastError('LAUNCH_FAILED', `cannot start the keeper of session '${definition.name}'`, { cause });
    }
    const keeperPid = keeper.pid ?? 0;
    return new Holding(facts, keeper, { name, keeperPid, keeperStartTicks: processStartTicks(keeperPid) ?? 0 });
  }

  /** As far as it is known by now. */
  get record(): HeldRecord {
    return this.#record;
  }

  /**
   * Waits for the start command, then asks what it has made.
   *
   * @throws {HoldfastError} `LAUNCH_FAILED`, `LAUNCH_TIMEOUT`, `LAUNCH_INTERRUPTED`; undo() it then.
   */
  async wait(): Promise<void> {
    const { definition, hold } = this.#facts;
    const verdict = await this.#verdict();
    if (verdict.kind !== 'told') throw this.#givenUp(verdict.kind);
    const [, status, id = ''] = /^(-?\d+) (.*)$/s.exec(verdict.line) ?? [];
    if (status !== '0')
      throw this.#error('LAUNCH_FAILED', `the start command of session '${definition.name}' ${endText(Number(status ?? -1))}`);
    if (id === '' && this.#needsId())
      throw this.#error(
        'LAUNCH_FAILED',
        `the start command of session '${definition.name}' printed nothing, and its last line is what {id} stands for`,
        'let it print the name of what it has made, or say {name} in place of {id}',
      );
    this.#record = { ...this.#record, ...(id === '' ? {} : { id }) };
    const pid = await this.#ask('pid', hold.pid);
    if (pid !== undefined) this.#record = { ...this.#record, pid };
    const identity = await this.#ask('identity', hold.identity);
    if (identity !== undefined) this.#record = { ...this.#record, identity };
  }

  /** From now on it is the agent's: its end brings the stop command. */
  handOver(): void {
    this.#keeper.stdin?.end('h');
    this.#keeper.unref();
  }

  /** Returns when the stop command has been run, where there is something to stop. */
  async undo(): Promise<void> {
    this.#keeper.stdin?.destroy();
    await this.#ended;
  }

  async #verdict(): Promise<Verdict> {
    const { definition, log, options } = this.#facts;
    const startedAt = performance.now();
    const progress = setInterval(() => options.progress?.(log.lastLine(), performance.now() - startedAt, 'starting'), PROGRESS_MS);
    let timeout: NodeJS.Timeout | undefined;
    let onAbort = (): void => undefined;
    try {
      return await new Promise<Verdict>((resolve) => {
        let text = '';
        this.#keeper.stdout?.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        this.#keeper.stdout?.once('close', () => resolve({ kind: 'told', line: text.replace(/\n$/, '') }));
        timeout = setTimeout(() => resolve({ kind: 'timeout' }), Math.min(definition.openTimeoutMs, 0x7fffffff));
        onAbort = () => resolve({ kind: 'interrupted' });
        options.signal?.addEventListener('abort', onAbort);
        if (options.signal?.aborted) onAbort();
      });
    } finally {
      clearInterval(progress);
      clearTimeout(timeout);
      options.signal?.removeEventListener('abort', onAbort);
    }
  }

  #needsId(): boolean {
    const { definition, hold } = this.#facts;
    const { prefix = [], operand = [], kill = [] } = definition.wrap ?? {};
    return hasPlaceholder([...prefix, ...operand, ...kill, ...hold.stop], 'id');
  }

  /** The last line that a command prints about what is held. */
  async #ask(what: string, words: readonly string[] | undefined): Promise<string | undefined> {
    if (words === undefined) return undefined;
    const { definition, options } = this.#facts;
    const { argv, env } = withRawVariables(fillPlaceholders(words, this.#record), hostEnvironment());
    const [program = '', ...args] = argv;
    const { signal } = options;
    try {
      const more = { cwd: definition.directory, env, timeout: definition.openTimeoutMs, ...(signal === undefined ? {} : { signal }) };
      const { stdout } = await promisify(execFile)(program, args, more);
      const line = stdout.trimEnd().split('\n').at(-1)?.trim();
      if (line !== undefined && line !== '') return line;
    } catch (error) {
      if (signal?.aborted) throw this.#givenUp('interrupted');
      const text = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
      throw this.#error(
        'LAUNCH_FAILED',
        `'${argv.join(' ')}' does not tell the ${what} of what session '${definition.name}' holds: ${text}`,
      );
    }
    throw this.#error('LAUNCH_FAILED', `'${argv.join(' ')}' tells no ${what} of what session '${definition.name}' holds`);
  }

  #givenUp(kind: 'timeout' | 'interrupted'): HoldfastError {
    const { name, openTimeoutMs } = this.#facts.definition;
    if (kind === 'interrupted')
      return this.#error('LAUNCH_INTERRUPTED', `opening session '${name}' was interrupted`, 'nothing of it is left');
    const hint = 'open_timeout is how long it may take';
    return this.#error('LAUNCH_TIMEOUT', `the start command of session '${name}' did not end within ${openTimeoutMs / 1000} s`, hint);
  }

  #error(
    code: LaunchError['code'] & ('LAUNCH_FAILED' | 'LAUNCH_TIMEOUT' | 'LAUNCH_INTERRUPTED'),
    message: string,
    hint?: string,
  ): LaunchError {
    const output = this.#facts.log.tail(TAIL_LINES);
    const last = lastWords(output);
    const said = last === undefined || code === 'LAUNCH_INTERRUPTED' ? '' : `; its last words were '${last}'`;
    return new LaunchError(code, `${message}${said}`, output, hint ?? `all that it said is in '${this.#facts.logPath}'`);
  }
}

/** What an engine takes as a name. */
function slug(name: string): string {
  return (
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(-24) || 'session'
  );
}

/** @param status as wait(2) has it; -1: it was ended by us, or could not be started. */
function endText(status: number): string {
  if (status === -1) return 'could not be run';
  return (status & 0x7f) === 0 ? `ended with status ${status >> 8}` : `was ended by signal ${status & 0x7f}`;
}
