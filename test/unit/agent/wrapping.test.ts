// Pins src/agent/wrapping.ts: by what the end of a wrapper is judged.

import { describe, expect, it } from 'vitest';
import { BaseEnvironment } from '../../../src/agent/base-environment.js';
import { NameProof } from '../../../src/agent/end-proof.js';
import { Wrapping } from '../../../src/agent/wrapping.js';
import type { RunRequest } from '../../../src/protocol/run.js';
import { packStrings } from '../../../src/protocol/strings.js';
import type { WrapDefinition } from '../../../src/wrap/definition.js';
import { expectNoDescriptorsLeft } from '../native/descriptors.js';
import { wrapOf } from '../wrap/wraps.js';
import { runRequest } from './requests.js';

const NAMED = wrapOf({ prefix: ['/opt/a-name-longer-than-15'], failureCodes: [5], tells: 'name', startsIn: '/' });

/** How it is told whether the command was reached; `'nothing'`: not at all. */
function kindOf(wrap: WrapDefinition, run: Partial<RunRequest>, isOurChild = true): string {
  const wrapping = new Wrapping({
    wrap,
    entered: new Map(),
    declared: { declared: [], weak: [], pathPrepend: [] },
    plan: { base: new BaseEnvironment(new Map()), limits: new Float64Array(0), functions: new Map(), lastPath: undefined },
    killGraceMs: 100,
  });
  const proof = wrapping.proof('mark.1.', runRequest(run), isOurChild);
  proof?.release();
  return proof instanceof NameProof ? 'name' : (proof?.told?.kind ?? 'nothing');
}

describe('whether a wrapper reached its command', () => {
  expectNoDescriptorsLeft();

  it('is seen by the name of the process that ended', () => {
    expect(kindOf(NAMED, { argv: packStrings(['make', '/bin/a-name-longer-than']) })).toBe('name');
    expect(kindOf({ ...NAMED, tells: 'child' }, {})).toBe('name');
  });

  it('is not seen by that of a command which has the wrapper’s own', () => {
    for (const argv of [['/bin/a-name-longer-than'], ['a-name-longer-than-15', 'x']])
      expect(kindOf(NAMED, { argv: packStrings(argv) })).toBe('descriptor');
    expect(kindOf(NAMED, { program: Buffer.from('/bin/a-name-longer-than'), argv: packStrings(['make']) })).toBe('descriptor');
    expect(kindOf(NAMED, { program: Buffer.from('/bin/make'), argv: packStrings(['a-name-longer-than']) })).toBe('name');
  });

  it('is not seen by the end of what is no child of ours, nor where a shell stands before the command', () => {
    expect(kindOf(NAMED, {}, false)).toBe('descriptor');
    expect(kindOf(NAMED, { cwd: Buffer.from('/elsewhere') })).toBe('descriptor');
    expect(kindOf({ ...NAMED, tells: 'child', operand: ['--all', '--target', 'none'] }, {})).toBe('descriptor');
  });

  it('is not asked of a wrapper that has no code of its own', () => {
    expect(kindOf({ ...NAMED, failureCodes: [] }, {})).toBe('nothing');
  });
});
