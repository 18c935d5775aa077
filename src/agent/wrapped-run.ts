// One request behind a wrapper: what is spawned in its place, who gets its signals, whose its exit code is.

import { getSystemErrorMap } from 'node:util';
import { isTty } from '../native/descriptors.js';
import { killProcess } from '../native/processes.js';
import type { SpawnRequest } from '../native/spawn.js';
import { RefusalCode, Step } from '../protocol/numbers.js';
import type { RunRequest } from '../protocol/run.js';
import { type StringList, splitStrings } from '../protocol/strings.js';
import { type WrapInput, wrapCommand } from '../wrap/command.js';
import { inheritsEnvironment } from '../wrap/definition.js';
import { findBehind, wrapperNames } from './behind-wrapper.js';
import type { Containment } from './containment.js';
import { directoryOf } from './directory.js';
import { NOT_RUN, type WrapperPlace } from './errands.js';
import { type FarSide, packLatin1 } from './far-side.js';
import { Refused } from './refused.js';
import { type SpawnPlan, toSpawnRequest } from './spawn-plan.js';
import { LOOK_MS, type Proof } from './start-proof.js';
import { NO_CHANGES } from './wrapper-words.js';
import type { Wrapping } from './wrapping.js';

const SIGTSTP = 20;
const SIGTTIN = 21;
const SIGTTOU = 22;
const SIGSTOP = 19;
const ENOENT = 2;
const SIGCONT = 18;
const SIGWINCH = 28;
/** They are about the wrapper's own terminal, which it shows to the far side by its own means. */
const OF_WRAPPER = [SIGTTIN, SIGTTOU, SIGWINCH];
const STOPS = [SIGSTOP, SIGTSTP];
const NOTHING: ReadonlyMap<string, string> = new Map();

interface Words {
  readonly before: StringList | undefined;
  readonly argv: StringList;
  readonly environment: ReadonlyMap<string, string>;
}

export class WrappedRun {
  readonly #wrapping: Wrapping;
  readonly #marker: string;
  readonly #plan: SpawnPlan;
  #place: WrapperPlace | undefined;
  #run: RunRequest | undefined;
  #far: FarSide | undefined;
  #proof: Proof | undefined;
  #ending: Promise<unknown> | undefined;

  constructor(wrapping: Wrapping, marker: string, plan: SpawnPlan) {
    this.#wrapping = wrapping;
    this.#marker = marker;
    this.#plan = plan;
  }

  /** What it starts is elsewhere, and may outlive the wrapper. */
  get isFar(): boolean {
    return this.#far !== undefined;
  }

  /** @throws Refused, HoldfastError for what cannot be had behind this wrapper. */
  toSpawnRequest(run: RunRequest, fds: readonly number[], containment: Containment): SpawnRequest {
    const { wrap } = this.#wrapping;
    const isInherited = inheritsEnvironment(wrap);
    if (run.cwd.length === 0 && (!isInherited || wrap.cwdOption !== undefined))
      throw new Refused(
        RefusalCode.BAD_DIRECTORY,
        'the working directory has no name by which it could be found behind the wrapper',
        "name one with '--cwd'",
      );
    this.#run = run;
    this.#proof ??= this.#wrapping.proof(this.#marker, run, containment.warden === undefined);
    const { before, argv, environment } = this.#words(run, fds);
    const place = this.#wrapping.place(run, environment);
    this.#place = place;
    this.#far ??= this.#wrapping.farSide(place, this.#marker);
    this.#wrapping.starting(place);
    const spawn = toSpawnRequest(this.#plan, run, fds, containment, place.env);
    spawn.program = undefined;
    spawn.before = before;
    spawn.argv = argv;
    spawn.cwdOrRoot = true;
    const { told, fd = -1 } = this.#proof ?? {};
    if (told !== undefined && told.kind !== 'file') {
      spawn.fds = [...spawn.fds, fd];
      spawn.numbers = [...spawn.numbers, told.fd];
    }
    return spawn;
  }

  /** What is executed, and what the wrapper's own environment has beside the usual. */
  #words(run: RunRequest, fds: readonly number[]): Words {
    const { wrap, words } = this.#wrapping;
    const before = words.before(run, this.#proof?.told);
    if (before !== undefined) return { before, argv: run.argv, environment: NOTHING };
    const isTerminal = wrap.ttyOption.length > 0 && seesTerminal(run, fds) && !this.#wrapping.isOneOfMany(run);
    const { argv, environment } = wrapCommand(wrap, this.#inputOf(run, isTerminal));
    return { before: undefined, argv: packLatin1(argv), environment };
  }

  #inputOf(run: RunRequest, isTerminal: boolean): WrapInput {
    const { wrap } = this.#wrapping;
    return {
      argv: splitStrings(run.argv).map(latin1),
      program: latin1(run.program),
      environment: inheritsEnvironment(wrap) ? NO_CHANGES : this.#wrapping.inside(run),
      cwd: directoryOf(run.cwd).text,
      isTerminal,
      marker: wrap.farSide === 'marker' ? this.#marker : undefined,
      proof: this.#proof?.told,
    };
  }

  started(): void {
    this.#proof?.started();
  }

  /** The wrapper has ended with it, and is not reaped yet. */
  onFailure(pid: number, exitCode: number): void {
    if (this.mayJudge(exitCode)) this.#proof?.failed?.(pid);
  }

  /**
   * The user's own signal, for the far side.
   *
   * @param pid the wrapper's, or the command's where it is an exec.
   * @param local sends one to the wrapper's own group: where it is the wrapper's, and where the far side cannot be reached.
   * @returns false: all of it is the wrapper's.
   */
  signal(number: number, pid: number, local: (signal: number) => void): boolean {
    const far = this.#far;
    if (OF_WRAPPER.includes(number)) return false;
    if (far === undefined) return this.#signalBehind(number, pid);
    if (number === SIGCONT) local(number);
    void far.signal(number).then((answer) => {
      // A wrapper that has stopped is how the caller learns that its command has.
      if (STOPS.includes(number)) local(SIGSTOP);
      else if (answer !== 'done' && number !== SIGCONT) local(number);
    });
    return true;
  }

  /** All stop and go on together; the others are for the command alone. */
  #signalBehind(number: number, pid: number): boolean {
    if (STOPS.includes(number) || number === SIGCONT) return false;
    const behind = findBehind(pid, wrapperNames(this.#wrapping.wrap.prefix));
    for (const each of behind ?? []) killProcess(each, number);
    return behind !== undefined;
  }

  /** Ends the far side. `undefined`: there is none. A second call waits for the first. */
  end(graceMs: number): Promise<unknown> | undefined {
    if (this.#far === undefined) return undefined;
    this.#ending ??= this.#far.end(graceMs);
    return this.#ending;
  }

  /** Why its exit code is the wrapper's own; or the command's exit code: the same one, also where nobody can tell, or what it stands for. */
  async judge(exitCode: number): Promise<Refused | number> {
    const { wrap, errands } = this.#wrapping;
    if (this.#proof === undefined || this.#place === undefined) return exitCode;
    const reached = await this.#proof.reached(errands, this.#place, (script, args) => this.#lookAgain(script, args));
    if (typeof reached === 'number') return reached;
    if (reached === 'yes' || reached === 'unknown') return exitCode;
    const when = reached === 'no' ? ' before the command was started' : '';
    return new Refused(
      RefusalCode.WRAPPER,
      `the wrapper '${nameOf(wrap.prefix)}' failed with exit code ${exitCode}${when}`,
      'its own words are above',
    );
  }

  mayJudge(exitCode: number): boolean {
    return this.#proof?.codes.includes(exitCode) === true;
  }

  #lookAgain(script: string, args: readonly string[]): Promise<number> {
    const { wrap, errands } = this.#wrapping;
    if (this.#run === undefined || this.#place === undefined) return Promise.resolve(NOT_RUN);
    const input = {
      ...this.#inputOf(this.#run, false),
      argv: ['/bin/sh', '-c', script, 'sh', ...args],
      program: undefined,
      proof: undefined,
    };
    const look = wrapCommand({ ...wrap, mapArgv: false }, input);
    return errands.run(packLatin1(look.argv), this.#place, LOOK_MS);
  }

  /** What to say of a wrapper that could not be started. */
  failure({ step, errno, subject }: { readonly step: number; readonly errno: number; readonly subject: Buffer }): Refused {
    const [program = ''] = this.#wrapping.wrap.prefix;
    const why = errno === ENOENT ? 'no such program' : (getSystemErrorMap().get(-errno)?.[1] ?? `error ${errno}`);
    const message = step === Step.INTERPRETER ? `its interpreter '${subject.toString()}' cannot be run` : why;
    const place = this.#wrapping.needsCaller ? 'it is looked up on the PATH of the caller' : "it is looked up on the session's PATH";
    return new Refused(
      RefusalCode.WRAPPER,
      `cannot run the wrapper '${nameOf([program])}': ${message}`,
      program.includes('/') ? "it is the first word of 'prefix'" : place,
    );
  }

  release(): void {
    this.#proof?.release();
    this.#proof = undefined;
  }
}

function latin1(bytes: Buffer): string {
  return bytes.toString('latin1');
}

function nameOf([program = '']: readonly string[]): string {
  return Buffer.from(program, 'latin1').toString();
}

/** Of 0, 1 and 2 all: a wrapper that is given a terminal makes one stream of them. */
function seesTerminal(run: RunRequest, fds: readonly number[]): boolean {
  return [0, 1, 2].every((number) => {
    const at = run.fds.indexOf(number);
    return at >= 0 && isTty(fds[at] ?? -1);
  });
}
