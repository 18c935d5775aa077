// Pins src/agent/request.ts with real targets and a host made by hand: one outcome on every path, and its descriptors closed on each.

import { closeSync, openSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import { BaseEnvironment } from '../../../src/agent/base-environment.js';
import { type Containment, GroupContainment } from '../../../src/agent/containment.js';
import { type Reply, Request, type RequestHost } from '../../../src/agent/request.js';
import { type ChildChange, watchChildren } from '../../../src/native/children.js';
import { parseFrame } from '../../../src/protocol/frame.js';
import { type AgentMessage, packStrings, parseAgentFrame, RefusalCode, type RunRequest, Step } from '../../../src/protocol/messages.js';
import { eventually } from '../../harness/eventually.js';
import { isAlive } from '../../harness/processes.js';
import { expectNoDescriptorsLeft } from '../native/descriptors.js';
import { executable, scratch } from '../native/targets.js';
import { runRequest } from './requests.js';

const [SIGKILL, SIGTERM, SIGUSR1, SIGSTOP] = [9, 15, 10, 19];
const { ENOSPC, ETXTBSY } = constants.errno;

const running = new Map<number, Request>();
watchChildren((change: ChildChange) => running.get(change.pid)?.onChange(change));

/** One request and all that is heard of it. */
class Asked implements Reply, RequestHost {
  readonly plan = {
    base: new BaseEnvironment(new Map([['PATH', '/usr/bin:/bin']])),
    limits: new Float64Array(0),
    functions: new Map(),
    lastPath: undefined,
  };
  readonly killGraceMs = 100;
  readonly messages: AgentMessage[] = [];
  readonly request: Request;
  readonly #containment: () => Containment;
  ends = 0;
  replyEnds = 0;

  constructor(argv: readonly string[], own: Partial<RunRequest> = {}, containment: () => Containment = () => new GroupContainment()) {
    this.#containment = containment;
    const fds = (own.fds ?? [0, 1, 2]).map(() => openSync('/dev/null', 'r+'));
    this.request = new Request(this, runRequest({ argv: packStrings(argv), fds: [0, 1, 2], ...own }), fds, this);
  }

  send(frame: Buffer, fds?: readonly number[]): boolean {
    const parsed = parseFrame(frame, 'agent');
    if (parsed === undefined) throw new Error('half a frame');
    expect(parsed.frame.fdCount).toBe(fds?.length ?? 0);
    this.messages.push(parseAgentFrame(parsed.frame));
    return true;
  }

  end(): void {
    this.replyEnds++;
  }

  contain(): Containment {
    return this.#containment();
  }

  started(request: Request, pid: number): void {
    running.set(pid, request);
  }

  changed(): void {}

  ended(): void {
    this.ends++;
  }

  get types(): string[] {
    return this.messages.map(({ type }) => type);
  }

  async outcome(): Promise<AgentMessage | undefined> {
    await eventually(() => expect(this.ends).toBe(1));
    expect(this.replyEnds).toBeLessThanOrEqual(1);
    return this.messages.at(-1);
  }
}

describe('a request', () => {
  expectNoDescriptorsLeft();

  it('goes from SPAWNED to EXITED', async () => {
    const asked = new Asked(['sh', '-c', 'exit 6']);
    expect([asked.types, asked.request.isRunning]).toEqual([[], false]);
    asked.request.start();
    expect([asked.types, asked.request.isRunning]).toEqual([['spawned'], true]);
    expect(await asked.outcome()).toMatchObject({ type: 'exited', waitStatus: 6 << 8, cancelledBy: 'nobody' });
    asked.request.start();
    asked.request.cancel('client');
    asked.request.signal(SIGTERM);
    expect([asked.types, asked.ends, asked.replyEnds]).toEqual([['spawned', 'exited'], 1, 1]);
  });

  it('that cannot be started ends with NOT_STARTED', async () => {
    const asked = new Asked(['no-such-program']);
    asked.request.start();
    expect(await asked.outcome()).toMatchObject({ type: 'notStarted', step: Step.PROGRAM });
    expect(asked.types).toEqual(['notStarted']);
  });

  it('for a program that stays busy gives up', async () => {
    const program = executable(scratch(), 'program', readFileSync('/bin/true'));
    const writer = openSync(program, 'r+');
    const asked = new Asked([program]);
    asked.request.start();
    expect(asked.types).toEqual([]);
    expect(await asked.outcome()).toMatchObject({ type: 'notStarted', step: Step.EXEC, errno: ETXTBSY });
    closeSync(writer);
  });

  it('for a program that is busy may be cancelled', async () => {
    const program = executable(scratch(), 'program', readFileSync('/bin/true'));
    const writer = openSync(program, 'r+');
    const asked = new Asked([program]);
    asked.request.start();
    asked.request.cancel('shutdown');
    expect(await asked.outcome()).toMatchObject({ type: 'refused', code: RefusalCode.STOPPING });
    closeSync(writer);
  });

  it('that waits may be cancelled: its client is told, unless it is gone', async () => {
    const told = new Asked(['true']);
    told.request.cancel('shutdown');
    expect(await told.outcome()).toMatchObject({ type: 'refused', code: RefusalCode.STOPPING });
    const gone = new Asked(['true']);
    gone.request.cancel('client');
    gone.request.start();
    expect(await gone.outcome()).toBeUndefined();
  });

  it('that cannot be contained is refused, for want or as our fault', async () => {
    const want = new Asked(['true'], {}, () => {
      throw Object.assign(new Error('full'), { errno: -ENOSPC });
    });
    want.request.start();
    expect(await want.outcome()).toMatchObject({ type: 'refused', code: RefusalCode.RESOURCES });
    const bug = new Asked(['true'], {}, () => {
      throw new TypeError('a bug');
    });
    bug.request.start();
    expect(await bug.outcome()).toMatchObject({ type: 'refused', code: RefusalCode.INTERNAL, message: expect.stringContaining('a bug') });
  });

  it('gives its target the signals that came before it', async () => {
    const asked = new Asked(['sh', '-c', 'sleep 600']);
    asked.request.signal(SIGUSR1);
    asked.request.start();
    expect(await asked.outcome()).toMatchObject({ waitStatus: SIGUSR1 });
  });

  it('tells of stops and goes on', async () => {
    const asked = new Asked(['sleep', '600']);
    asked.request.start();
    asked.request.suspend();
    await eventually(() => expect(asked.messages.at(-1)).toEqual({ type: 'stopped', signal: SIGSTOP }));
    asked.request.resume();
    await eventually(() => expect(asked.messages.at(-1)).toEqual({ type: 'continued' }));
    asked.request.signal(SIGKILL);
    expect(await asked.outcome()).toMatchObject({ waitStatus: SIGKILL });
  });

  it('is cancelled once: who came first is told', async () => {
    const asked = new Asked(['sleep', '600'], { ignored: 1n << BigInt(SIGTERM - 1) });
    asked.request.start();
    asked.request.cancel('deadline');
    asked.request.cancel('shutdown', 0);
    expect(await asked.outcome()).toMatchObject({ waitStatus: SIGKILL, cancelledBy: 'deadline' });
  });

  it('is over for its client with its target, and for the session with the last of what it held', async () => {
    const asked = new Asked(['sh', '-c', 'trap "exit 4" TERM; (trap "" TERM; while :; do sleep 0.02; done) & wait; wait'], {
      killGraceMs: 300,
    });
    asked.request.start();
    // The trap is set when the shell waits.
    await eventually(() => expect(readFileSync(`/proc/${asked.request.pid}/task/${asked.request.pid}/children`, 'utf8')).not.toBe(''));
    asked.request.cancel('shutdown');
    await eventually(() => expect(asked.types).toContain('exited'));
    expect([asked.replyEnds, asked.ends]).toEqual([1, 0]);
    await asked.outcome();
    await eventually(() => expect(isAlive(asked.request.pid)).toBe(false));
  });

  it('kills though its containment fails to at first', async () => {
    let fails = 2;
    class Failing extends GroupContainment {
      override signal(): boolean {
        return false;
      }
      override kill(): boolean {
        if (fails-- > 0) throw new Error('EMFILE');
        return super.kill();
      }
    }
    const asked = new Asked(['sleep', '600'], { killGraceMs: 20 }, () => new Failing());
    asked.request.start();
    asked.request.cancel('deadline');
    expect(await asked.outcome()).toMatchObject({ waitStatus: SIGKILL, cancelledBy: 'deadline' });
  });

  it('bears any deadline and any grace', async () => {
    const asked = new Asked(['sleep', '0.1'], { timeoutMs: 0xffffffff });
    asked.request.start();
    asked.request.cancel('shutdown', 0xfffffffe);
    expect(await asked.outcome()).toMatchObject({ waitStatus: SIGTERM, cancelledBy: 'shutdown' });
  });

  it('leaves no descriptor of a job’s file that is there twice', async () => {
    const file = openSync('/dev/null', 'r+');
    const own = new Asked(['true'], { fds: [] });
    const request = new Request(own, runRequest({ fds: [0, 1, 2] }), [file, file, file], own, 'id');
    request.start();
    await eventually(() => expect(own.ends).toBe(1));
    expect(() => closeSync(file)).toThrow('EBADF');
  });
});
