import { writeSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';

import { OutputEnd } from '../../../src/client/output-end.js';
import { closeFd, fdFlags, makePipe } from '../../../src/native/descriptors.js';
import { eventually } from '../../harness/eventually.js';

describe('our end of an output', () => {
  it('is one stream, however often it is asked for', async () => {
    const { read, write } = makePipe();
    const end = new OutputEnd(read);
    const { stream } = end;
    writeSync(write, 'while it runs');
    closeFd(write);
    end.settle();
    expect(end.stream).toBe(stream);
    expect(await text(stream)).toBe('while it runs');
  });

  it('that nobody has asked for by the end holds no descriptor, and its bytes can still be had', async () => {
    const { read, write } = makePipe();
    const end = new OutputEnd(read);
    writeSync(write, 'x'.repeat(60_000));
    closeFd(write);
    end.settle();
    expect(fdFlags(read)).toBeUndefined();
    expect(await text(end.stream)).toBe('x'.repeat(60_000));
  });

  it('without a byte is an empty stream', async () => {
    const { read, write } = makePipe();
    const end = new OutputEnd(read);
    closeFd(write);
    end.settle();
    end.settle();
    expect(await text(end.stream)).toBe('');
  });

  it('that something still writes to is read on, and given up when that ends', async () => {
    const { read, write } = makePipe();
    const end = new OutputEnd(read);
    writeSync(write, 'the target’s');
    end.settle();
    // More than fits: were it not read, this would wait for ever.
    writeSync(write, 'y'.repeat(60_000));
    await eventually(() => expect(writeSync(write, 'z')).toBe(1));
    closeFd(write);
    expect(await text(end.stream)).toBe('the target’s');
    await eventually(() => expect(fdFlags(read)).toBeUndefined());
  });

  it('is closed when it is given up', () => {
    const { read, write } = makePipe();
    const end = new OutputEnd(read);
    end.destroy();
    expect(fdFlags(read)).toBeUndefined();
    closeFd(write);
  });
});
