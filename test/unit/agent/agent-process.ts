// An agent in a process of its own, with a record and a capture made by hand, and peers that talk to it. Ended with its test, which
// fails if the agent keeps a descriptor, a process or a file.

import { type ChildProcess, spawn } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { expect, onTestFinished } from 'vitest';
import { findRule } from '../../../src/protocol/limits.js';
import { type AgentMessage, encodeControl, type JsonObject, parseAgentFrame } from '../../../src/protocol/messages.js';
import { encodeRun, type RunRequest } from '../../../src/protocol/run.js';
import { packStrings } from '../../../src/protocol/strings.js';
import { eventually } from '../../harness/eventually.js';
import { descendantsOf, descriptorsOf, isAlive, type ProcessSeen } from '../../harness/processes.js';
import { Supervisor } from '../../harness/supervisor.js';
import { RawPeer } from './raw-peer.js';
import { runRequest } from './requests.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** For the end of what is on its way to end, on a machine that does much else. */
const SETTLE_MS = 20_000;

/** All that an agent may have of our environment: what its addon needs where it is built for faults, or for the sanitizers. */
const FOR_THE_ADDON = ['HOLDFAST_ADDON_FOR_TESTS', 'LD_PRELOAD', 'ASAN_OPTIONS', 'UBSAN_OPTIONS'];

export interface AgentOptions {
  containment?: 'auto' | 'cgroup' | 'warden' | 'group';
  killGraceMs?: number;
  maxConcurrent?: number;
  maxQueue?: number;
  jobOutputLimitBytes?: number;
  idleTimeoutMs?: number | null;
  /** The base environment. */
  environ?: Record<string, string>;
}

/** A peer that asks for one target, or about the session. */
export class Asker {
  readonly peer: RawPeer;

  constructor(peer: RawPeer) {
    this.peer = peer;
  }

  async next(): Promise<AgentMessage> {
    const { kind, fdCount, body } = await this.peer.nextFrame();
    const rule = findRule(kind);
    if (rule === undefined) throw new Error(`an unknown kind ${kind}`);
    return parseAgentFrame({ kind: rule.kind, fdCount, body });
  }

  /** The next message, which must be of this type. */
  async expect<Type extends AgentMessage['type']>(type: Type): Promise<Extract<AgentMessage, { type: Type }>> {
    const message = await this.next();
    if (message.type !== type)
      throw new Error(`not ${type}: ${JSON.stringify(message, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))}`);
    return message as Extract<AgentMessage, { type: Type }>;
  }

  /** The status of the end, over whatever comes before it. */
  async ended(): Promise<Extract<AgentMessage, { type: 'exited' }>> {
    for (;;) {
      const message = await this.next();
      if (message.type === 'exited') return message;
      if (message.type === 'refused' || message.type === 'notStarted') throw new Error(JSON.stringify(message));
    }
  }
}

export class Agent {
  readonly directory: string;
  readonly stem: string;
  readonly socket: string;
  readonly process: ChildProcess;
  readonly exited: Promise<number | null>;
  readonly #supervisor: Supervisor;
  readonly #askers: Asker[] = [];
  #idle = new Map<number, string>();
  #isStopped = false;

  private constructor(directory: string, bundle: string, options: AgentOptions) {
    this.directory = directory;
    this.stem = join(directory, 'S');
    this.socket = `${this.stem}.sock`;
    this.#supervisor = new Supervisor(`${this.stem}.notify`);
    const environ = options.environ ?? { PATH: '/usr/bin:/bin', BASE: 'yes' };
    const {
      killGraceMs = 2000,
      maxConcurrent = 0,
      maxQueue = 1024,
      idleTimeoutMs = null,
      containment = 'auto',
      jobOutputLimitBytes = 67_108_864,
    } = options;
    const definition = {
      name: 'S',
      killGraceMs,
      maxConcurrent,
      maxQueue,
      jobOutputLimitBytes,
      idleTimeoutMs,
      containment,
      pathPrepend: [],
    };
    writeFileSync(`${this.stem}.json`, JSON.stringify({ protocol: 1, definition, declared: [], weak: [], openerPid: process.pid }));
    const variables = Object.entries(environ).map(([name, value]) => `${name}=${value}\0`);
    writeFileSync(
      `${this.stem}.capture`,
      `HOLDFAST-CAPTURE 1\numask 022\nnice 0\nrlimit 7 1000 ${20_000}\ncwd 1 /\nenviron\n${variables.join('')}`,
      'latin1',
    );
    const capture = openSync(`${this.stem}.capture`, 'r');
    const log = openSync(join(directory, 'log'), 'a');
    this.process = spawn(process.execPath, [bundle, this.stem], {
      stdio: ['ignore', log, log, capture, 'ipc'],
      env: Object.fromEntries(FOR_THE_ADDON.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))),
      cwd: '/',
      detached: true,
    });
    closeSync(capture);
    closeSync(log);
    rmSync(`${this.stem}.capture`);
    this.exited = new Promise((resolve) => this.process.once('exit', resolve));
  }

  static async start(options: AgentOptions = {}): Promise<Agent> {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-agent-')));
    const agent = new Agent(directory, await bundled(), options);
    onTestFinished(async () => await agent.#afterTest(), 60_000);
    const isReady = await Promise.race([agent.hears('READY=1'), agent.exited.then(() => undefined)]);
    if (isReady === undefined) throw new Error(`the agent does not start: ${agent.log}`);
    // Node makes some of its own when first needed: after the first run it has them all.
    const first = agent.run(['true']);
    await first.ended();
    await first.peer.closed();
    await eventually(() => expect(agent.processes()).toEqual([]));
    agent.#idle = descriptorsOf(agent.pid);
    return agent;
  }

  get pid(): number {
    return this.process.pid ?? -1;
  }

  get log(): string {
    return readFileSync(join(this.directory, 'log'), 'utf8');
  }

  async hears(line: string | RegExp): Promise<string> {
    return await this.#supervisor.hears(line);
  }

  connect(): Asker {
    const asker = new Asker(new RawPeer(this.socket));
    this.#askers.push(asker);
    return asker;
  }

  /** Asks for a target. 0, 1 and 2 are not passed unless they are in `fds` (target number → our descriptor). */
  run(argv: readonly string[], own: Partial<RunRequest> = {}, fds: Record<number, number> = {}): Asker {
    const asker = this.connect();
    const numbers = Object.keys(fds).map(Number);
    asker.peer.send(encodeRun(runRequest({ argv: packStrings(argv), fds: numbers, ...own })), Object.values(fds));
    return asker;
  }

  /** Runs to the end and hands back what it wrote. */
  async output(argv: readonly string[], own: Partial<RunRequest> = {}): Promise<string> {
    const path = join(this.directory, `output-${argv.join(' ').replaceAll('/', ' ').slice(0, 40)}`);
    const file = openSync(path, 'w');
    const asker = this.run(argv, own, { 1: file, 2: file });
    await asker.expect('spawned');
    closeSync(file);
    await asker.ended();
    const text = readFileSync(path, 'latin1');
    rmSync(path);
    return text;
  }

  async control(request: { op: string; [member: string]: unknown }): Promise<JsonObject> {
    const asker = this.connect();
    asker.peer.send(encodeControl(request));
    return (await asker.expect('answer')).answer;
  }

  /** The `nth` next of these calls fails in the agent. */
  async arm(call: string, errno: number, nth = 1): Promise<void> {
    const answer = new Promise((resolve) => this.process.once('message', resolve));
    this.process.send({ call, errno, nth });
    expect(await answer).toBe(true);
  }

  processes(): ProcessSeen[] {
    // The guard stays as long as the agent.
    return descendantsOf(this.pid).filter(({ command }) => !command.includes('__guard'));
  }

  /** Nothing of any request is left in it. */
  async isIdle(): Promise<void> {
    for (const { peer } of this.#askers.splice(0)) peer.destroy();
    await eventually(() => {
      // Of its cgroups it keeps some for the next.
      const more = [...descriptorsOf(this.pid)].filter(([fd, target]) => !target.includes('cgroup') && this.#idle.get(fd) !== target);
      expect(more).toEqual([]);
      expect(this.processes()).toEqual([]);
    }, SETTLE_MS);
  }

  /** Orderly; checks that it ends well and takes everything along. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const left = descendantsOf(this.pid);
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill('SIGTERM');
    expect(await this.exited).toBe(0);
    await eventually(() => expect(left.filter(({ pid, startTicks }) => isAlive(pid, startTicks))).toEqual([]));
    expect(existsSync(this.socket)).toBe(false);
    expect(readdirSync(this.directory).filter((name) => /^S?\./.test(name) && name !== 'S.notify')).toEqual([]);
  }

  async #afterTest(): Promise<void> {
    try {
      if (!this.#isStopped) {
        await this.isIdle();
        await this.stop();
        expect(this.log).toBe('');
      }
    } finally {
      for (const { peer } of this.#askers) peer.destroy();
      if (this.process.exitCode === null) this.process.kill('SIGKILL');
      this.#supervisor.close();
      rmSync(this.directory, { recursive: true, force: true });
    }
  }

  /** For a test that has seen to its end: how it ended. */
  async ended(): Promise<number | null> {
    this.#isStopped = true;
    return await this.exited;
  }

  /** Ends it as nothing that can be caught would. */
  async kill(): Promise<void> {
    this.#isStopped = true;
    this.process.kill('SIGKILL');
    await this.exited;
  }

  /** For a test that makes the agent complain, or ends it itself. */
  async stopWithLog(pattern: RegExp): Promise<void> {
    await this.isIdle();
    await this.stop();
    expect(this.log).toMatch(pattern);
  }
}

let bundle: Promise<string> | undefined;

/** The agent as one file, as `npm run build` bundles it, but from the present sources. */
async function bundled(): Promise<string> {
  bundle ??= (async () => {
    const directory = join(root, 'node_modules/.cache/holdfast');
    mkdirSync(directory, { recursive: true });
    const outfile = join(directory, `agent-${process.pid}.cjs`);
    await build({
      absWorkingDir: root,
      entryPoints: [fileURLToPath(new URL('./agent-entry.ts', import.meta.url))],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      // As if it lay in src/, whence it finds dist/ and share/.
      define: { 'import.meta.url': JSON.stringify(pathToFileURL(join(root, 'src/agent.js')).href) },
      logLevel: 'warning',
    });
    process.once('exit', () => rmSync(outfile, { force: true }));
    return outfile;
  })();
  return await bundle;
}
