// Pins src/agent/spawn-plan.ts: from a request to what the native part executes.

import { describe, expect, it } from 'vitest';
import { BaseEnvironment } from '../../../src/agent/base-environment.js';
import { groups } from '../../../src/agent/containment.js';
import { type SpawnPlan, toSpawnRequest } from '../../../src/agent/spawn-plan.js';
import { EMPTY_LIST, packStrings } from '../../../src/protocol/strings.js';
import { runRequest } from './requests.js';

describe('a spawn request', () => {
  const plan = (): SpawnPlan => ({
    base: new BaseEnvironment(new Map([['PATH', '/bin']])),
    limits: new Float64Array([7, 1024, 4096]),
    functions: new Map(),
    lastPath: undefined,
  });

  it('executes argv[0] unless a program is named', () => {
    const argv = packStrings(['name', 'word']);
    const own = plan();
    const plain = toSpawnRequest(own, runRequest({ argv }), [], groups.make(runRequest({})));
    expect([plain.program, plain.argv, plain.searchPath?.toString(), own.lastPath?.toString()]).toEqual([
      undefined,
      argv,
      '/bin\0',
      '/bin\0',
    ]);
    const named = toSpawnRequest(own, runRequest({ argv, program: Buffer.from('/bin/other') }), [], groups.make(runRequest({})));
    expect(named.program?.toString()).toBe('/bin/other\0');
  });

  it('has the launcher’s limits, then the request’s', () => {
    const limits = [{ resource: 1, soft: 5n, hard: 0xffffffffffffffffn }];
    const { limits: all } = toSpawnRequest(plan(), runRequest({ limits }), [], groups.make(runRequest({})));
    expect([...all]).toEqual([7, 1024, 4096, 1, 5, Infinity]);
  });

  it('takes the last descriptor for the directory when told to', () => {
    const run = runRequest({ fds: [0, 1], cwdByDescriptor: true, cwd: Buffer.from('/gone') });
    const { cwd, cwdFd, fds, numbers } = toSpawnRequest(plan(), run, [20, 21, 22], groups.make(run));
    expect([cwd, cwdFd, [...fds], [...numbers]]).toEqual([undefined, 22, [20, 21], [0, 1]]);
  });

  it('has nothing in its environment when exact and empty', () => {
    const { env, searchPath } = toSpawnRequest(plan(), runRequest({ exact: true, env: EMPTY_LIST }), [], groups.make(runRequest({})));
    expect([env.count, env.block.length, searchPath]).toEqual([0, 0, undefined]);
  });
});
