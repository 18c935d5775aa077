// What the session's commands cost, one record each, for `holdfast trace`. Off until it is asked for. It keeps the last CAPACITY
// commands and of each no more than COMMAND_BYTES of its words, so that it may stay on all day.

import type { Timings } from '../protocol/exited.js';
import type { JsonObject } from '../protocol/json.js';
import { refusalName, stepName } from '../protocol/numbers.js';
import { decodeWaitStatus } from '../protocol/outcome.js';
import type { StringList } from '../protocol/strings.js';
import type { TraceEnding, TraceRecord } from '../protocol/trace-record.js';
import type { Result } from './request.js';

const CAPACITY = 4096;
/** At its worst (six bytes of JSON each) a full answer still fits into a frame. */
const COMMAND_BYTES = 384;

/** What is asked of a request. */
export interface Traced {
  readonly run: { readonly argv: StringList };
  readonly result: Result | undefined;
  readonly pid: number;
  readonly job: string;
  /** As performance.now() has it. */
  readonly acceptedAt: number;
  timings(): Timings;
}

export class Trace {
  readonly #carriedKib: () => number;
  #since: number | undefined;
  #isOn = false;
  /** A ring: the oldest is at #count % CAPACITY once it is full. */
  #records: TraceRecord[] = [];
  #count = 0;

  /** @param carriedKib what the kernel gives a target for its peak at its start. */
  constructor(carriedKib: () => number) {
    this.#carriedKib = carriedKib;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /** Begins anew. */
  start(): void {
    this.#isOn = true;
    this.#since = Date.now();
    this.#records = [];
    this.#count = 0;
  }

  /** What was kept stays to be read. */
  stop(): void {
    this.#isOn = false;
  }

  add(request: Traced): void {
    if (!this.#isOn) return;
    this.#records[this.#count % CAPACITY] = this.#recordOf(request);
    this.#count++;
  }

  /** @param live what waits or runs now. */
  describe(live: Iterable<Traced>): JsonObject {
    const cut = this.#count % CAPACITY;
    const kept = this.#count > CAPACITY ? [...this.#records.slice(cut), ...this.#records.slice(0, cut)] : this.#records;
    const unfinished = this.#isOn
      ? [...live].filter((request) => request.result === undefined).map((request) => this.#recordOf(request))
      : [];
    return { ...this.state(), records: [...kept, ...unfinished] };
  }

  state(): JsonObject {
    return { on: this.#isOn, since: this.#since ?? null, capacity: CAPACITY, lost: Math.max(0, this.#count - CAPACITY), now: nowUs() };
  }

  #recordOf(request: Traced): TraceRecord {
    const { result, pid, job } = request;
    const block = request.run.argv.block;
    const isLong = block.length - 1 > COMMAND_BYTES;
    const command = isLong ? `${block.toString('utf8', 0, COMMAND_BYTES)}…` : block.toString('utf8', 0, block.length - 1);
    const acceptedUs = Math.round((performance.timeOrigin + request.acceptedAt) * 1000);
    if (result?.kind !== 'exited') {
      return {
        ...request.timings(),
        userUs: 0,
        systemUs: 0,
        peakBytes: 0,
        isPeakBound: false,
        acceptedUs,
        pid,
        command,
        job,
        ending: failureOf(result),
      };
    }
    const { usage, timings, tree, cancelledBy } = result.exited;
    const ending = decodeWaitStatus(result.exited.waitStatus);
    return {
      ...timings,
      userUs: usage.userUs,
      systemUs: usage.systemUs,
      peakBytes: tree.peakBytes ?? usage.maxRssKib * 1024,
      isPeakBound: tree.peakBytes === undefined && usage.maxRssKib <= this.#carriedKib(),
      acceptedUs,
      pid,
      command,
      job,
      ending: cancelledBy === 'nobody' ? ending : { kind: 'cancelled', by: cancelledBy, ending },
    };
  }
}

function nowUs(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1000);
}

function failureOf(result: Exclude<Result, { kind: 'exited' }> | undefined): TraceEnding | undefined {
  if (result === undefined) return undefined;
  return result.kind === 'refused'
    ? { kind: 'refused', code: refusalName(result.code) }
    : { kind: 'notStarted', step: stepName(result.step), errno: result.errno };
}
