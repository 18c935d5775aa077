// Pins src/agent/admission.ts: as many run as may, the others in the order they came, and nobody is forgotten.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Admission } from '../../../src/agent/admission.js';

describe('admission', () => {
  it('lets everybody run when there is no cap', () => {
    const admission = new Admission<number>(0, 0);
    expect(Array.from({ length: 1000 }, (_, item) => admission.admit(item))).toEqual(Array(1000).fill('run'));
    expect([admission.running, admission.queued]).toEqual([1000, []]);
  });

  it('tells positions, then that the queue is full', () => {
    const admission = new Admission<string>(1, 2);
    expect(['a', 'b', 'c', 'd'].map((item) => admission.admit(item))).toEqual(['run', 1, 2, 'full']);
    expect(admission.leave('a')).toEqual(['b']);
    expect(admission.admit('e')).toBe(2);
    expect(admission.queued).toEqual(['c', 'e']);
  });

  it('lets a waiting one go without letting another in', () => {
    const admission = new Admission<string>(1, 9);
    for (const item of ['a', 'b', 'c']) admission.admit(item);
    expect(admission.leave('b')).toEqual([]);
    expect(admission.leave('a')).toEqual(['c']);
    expect(admission.leave('a')).toEqual([]);
    expect(admission.leave('nobody')).toEqual([]);
  });

  it('has no queue when it is to have none', () => {
    const admission = new Admission<string>(1, 0);
    expect(['a', 'b'].map((item) => admission.admit(item))).toEqual(['run', 'full']);
  });

  it('is first come, first served, and never over its caps', () => {
    const steps = fc.array(fc.oneof(fc.constant<'admit'>('admit'), fc.nat(20)), { maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4 }), fc.nat(5), steps, (maxRunning, maxQueue, actions) => {
        const admission = new Admission<number>(maxRunning, maxQueue);
        const running: number[] = [];
        const waiting: number[] = [];
        let next = 0;
        for (const action of actions) {
          if (action === 'admit') {
            const item = next++;
            const answer = admission.admit(item);
            if (running.length < maxRunning) expect(answer).toBe('run');
            else expect(answer).toBe(waiting.length < maxQueue ? waiting.length + 1 : 'full');
            if (answer === 'run') running.push(item);
            else if (answer !== 'full') waiting.push(item);
          } else {
            const inside = [...running, ...waiting];
            const item = inside[action % Math.max(inside.length, 1)];
            if (item === undefined) continue;
            const admitted = admission.leave(item);
            for (const list of [running, waiting]) if (list.includes(item)) list.splice(list.indexOf(item), 1);
            const expected = waiting.splice(0, maxRunning - running.length);
            expect(admitted).toEqual(expected);
            running.push(...expected);
          }
          expect([admission.running, admission.queued]).toEqual([running.length, waiting]);
        }
      }),
    );
  });
});
