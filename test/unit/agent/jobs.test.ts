// Pins src/agent/job-output.ts and the files' names: nothing of a job's output is lost or kept beyond the limit, and what is in
// neither place is counted. Whole jobs are in test/e2e/jobs.test.ts.

import { closeSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { JobOutput, OutputBudget } from '../../../src/agent/job-output.js';
import { findJobFiles, jobFile } from '../../../src/session/job-files.js';
import { eventually } from '../../harness/eventually.js';
import { descriptorsOf } from '../../harness/processes.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-jobs-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

let serial = 0;

/** Its own end of the pipe, and what came of it. */
function open(limitBytes: number): { output: JobOutput; write(bytes: Buffer): void; close(): void; ended(): Promise<void> } {
  const output = new JobOutput(join(directory, `${++serial}.job`), limitBytes, new OutputBudget(), () => {});
  const [input, end] = output.takeDescriptors();
  closeSync(input);
  return {
    output,
    write: (bytes) => {
      for (let at = 0; at < bytes.length; ) {
        at += writeSync(end, bytes, at, Math.min(65_536, bytes.length - at));
        output.settle();
      }
    },
    close: () => closeSync(end),
    ended: async () => await eventually(() => expect([...descriptorsOf('self').values()]).not.toContain(output.path)),
  };
}

describe('the output of a job', () => {
  it('is the beginning, the end, and the number of what is between', async () => {
    const before = descriptorsOf('self').size;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 300 }),
        fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 }),
        async (limit, parts) => {
          const { output, write, close, ended } = open(limit);
          for (const part of parts) write(Buffer.from(part));
          const all = Buffer.concat(parts);
          const { bytes, fileBytes, tailBytes, cut } = output.facts;
          expect([bytes, cut]).toEqual([all.length, undefined]);
          expect(readFileSync(output.path).equals(all.subarray(0, fileBytes))).toBe(true);
          expect(output.tail.equals(all.subarray(all.length - tailBytes))).toBe(true);
          expect(fileBytes + tailBytes).toBeLessThanOrEqual(limit);
          expect(fileBytes).toBe(Math.min(all.length, limit - Math.floor(limit / 2)));
          expect(tailBytes).toBe(Math.min(all.length - fileBytes, Math.floor(limit / 2)));
          close();
          await ended();
          output.remove();
        },
      ),
      { numRuns: 50 },
    );
    await eventually(() => expect(descriptorsOf('self').size).toBeLessThanOrEqual(before + 2)); // Node's own, and the poller's
  });

  it('of more than a pipe holds is whole, and in a file of mode 600', async () => {
    const { output, write, close, ended } = open(64 * 1024 * 1024);
    const all = Buffer.alloc(3_000_000, 'abc\n');
    write(all);
    expect(output.facts).toEqual({ bytes: all.length, path: output.path, fileBytes: all.length, tailBytes: 0 });
    expect(readFileSync(output.path).equals(all)).toBe(true);
    expect(statSync(output.path).mode & 0o7777).toBe(0o600);
    close();
    await ended();
  });

  it('that is removed is written to nobody, and blocks nobody', async () => {
    const { output, write, close, ended } = open(1000);
    write(Buffer.alloc(600, 'x'));
    output.remove();
    output.remove();
    write(Buffer.alloc(500_000, 'y'));
    expect([output.tail.length, output.facts.tailBytes]).toEqual([0, 0]);
    expect(statSync(output.path, { throwIfNoEntry: false })).toBeUndefined();
    close();
    await ended();
  });

  it('never takes a file that is there', () => {
    const path = join(directory, 'there');
    writeFileSync(path, 'kept');
    expect(() => new JobOutput(path, 1000, new OutputBudget(), () => {})).toThrow('EEXIST');
  });
});

describe('the time for output', () => {
  it('is a quarter of all, counted over 8 ms', () => {
    const budget = new OutputBudget();
    expect(budget.spend(100, 101)).toBe(0);
    expect(budget.spend(102, 103.5)).toBeCloseTo(5.5);
    expect(budget.spend(104, 104.5)).toBeCloseTo(4.5);
    expect(budget.spend(110, 111)).toBe(0);
  });
});

describe('the files of jobs', () => {
  it('are told from those of sessions whose names begin alike', () => {
    const stem = join(directory, 'a');
    const own = [jobFile(stem, 'k3x9-1'), jobFile(stem, 'k3x9-12')];
    const foreign = [
      `${stem}.json`,
      jobFile(`${stem}.b`, 'k3x9-1'),
      jobFile(`${stem}a`, 'k3x9-1'),
      `${stem}.b.job`,
      `${stem}.job`,
      `${stem}.x-1.job.sock`,
    ];
    for (const path of [...own, ...foreign]) writeFileSync(path, '');
    expect(findJobFiles(stem).sort()).toEqual(own);
  });
});
