import { getEventListeners } from 'node:events';

import { expect, it } from 'vitest';

import { listenForAbort } from '../../../src/client/abort.js';

it('many share one listener, and each is called', () => {
  const controller = new AbortController();
  const called: number[] = [];
  const ends = Array.from({ length: 40 }, (_, i) => listenForAbort(controller.signal, () => called.push(i)));
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  ends[7]?.();
  ends[7]?.();
  controller.abort();
  expect(called).toEqual(Array.from({ length: 40 }, (_, i) => i).filter((i) => i !== 7));
});

it('nothing is left on a signal once nobody listens, and it can be listened to again', () => {
  const controller = new AbortController();
  let called = 0;
  const ends = [1, 2].map(() => listenForAbort(controller.signal, () => called++));
  for (const end of ends) end();
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0);
  listenForAbort(controller.signal, () => called++);
  controller.abort();
  expect(called).toBe(1);
});
