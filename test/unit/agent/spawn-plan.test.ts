// Pins src/agent/spawn-plan.ts: from a request to what the native part executes, and directories that are refused.

import { describe, expect, it } from 'vitest';
import { BaseEnvironment } from '../../../src/agent/base-environment.js';
import { groups } from '../../../src/agent/containment.js';
import { isInsideProcess, type SpawnPlan, toSpawnRequest } from '../../../src/agent/spawn-plan.js';
import { EMPTY_LIST, packStrings } from '../../../src/protocol/strings.js';
import { runRequest } from './requests.js';

describe('a directory inside a process', () => {
  it('is refused however it is spelled', () => {
    const inside = [
      '/proc/self',
      '/proc/self/fd/3',
      '/proc/1/cwd',
      '//proc///self/root',
      '/proc/./self/fd',
      '/proc/thread-self/cwd',
      '/dev/fd/5',
      '/dev/fd',
    ];
    expect(inside.filter((cwd) => !isInsideProcess(cwd))).toEqual([]);
  });

  it('is not any other one', () => {
    const outside = ['/', '/proc', '/proc/sys', '/proc/selfish', '/proc/12a', '/home/proc/self', '/dev/fdx', '/dev', '/x/dev/fd/3'];
    expect(outside.filter(isInsideProcess)).toEqual([]);
  });
});

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
    expect([plain.program.toString(), plain.searchPath?.toString(), own.lastPath?.toString()]).toEqual(['name\0', '/bin\0', '/bin']);
    const named = toSpawnRequest(own, runRequest({ argv, program: Buffer.from('/bin/other') }), [], groups.make(runRequest({})));
    expect(named.program.toString()).toBe('/bin/other\0');
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
