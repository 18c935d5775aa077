// One session that a test has open, through the command line.

import type { Holdfast } from './holdfast.js';
import { descendantsOf, descriptorsOf, findProcess, isAlive, markedProcesses, type ProcessSeen } from './processes.js';
import type { Ended, Running, RunOptions } from './running.js';

export class Session {
  readonly name: string;
  readonly shared: boolean;
  readonly #holdfast: Holdfast;
  #agent: ProcessSeen | undefined;
  #socket = '';
  #idleDescriptors = 0;
  #idleProcesses: ProcessSeen[] = [];
  #closed = false;

  constructor(holdfast: Holdfast, name: string, shared: boolean) {
    this.#holdfast = holdfast;
    this.name = name;
    this.shared = shared;
  }

  /** The agent's process id. */
  get pid(): number {
    if (this.#agent === undefined) throw new Error(`'${this.name}' has no agent`);
    return this.#agent.pid;
  }

  get socket(): string {
    return this.#socket;
  }

  /** What belongs to it while nothing runs in it: launcher, agent, … */
  get idleProcesses(): readonly ProcessSeen[] {
    return this.#idleProcesses;
  }

  async status(): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await this.#holdfast.holdfast(['status', this.name, '--json']);
    if (code !== 0) throw new Error(`status of '${this.name}' fails (${code}): ${stderr}`);
    return JSON.parse(stdout.toString());
  }

  /** Learns who the agent is and what it looks like when idle. One run first, so that what it makes once and keeps is there. */
  async settle(cwd?: string): Promise<void> {
    const { pid, socket } = await this.status();
    this.#agent = typeof pid === 'number' ? findProcess(pid) : undefined;
    this.#socket = String(socket);
    if (!this.shared) return;
    const first = await this.exec(['true'], cwd === undefined ? {} : { cwd });
    if (first.code !== 0) throw new Error(`'true' fails in '${this.name}' (${first.code}): ${first.stderr}`);
    this.#idleProcesses = markedProcesses(this.#holdfast.directory);
    this.#idleDescriptors = this.descriptors().size;
  }

  /** Descriptors that the agent holds. */
  descriptors(): Map<number, string> {
    return this.#agent === undefined ? new Map() : descriptorsOf(this.pid);
  }

  /** Everything that must be gone when it is closed. */
  processes(): ProcessSeen[] {
    if (this.#agent === undefined || !isAlive(this.#agent.pid, this.#agent.startTicks)) return [];
    return [this.#agent, ...descendantsOf(this.#agent.pid)];
  }

  start(command: readonly string[], options: RunOptions & { flags?: readonly string[] } = {}): Running {
    const { flags = [], ...rest } = options;
    return this.#holdfast.startRunnerExec(['--session', this.name, ...flags, '--', ...command], rest);
  }

  /** `runner-exec --session NAME FLAGS… -- COMMAND…`, to its end. */
  async exec(command: readonly string[], options: RunOptions & { flags?: readonly string[] } = {}): Promise<Ended> {
    return await this.start(command, options).ended;
  }

  /** Its standard output; throws unless it ended with 0 and was silent on standard error. */
  async output(command: readonly string[], options: RunOptions & { flags?: readonly string[] } = {}): Promise<string> {
    const { code, signal, stdout, stderr } = await this.exec(command, options);
    if (code !== 0 || stderr.length > 0) throw new Error(`'${command.join(' ')}' ended with ${code ?? signal}, stderr: '${stderr}'`);
    return stdout.toString();
  }

  /** @throws when it is not as it was when nothing ran in it. */
  checkIdle(): void {
    if (this.#agent === undefined) return;
    if (!isAlive(this.#agent.pid, this.#agent.startTicks)) throw new Error(`the agent of '${this.name}' is dead`);
    const now = this.descriptors();
    if (now.size > this.#idleDescriptors) {
      throw new Error(`the agent of '${this.name}' holds ${now.size} descriptors, ${this.#idleDescriptors} when idle: ${show(now)}`);
    }
  }

  /** Safe to call again. Fails when a live agent does not close as it should. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const wasAlive = this.#agent === undefined || isAlive(this.#agent.pid, this.#agent.startTicks);
    const { code, stdout, stderr } = await this.#holdfast.holdfast(['close', this.name]);
    if (wasAlive && (code !== 0 || stdout.length + stderr.length > 0)) {
      throw new Error(`close of '${this.name}' ended with ${code}: ${stdout}${stderr}`);
    }
  }
}

function show(descriptors: Map<number, string>): string {
  return [...descriptors].map(([fd, target]) => `${fd} ${target}`).join(', ');
}
