// The wrapper of a session with mode "wrap": what each request becomes behind it, and how what it starts elsewhere is ended with the
// session. The rewriting itself is src/wrap/; here are the facts of this host.

import { randomBytes } from 'node:crypto';
import type { ChildChange } from '../native/children.js';
import type { SpawnRequest } from '../native/spawn.js';
import type { RunRequest } from '../protocol/run.js';
import { packStrings, type StringList } from '../protocol/strings.js';
import { isPlain } from '../wrap/command.js';
import { inheritsEnvironment, needsCaller, type WrapDefinition } from '../wrap/definition.js';
import { type DeclaredEnvironment, insideEnvironment } from '../wrap/environment.js';
import { mapPath, mapWord } from '../wrap/path-map.js';
import { BaseEnvironment } from './base-environment.js';
import { directoryOf } from './directory.js';
import { entersOtherUsers, NameProof, processName, statusProof } from './end-proof.js';
import { Errands, type WrapperPlace } from './errands.js';
import { FarGuard } from './far-guard.js';
import { FarSide } from './far-side.js';
import type { SpawnPlan } from './spawn-plan.js';
import { fileProof, type Proof, pipeProof, spareNumber } from './start-proof.js';
import { WrappedRun } from './wrapped-run.js';
import { WrapperWords } from './wrapper-words.js';

export interface WrappingFacts {
  /** All text in it is latin1, one character a byte. */
  readonly wrap: WrapDefinition;
  /** What the session's launcher entered; `undefined`: nothing, and the wrapper runs in the caller's environment. */
  readonly entered: ReadonlyMap<string, string> | undefined;
  readonly declared: DeclaredEnvironment;
  readonly plan: SpawnPlan;
  readonly killGraceMs: number;
}

const NO_VARIABLES: ReadonlyMap<string, string> = new Map();

export class Wrapping {
  readonly wrap: WrapDefinition;
  readonly errands: Errands;
  readonly words: WrapperWords;
  readonly #facts: WrappingFacts;
  /** What HOLDFAST_RUN begins with, in all that this session starts. */
  readonly #mark: string = randomBytes(12).toString('hex');
  readonly #guard: FarGuard;
  /** It has written its status so far. */
  #hasStatus = true;
  #looksAtEnds: boolean | undefined;
  #count = 0;
  /** The name of a process that is the wrapper. */
  readonly #ownName: Buffer;
  #plain: { readonly cwd: Buffer; readonly isPlain: boolean } | undefined;
  #placed: Placed | undefined;
  /** Of the last command that was started: by it the far side is reached at the end. */
  #lastPlace: WrapperPlace | undefined;

  constructor(facts: WrappingFacts) {
    this.wrap = facts.wrap;
    this.#facts = facts;
    this.words = new WrapperWords(facts.wrap);
    this.#ownName = Buffer.from(processName(facts.wrap.prefix[0] ?? ''), 'latin1');
    this.errands = new Errands(facts.plan.limits);
    this.#guard = new FarGuard(facts.wrap, `${this.#mark}.`, this.#proofFile, facts.killGraceMs);
  }

  /** The wrapper is to run in an environment that only the caller has. */
  get needsCaller(): boolean {
    return needsCaller(this.wrap, this.#facts.entered !== undefined);
  }

  /** The inside's environment is not known here. */
  get isRemote(): boolean {
    return !inheritsEnvironment(this.wrap);
  }

  get #proofFile(): string {
    return this.wrap.failureCodes.length === 0 || this.wrap.farSide === 'local' ? '' : `/tmp/.holdfast-${this.#mark}`;
  }

  forRequest(): WrappedRun {
    // A marker is found by its beginning: without the dot at its end, that of 1 would be found in 10.
    return new WrappedRun(this, `${this.#mark}.${++this.#count}.`, this.#facts.plan);
  }

  /** A command is about to be started from there: whatever ends us, its far side is to be found. */
  starting(place: WrapperPlace): void {
    this.#lastPlace = place;
    if (this.wrap.farSide === 'marker') this.#guard.remember(place);
  }

  farSide(place: WrapperPlace, marker: string): FarSide | undefined {
    return this.wrap.farSide === 'marker' ? new FarSide(this.wrap, this.errands, place, marker) : undefined;
  }

  /** @param isOurChild the wrapper will be, and no warden's. */
  proof(marker: string, run: RunRequest, isOurChild: boolean): Proof | undefined {
    const { wrap } = this;
    if (wrap.failureCodes.length === 0) return undefined;
    if (this.#proofFile !== '') return fileProof(wrap, this.#proofFile, marker);
    const program = (): string => this.#programInside(run);
    if (isOurChild && this.looksAtEnds && this.#isPlainIn(run.cwd) && !this.#isWrapperItself(run)) return new NameProof(wrap, program);
    const number = spareNumber(run.fds);
    if (number === undefined) return undefined;
    if (wrap.tells !== 'status' || !this.#hasStatus) return pipeProof(wrap, number);
    return statusProof(wrap, program, number, () => {
      this.#hasStatus = false;
    });
  }

  /** The wrapper's end, as it is seen before it is reaped, may show whose the exit code is. */
  get looksAtEnds(): boolean {
    const { tells, failureCodes, operand } = this.wrap;
    this.#looksAtEnds ??= failureCodes.length > 0 && (tells === 'name' || (tells === 'child' && !entersOtherUsers(operand)));
    return this.#looksAtEnds;
  }

  /** What is looked up inside. */
  #programInside({ program, argv }: RunRequest): string {
    const name = program.length > 0 ? program.toString('latin1') : argv.block.toString('latin1', 0, argv.block.indexOf(0));
    return this.wrap.mapArgv ? mapWord(this.wrap.pathMap, name) : name;
  }

  /** The command has the name of the wrapper. */
  #isWrapperItself(run: RunRequest): boolean {
    if (run.program.length === 0 && !run.argv.block.includes(this.#ownName)) return false; // nearly always
    return processName(this.#programInside(run)) === this.#ownName.toString('latin1');
  }

  #isPlainIn(cwd: Buffer): boolean {
    if (this.#plain?.cwd !== cwd) this.#plain = { cwd, isPlain: isPlain(this.wrap, directoryOf(cwd).text) };
    return this.#plain.isPlain;
  }

  inside(run: RunRequest): ReturnType<typeof insideEnvironment> {
    return insideEnvironment(this.#facts.declared, changesOf(run.env), run.exact, (path) => mapPath(this.wrap.pathMap, path));
  }

  /**
   * A job of a parallel make: one of them has make's terminal as its input. A wrapper that takes it for itself (docker makes it raw) would
   * take Ctrl-C away from make and from all the others.
   */
  isOneOfMany(run: RunRequest): boolean {
    return /(^| )--jobserver-/.test(callerOf(run.env).get('MAKEFLAGS') ?? '');
  }

  /** @param added to the wrapper's own environment. */
  place(run: RunRequest, added: ReadonlyMap<string, string>): WrapperPlace {
    const last = this.#placed;
    if (last !== undefined && added.size === 0 && isSamePlace(last.run, run)) return last.place;
    const place = this.#makePlace(run, added);
    this.#placed = added.size === 0 ? { run: { env: run.env, exact: run.exact, cwd: run.cwd }, place } : undefined;
    return place;
  }

  #makePlace(run: RunRequest, added: ReadonlyMap<string, string>): WrapperPlace {
    const { entered, plan } = this.#facts;
    const more = packStrings([...added].map(([name, value]) => Buffer.from(`=${name}=${value}`, 'latin1')));
    const caller = callerOf(run.env);
    const { text, path } = directoryOf(run.cwd);
    const env = inheritsEnvironment(this.wrap)
      ? plan.base.forTarget(joined(run.env, more), run.exact, text)
      : new BaseEnvironment(entered ?? NO_VARIABLES, entered === undefined ? [...caller] : []).forTarget(more, false, text);
    return { env: entered === undefined ? { ...env, path: pathOf(caller) } : env, cwd: path };
  }

  isHelper(pid: number): boolean {
    return this.errands.isHelper(pid) || this.#guard.isHelper(pid);
  }

  /** True: it was a child of ours. */
  changed(change: ChildChange): boolean {
    return this.errands.changed(change) || this.#guard.changed(change);
  }

  /** Ends what commands have left on the far side. Bounded in time. */
  async close(graceMs: number): Promise<void> {
    const place = this.#lastPlace;
    if (place === undefined) return;
    const file = this.#proofFile;
    // Without a marker only the file is left to be removed.
    const far =
      this.farSide(place, `${this.#mark}.`) ?? (file === '' ? undefined : new FarSide(this.wrap, this.errands, place, `${this.#mark}.`));
    const answer = await far?.sweep(graceMs, file);
    if (answer === 'left' || answer === 'unreachable')
      process.stderr.write(
        `holdfast: what the session left behind its wrapper could not be ended: ${answer === 'left' ? 'it lives on' : 'the wrapper fails'}\n`,
      );
    this.#guard.end();
  }
}

/** As latin1; the caller's own variables are among them. */
function changesOf(list: StringList): string[] {
  return list.count === 0 ? [] : list.block.toString('latin1', 0, list.block.length - 1).split('\0');
}

function callerOf(list: StringList): Map<string, string> {
  const caller = new Map<string, string>();
  for (const change of changesOf(list)) {
    if (change[0] !== '~') continue;
    const equals = change.indexOf('=', 2);
    caller.set(change.slice(1, equals), change.slice(equals + 1));
  }
  return caller;
}

function pathOf(variables: ReadonlyMap<string, string>): SpawnRequest['searchPath'] {
  const path = variables.get('PATH');
  return path === undefined ? undefined : Buffer.from(`${path}\0`, 'latin1');
}

/** What the last place was made of. Most commands come from the same one. */
interface Placed {
  readonly run: Pick<RunRequest, 'env' | 'exact' | 'cwd'>;
  readonly place: WrapperPlace;
}

function isSamePlace(one: Placed['run'], other: Placed['run']): boolean {
  return one.exact === other.exact && one.cwd.equals(other.cwd) && one.env.block.equals(other.env.block);
}

function joined(first: StringList, second: StringList): StringList {
  if (second.count === 0) return first;
  return { count: first.count + second.count, block: Buffer.concat([first.block, second.block]) };
}
