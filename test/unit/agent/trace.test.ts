import { describe, expect, it } from 'vitest';
import type { Result } from '../../../src/agent/request.js';
import { Trace, type Traced } from '../../../src/agent/trace.js';
import type { Exited } from '../../../src/protocol/exited.js';
import { packStrings } from '../../../src/protocol/strings.js';

const timings = { queuedUs: 1, spawnUs: 2, runUs: 3 };

function exited(more: Partial<Exited> = {}, maxRssKib = 0): Result {
  const usage = { userUs: 4, systemUs: 5, maxRssKib, minorFaults: 0, majorFaults: 0, blocksIn: 0, blocksOut: 0 };
  const switches = { voluntarySwitches: 0, involuntarySwitches: 0 };
  const tree = { cpuUs: undefined, peakBytes: undefined };
  return {
    kind: 'exited',
    exited: { waitStatus: 0, cancelledBy: 'nobody', usage: { ...usage, ...switches }, timings, tree, leftovers: [], ...more },
  };
}

function request(argv: string[], result: Result | undefined): Traced {
  return { run: { argv: packStrings(argv) }, result, pid: 9, job: '', acceptedAt: 10, timings: () => timings };
}

function recordsOf(trace: Trace, live: Traced[] = []): Record<string, unknown>[] {
  const { records } = JSON.parse(JSON.stringify(trace.describe(live)));
  return records;
}

describe('a trace', () => {
  it('keeps nothing until it is started, and nothing more once it is stopped', () => {
    const trace = new Trace(() => -1);
    trace.add(request(['a'], exited()));
    expect(trace.describe([request(['b'], undefined)])).toMatchObject({ on: false, since: null, records: [] });
    trace.start();
    trace.add(request(['c'], exited()));
    trace.stop();
    trace.add(request(['d'], exited()));
    expect(recordsOf(trace, [request(['e'], undefined)]).map(({ command }) => command)).toEqual(['c']);
    trace.start();
    expect(trace.describe([])).toMatchObject({ on: true, since: expect.any(Number), records: [] });
  });

  it('keeps the last commands, oldest first, and counts those that it has lost', () => {
    const trace = new Trace(() => -1);
    trace.start();
    for (let i = 0; i < 5000; i++) trace.add(request([String(i)], exited()));
    const records = recordsOf(trace);
    expect(trace.describe([])).toMatchObject({ capacity: 4096, lost: 904 });
    expect(records.map(({ command }) => command)).toEqual(Array.from({ length: 4096 }, (_, i) => String(i + 904)));
  });

  it('tells how each command ended, and shows those that have not', () => {
    const trace = new Trace(() => -1);
    trace.start();
    trace.add(request(['a', 'b c'], exited({ waitStatus: 7 << 8 })));
    trace.add(request(['a'], exited({ waitStatus: 9, cancelledBy: 'deadline' })));
    trace.add(request(['a'], { kind: 'notStarted', step: 1, errno: 2 }));
    trace.add(request(['a'], { kind: 'refused', code: 4 }));
    const records = recordsOf(trace, [request(['now'], undefined), request(['over'], exited())]);
    expect(records.map(({ ending }) => ending)).toEqual([
      { kind: 'exited', code: 7 },
      { kind: 'cancelled', by: 'deadline', ending: { kind: 'signaled', signal: 9, core: false } },
      { kind: 'notStarted', step: 'PROGRAM', errno: 2 },
      { kind: 'refused', code: 'STOPPING' },
      undefined,
    ]);
    expect(records[0]).toEqual({
      ...timings,
      userUs: 4,
      systemUs: 5,
      peakBytes: 0,
      isPeakBound: false,
      acceptedUs: expect.any(Number),
      pid: 9,
      command: 'a\0b c',
      job: '',
      ending: { kind: 'exited', code: 7 },
    });
    expect(records[4]).toMatchObject({ command: 'now' });
  });

  it('says where a peak of memory is the command’s own, and where it is only known to be no more', () => {
    const trace = new Trace(() => 1000);
    trace.start();
    trace.add(request(['a'], exited({}, 1000)));
    trace.add(request(['a'], exited({}, 1001)));
    trace.add(request(['a'], exited({ tree: { cpuUs: 1, peakBytes: 7 } }, 1001)));
    expect(recordsOf(trace).map(({ peakBytes, isPeakBound }) => [peakBytes, isPeakBound])).toEqual([
      [1000 * 1024, true],
      [1001 * 1024, false],
      [7, false],
    ]);
  });

  it('fits into one answer, whatever the commands are', () => {
    const trace = new Trace(() => -1);
    trace.start();
    for (let i = 0; i < 5000; i++) trace.add(request(['\x01'.repeat(100_000)], exited()));
    expect(Buffer.byteLength(JSON.stringify(trace.describe([])))).toBeLessThan(16 * 1024 * 1024);
    expect(recordsOf(trace)[0]).toMatchObject({ command: `${'\x01'.repeat(384)}…` });
  });
});
