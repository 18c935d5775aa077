// What is made of a trace: text, and the Trace Event Format, whose required members are checked as its readers require them.

import { describe, expect, it } from 'vitest';
import type { Trace } from '../../../src/cli/trace-control.js';
import { type TraceEvent, traceFile } from '../../../src/cli/trace-events.js';
import { formatTimeline } from '../../../src/cli/trace-timeline.js';
import type { TraceRecord } from '../../../src/protocol/trace-record.js';

const plain: TraceRecord = {
  acceptedUs: 1_000_000,
  queuedUs: 0,
  spawnUs: 500,
  runUs: 9_500,
  userUs: 2_000,
  systemUs: 1_000,
  peakBytes: 3 * 1024 * 1024,
  isPeakBound: false,
  pid: 77,
  command: 'make\0-j8',
  job: '',
  ending: { kind: 'exited', code: 0 },
};

function trace(...records: Partial<TraceRecord>[]): Trace {
  return { on: true, since: 1, capacity: 4096, lost: 0, now: 2_000_000, records: records.map((record) => ({ ...plain, ...record })) };
}

const slices = (events: readonly TraceEvent[]): (TraceEvent & { ph: 'X' })[] =>
  events.flatMap((event) => (event.ph === 'X' ? [event] : []));

describe('the text of a trace', () => {
  it('has a line for each command, with what it cost and when it was', () => {
    const text = formatTimeline(
      trace(
        {},
        {
          acceptedUs: 1_002_000,
          queuedUs: 8_000,
          spawnUs: 0,
          runUs: 10_000,
          ending: { kind: 'cancelled', by: 'deadline', ending: { kind: 'signaled', signal: 15, core: false } },
        },
        { acceptedUs: 1_020_000, spawnUs: 0, runUs: 0, ending: { kind: 'notStarted', step: 'PROGRAM', errno: 2 }, command: 'a b' },
      ),
      10,
    );
    expect(text).toBe(
      [
        'AT       QUEUE  SPAWN  RUN    CPU    PEAK  TIME                            ENDED     COMMAND',
        '+0.000s  0.0ms  0.5ms  9.5ms  3.0ms  3.0M  ================                exit 0    make -j8',
        '+0.002s  8.0ms  0.0ms  10ms   3.0ms  3.0M     ............===============  deadline  make -j8',
        "+0.020s  0.0ms  0.0ms  0.0ms  3.0ms  3.0M                               .  ENOENT    'a b'",
        '',
      ].join('\n'),
    );
  });

  it('shows the last ones, and counts those before', () => {
    const text = formatTimeline({ ...trace({}, {}, { command: 'last' }), lost: 5 }, 1);
    expect(text.split('\n').slice(0, 3)).toEqual([
      '(7 earlier, of which 5 are not kept any more)',
      expect.stringMatching(/^AT/),
      expect.stringMatching(/last$/),
    ]);
  });

  it('says so when there is none', () => {
    expect(formatTimeline(trace(), 10)).toBe('no command was run yet\n');
    expect(formatTimeline({ ...trace(), on: false }, 10)).toBe('no command was run while it was traced\n');
  });
});

describe('the file of a trace', () => {
  it('has for each command a slice, and queue, start and run inside of it', () => {
    const { traceEvents } = traceFile('web', trace({ queuedUs: 100 }));
    expect(slices(traceEvents).map(({ name, ts, dur }) => [name, ts, dur])).toEqual([
      ['make', 1_000_000, 10_100],
      ['queue', 1_000_000, 100],
      ['spawn', 1_000_100, 500],
      ['run', 1_000_600, 9_500],
    ]);
    expect(slices(traceEvents)[0]?.args).toEqual({
      argv: ['make', '-j8'],
      pid: 77,
      ended: 'exit 0',
      cpuUserMs: 2,
      cpuSystemMs: 1,
      peakBytes: 3 * 1024 * 1024,
    });
  });

  it('gives what runs side by side lanes of its own, so that no slice crosses the edge of another', () => {
    const times = [0, 1, 2, 3, 11, 12, 13, 40];
    const { traceEvents } = traceFile('web', trace(...times.map((ms) => ({ acceptedUs: ms * 1000 }))));
    const commands = slices(traceEvents).filter(({ cat }) => cat === 'command');
    expect(commands.map(({ tid }) => tid)).toEqual([1, 2, 3, 4, 1, 2, 3, 1]);
    for (const [a, b] of commands.flatMap((a) => commands.map((b) => [a, b] as const))) {
      if (a.tid === b.tid && a.ts < b.ts) expect(a.ts + a.dur).toBeLessThanOrEqual(b.ts);
    }
  });

  it('counts how many run and wait at each moment', () => {
    const waiting = { acceptedUs: 1_001_000, queuedUs: 500, spawnUs: 0, runUs: 0 };
    const { ending: _, ...unfinished } = plain;
    const file = traceFile('web', {
      ...trace({}),
      records: [plain, { ...unfinished, ...waiting }, { ...unfinished, acceptedUs: 1_002_000 }],
    });
    const counters = file.traceEvents.flatMap((event) =>
      event.ph === 'C' ? [[event.ts, event.args['running'], event.args['waiting']]] : [],
    );
    expect(counters).toEqual([
      [1_000_000, 0, 1],
      [1_000_000, 1, 0],
      [1_001_000, 1, 1],
      [1_002_000, 1, 2],
      [1_002_000, 2, 1],
      [1_010_000, 1, 1],
    ]);
  });

  it('has every member that the format requires, of the type that it requires', () => {
    const file = JSON.parse(JSON.stringify(traceFile('web', trace({}, { job: 'j1' }, { command: '' }))));
    expect(file.displayTimeUnit).toBe('ms');
    for (const event of file.traceEvents) {
      expect(event).toMatchObject({
        name: expect.any(String),
        ph: expect.stringMatching(/^[XCM]$/),
        pid: expect.any(Number),
        tid: expect.any(Number),
      });
      if (event.ph !== 'M') expect(Number.isSafeInteger(event.ts)).toBe(true);
      if (event.ph === 'X') expect(event.dur).toBeGreaterThanOrEqual(0);
      if (event.ph === 'C') for (const value of Object.values(event.args)) expect(value).toEqual(expect.any(Number));
      if (event.ph === 'M') expect(['process_name', 'thread_name']).toContain(event.name);
    }
    const named = file.traceEvents.filter((event: TraceEvent) => event.ph === 'M').map((event: TraceEvent) => event.tid);
    for (const { tid } of slices(file.traceEvents)) expect(named).toContain(tid);
  });
});
