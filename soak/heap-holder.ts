// A Node process that holds as many MB of heap as its argument says, and times spawn() when it is told how often: heap.ts.

import { watchChildren } from '../src/native/children.js';
import { closeFd } from '../src/native/descriptors.js';
import { PLAIN, spawn } from '../src/native/spawn.js';
import { packStrings } from '../src/protocol/strings.js';

const PER_MB = 131_072;
const held = Array.from({ length: Number(process.argv[2]) }, (_, index) => Array.from({ length: PER_MB }, (_, at) => index + at + 0.5));

let childEnded: () => void = () => {};
watchChildren(() => childEnded());

async function time(): Promise<number> {
  const ended = new Promise<void>((resolve) => {
    childEnded = resolve;
  });
  const startedAt = performance.now();
  const result = spawn({
    ...PLAIN,
    program: Buffer.from('/bin/true\0'),
    argv: packStrings(['true']),
    env: packStrings([]),
    umask: 0o022,
  });
  const ms = performance.now() - startedAt;
  if (!result.started) throw new Error(`spawn: errno ${result.errno}`);
  if (result.pidfd >= 0) closeFd(result.pidfd);
  await ended;
  return ms;
}

process.on('message', async (spawns) => {
  const timings: number[] = [];
  while (timings.length < Number(spawns)) timings.push(await time());
  process.send?.(timings);
});
process.on('disconnect', () => process.exit(held.length > 0 ? 0 : 1));
process.send?.([process.memoryUsage().heapUsed / 2 ** 20]);
