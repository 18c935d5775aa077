// `holdfast __runner-exec`: runner-exec in TypeScript, for machines where the program itself cannot be had. The same command line,
// the same endings and words as native/client.c. What a Node process cannot do (client/caller.ts says what it cannot know):
// terminals. `--pty` and the hand-over of a controlling terminal need the program.

import { statSync, writeSync } from 'node:fs';

import { type Caller, initialCaller, openCurrentDirectory } from '../client/caller.js';
import { addressOf, connectWhenFree, readPassNames, type SessionAddress } from '../client/connect.js';
import { physicalDirectory } from '../client/directory.js';
import { asksForCaller } from '../client/environment.js';
import { systemErrorText } from '../client/errno.js';
import {
  type Asked,
  EXIT_OURS,
  type Exit,
  exitOfDeadline,
  exitOfFailure,
  exitOfNoName,
  exitOfOutcome,
  exitOfTooLarge,
} from '../client/exit-policy.js';
import { type Selection, selectSession } from '../client/locate.js';
import { ReopenError } from '../client/refusal.js';
import { awaitTurn } from '../client/turn.js';
import { HoldfastError } from '../errors.js';
import { closeFd, isTty } from '../native/descriptors.js';
import { dieBySignal } from '../native/processes.js';
import { encodeRun, ProtocolError } from '../protocol/messages.js';
import { collectDescriptors, isGiven, type Passed, releaseDescriptors, releaseHungUpTerminal } from './runner-exec-descriptors.js';
import { findJobserver, type Jobserver } from './runner-exec-jobserver.js';
import { openAgain, openProject } from './runner-exec-open.js';
import { parseOptions, type RunnerOptions } from './runner-exec-options.js';
import { type Ended, Relay } from './runner-exec-relay.js';
import { openReport, writeReport } from './runner-exec-report.js';
import { type Change, runnerRequest } from './runner-exec-request.js';
import { say } from './runner-exec-say.js';
import { usageText } from './runner-exec-usage.js';
import { lastWords, toBytes, toText } from './runner-exec-words.js';
import { isPath, selectAround } from './selection.js';
import { readVersion } from './version.js';

const STDOUT = 1;
/** A project's session ends by itself when it idles: a request that met its end is given to the next one. */
const MAX_TRIES = 3;
/** Above the deadline and the grace, the agent is no longer believed to keep the deadline. */
const DEADLINE_SLACK_MS = 5000;
const UNKNOWN_GRACE_MS = 10_000;

/** Ends by the target's signal, or returns the status to exit with. Never rejects. @param args the words behind `__runner-exec`. */
export async function main(args: readonly string[]): Promise<number> {
  const exit = await exitOf(args);
  if (exit.kind === 'signal') {
    dieBySignal(exit.signal);
    return 128 + exit.signal;
  }
  if (exit.message !== undefined) say(exit.message, exit.hint);
  releaseHungUpTerminal();
  return exit.code;
}

async function exitOf(args: readonly string[]): Promise<Exit> {
  try {
    const invocation = parseOptions(lastWords(args.length));
    if (invocation.kind === 'run') return await new RunnerExec(invocation.options).run();
    writeSync(STDOUT, invocation.kind === 'help' ? usageText : `runner-exec ${readVersion()}\n`);
    return { kind: 'code', code: 0 };
  } catch (error) {
    return exitOfError(error);
  }
}

function exitOfError(error: unknown): Exit {
  if (error instanceof HoldfastError) {
    return { kind: 'code', code: EXIT_OURS, message: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) };
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    kind: 'code',
    code: EXIT_OURS,
    message: `a fault of its own: ${detail}`,
    hint: 'please report this with the command that you typed',
  };
}

class RunnerExec {
  readonly #options: RunnerOptions;
  readonly #caller: Caller = initialCaller();
  #selection: Selection | undefined;
  #ended: Ended | undefined;
  #relay: Relay | undefined;
  #changes: readonly Change[] = [];
  /** A wrapper is to run in our environment: the agent has asked for it. */
  #hasCaller = false;

  constructor(options: RunnerOptions) {
    this.#options = options;
  }

  async run(): Promise<Exit> {
    const { command, pty, report } = this.#options;
    if (command[0] === '') return exitOfNoName();
    if (pty) {
      throw new HoldfastError('UNSUPPORTED', "'--pty' cannot be had from 'holdfast __runner-exec'", {
        hint: "the program 'runner-exec' takes the same words, and makes pseudo-terminals",
      });
    }
    // The order matters: descriptors are judged before any of ours is opened.
    const jobserver = findJobserver(this.#options, this.#caller.variables, isGiven);
    const passed = collectDescriptors(this.#options, this.#caller.variables, jobserver);
    const reportPath = report === undefined ? undefined : toBytes(report);
    const reportFd = reportPath === undefined ? undefined : openReport(reportPath);
    const exit = await this.#runTo(jobserver, passed).catch(exitOfError);
    if (reportFd !== undefined && reportPath !== undefined) {
      // A report into a pipe that nobody reads can be interrupted.
      this.#relay?.stop();
      writeReport(reportFd, reportPath, {
        session: this.#selection === undefined ? undefined : labelOf(this.#selection),
        ended: this.#ended,
        spawned: this.#relay?.spawned,
        exact: this.#options.exact,
        changes: this.#changes,
        exitCode: exit.kind === 'code' ? exit.code : 128 + exit.signal,
      });
    }
    return exit;
  }

  async #runTo(jobserver: Jobserver, passed: Passed): Promise<Exit> {
    const { socket, session } = this.#options;
    const environmentSession = this.#caller.variables.find('HOLDFAST_SESSION');
    const sources = {
      socket: socket === undefined ? undefined : toBytes(socket),
      session: session === undefined ? undefined : toBytes(session),
      environmentSession: environmentSession === undefined ? undefined : Buffer.from(environmentSession),
      directory: physicalDirectory,
    };
    const isAround = socket === undefined && session !== undefined && isPath(session);
    const selection = isAround ? selectAround(toBytes(session)) : selectSession(sources);
    this.#selection = selection;
    for (let tries = 1; ; tries += 1) {
      const reached = await reach(selection);
      if ('signal' in reached) return { kind: 'signal', signal: reached.signal };
      const ended = await this.#converse(reached.socket, reached.address, jobserver, passed);
      if (ended === undefined) return exitOfTooLarge(this.#asked(selection));
      this.#ended = ended;
      if (!this.#hasCaller && ended.kind === 'failure' && ended.error.code === 'CALLER_NEEDED') {
        this.#hasCaller = true;
        this.#relay?.stop();
        continue;
      }
      const stale = isStale(ended);
      if (tries === MAX_TRIES || !(stale || (isCut(ended) && (await isToBeRepeated(selection, reached.address))))) {
        return this.#conclude(ended, selection);
      }
      this.#relay?.stop();
      const signal = stale ? await openAgain(selection) : undefined;
      if (signal !== undefined) return { kind: 'signal', signal };
    }
  }

  /** `undefined`: the request is larger than the wire carries. */
  async #converse(socket: number, address: SessionAddress, jobserver: Jobserver, passed: Passed): Promise<Ended | undefined> {
    const { detach, timeoutMs, killGraceMs } = this.#options;
    const passNames = readPassNames(address);
    const { request, changes } = runnerRequest(this.#options, {
      caller: this.#caller,
      numbers: passed.numbers,
      jobserver,
      seesTerminal: !detach && [0, 1, 2].some(isTty),
      passNames,
      hasCaller: this.#hasCaller || asksForCaller(passNames),
    });
    this.#changes = changes;
    const directory = request.cwdByDescriptor ? openCurrentDirectory() : undefined;
    try {
      const fds = directory === undefined ? passed.fds : [...passed.fds, directory];
      this.#relay = new Relay(
        socket,
        { frame: encodeRun(request), fds, detach, session: address.label },
        {
          overdueMs: timeoutMs === undefined ? undefined : timeoutMs + (killGraceMs ?? UNKNOWN_GRACE_MS) + DEADLINE_SLACK_MS,
          onNotice: ({ message, hint }) => say(message, hint),
          onQueued: (position) => {
            if (isTty(2)) say(`'${toText(this.#options.command[0] ?? '')}' waits for its turn, at position ${position}`, undefined);
          },
          onStarted: () => {
            if (!detach) releaseDescriptors(passed);
          },
        },
      );
    } catch (error) {
      closeFd(socket);
      if (error instanceof ProtocolError && error.code === 'FRAME_TOO_LARGE') return undefined;
      throw error;
    } finally {
      if (directory !== undefined) closeFd(directory);
    }
    return await this.#relay.ended;
  }

  #conclude(ended: Ended, selection: Selection): Exit {
    const asked = this.#asked(selection);
    switch (ended.kind) {
      case 'interrupted':
        return { kind: 'signal', signal: ended.signal };
      case 'overdue':
        return exitOfDeadline(asked);
      case 'failure':
        return exitOfFailure(ended.error, asked);
      case 'result':
        return ended.result.kind === 'ended' ? exitOfOutcome(ended.result.outcome, asked) : printJob(ended.result.spawned.job);
    }
  }

  #asked(selection: Selection): Asked {
    return {
      session: labelOf(selection),
      isSocket: selection.kind === 'socket',
      command: toText(this.#options.command[0] ?? ''),
      timeoutText: this.#options.timeoutText,
      pid: this.#relay?.spawned?.pid,
      saysOfPath: saysOfPath(this.#options),
      isDirectory: (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false,
    };
  }
}

function saysOfPath({ exact, env }: RunnerOptions): boolean {
  return exact || env.some((option) => option.kind === 'path-prepend' || option.name === 'PATH');
}

function labelOf(selection: Selection): string {
  switch (selection.kind) {
    case 'socket':
      return selection.path.toString();
    case 'session':
      return selection.name.toString();
    case 'project':
      return selection.directory.toString();
  }
}

/** A connected socket; or the signal that came while a project's session was opened first, as nobody served it. */
async function reach(selection: Selection): Promise<{ socket: number; address: SessionAddress } | { signal: number }> {
  const address = addressOf(selection);
  for (;;) {
    try {
      return { socket: await connect(address), address };
    } catch (error) {
      const absent = error instanceof HoldfastError && error.code === 'NO_SESSION';
      if (absent && selection.kind === 'project') break;
      if (!absent || !(await awaitTurn(address))) throw error;
    }
  }
  const signal = await openProject(selection.directory);
  return signal === undefined ? { socket: await connect(address), address } : { signal };
}

function connect(address: SessionAddress): Promise<number> {
  return new Promise((resolve, reject) => {
    connectWhenFree(address, resolve, reject);
  });
}

/** Its agent wants it to be opened again. */
function isStale(ended: Ended): boolean {
  return ended.kind === 'failure' && ended.error instanceof ReopenError;
}

/** A project's session ends when it idles, and any session when it is opened again: then a request is given to the next one. */
async function isToBeRepeated(selection: Selection, address: SessionAddress): Promise<boolean> {
  return selection.kind === 'project' || (await awaitTurn(address));
}

/** Nothing of it was done. */
function isCut(ended: Ended): boolean {
  if (ended.kind === 'failure') return ended.error.code === 'SESSION_STOPPING';
  if (ended.kind !== 'result' || ended.result.kind !== 'ended') return false;
  const { outcome } = ended.result;
  return outcome.kind === 'lost' && outcome.when === 'before-spawn';
}

function printJob(job: string): Exit {
  try {
    writeSync(STDOUT, `${job}\n`);
    return { kind: 'code', code: 0 };
  } catch (error) {
    const message = `the job was started, but its id cannot be written: ${systemErrorText(error)}`;
    return { kind: 'code', code: EXIT_OURS, message, hint: "'holdfast jobs' lists it" };
  }
}
