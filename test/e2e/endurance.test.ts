// A session is held for days. Pins that many commands, at once and one after the other, leave its agent as it was.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { programs, useHoldfast } from '../harness/holdfast.js';
import { descendantsOf, zombiesOf } from '../harness/processes.js';

const RUNS = 10_000;
/** By now every path has run often enough that what is kept on purpose is there: compiled code, a heap of its usual size. */
const WARM_UP_RUNS = 3_000;
/** The heap breathes by this much from one collection to the next. */
const BREATH_KB = 12_000;

const holdfast = useHoldfast();

function residentKb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}

it('120 clients at once are all served, each with its own ending', async () => {
  const session = await holdfast.open('crowd');
  const clients = Array.from({ length: 120 }, (_, index) => session.start(['sh', '-c', `echo ${index}; exit ${index}`]));
  const ended = await Promise.all(clients.map((client) => client.ended));
  expect(ended.map(({ code, stdout, stderr }) => [code, `${stdout}`, `${stderr}`])).toEqual(
    ended.map((_, index) => [index, `${index}\n`, '']),
  );
});

it(`${RUNS} runs leave descriptors, memory and children flat`, { timeout: 180_000 }, async () => {
  const session = await holdfast.open('long');
  const many = async (runs: number): Promise<void> => {
    const command = `seq ${runs} | xargs -P4 -n1 "$0" --session long -- /bin/true`;
    const { code, stderr } = await holdfast.run(['sh', '-c', command, programs.runnerExec]);
    expect([code, `${stderr}`]).toEqual([0, '']);
  };

  await many(WARM_UP_RUNS);
  const descriptors = await eventually(() => {
    const count = session.descriptors().size;
    expect(descendantsOf(session.pid).filter(({ command }) => command === '/bin/true')).toEqual([]);
    return count;
  });
  const children = descendantsOf(session.pid).length;
  const memoryKb = residentKb(session.pid);

  await many(RUNS - WARM_UP_RUNS);
  await eventually(() => {
    expect(zombiesOf(session.pid)).toEqual([]);
    expect(descendantsOf(session.pid)).toHaveLength(children);
    expect(session.descriptors().size).toBeLessThanOrEqual(descriptors);
  });
  expect(residentKb(session.pid)).toBeLessThan(memoryKb + BREATH_KB);
  expect(await session.status()).toMatchObject({ running: 0, queued: 0, runs: RUNS });
});
