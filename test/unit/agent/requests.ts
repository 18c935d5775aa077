// Requests for tests: everything at its plainest but what the test is about.

import type { RunRequest } from '../../../src/protocol/run.js';
import { EMPTY_LIST, packStrings } from '../../../src/protocol/strings.js';

export function runRequest(own: Partial<RunRequest>): RunRequest {
  return {
    exact: false,
    detach: false,
    report: false,
    cwdByDescriptor: false,
    hasCaller: false,
    terminal: { kind: 'plain' },
    nice: undefined,
    umask: 0o022,
    ignored: 0n,
    killGraceMs: undefined,
    timeoutMs: undefined,
    fds: [],
    limits: [],
    argv: packStrings(['true']),
    program: Buffer.alloc(0),
    env: EMPTY_LIST,
    cwd: Buffer.from('/'),
    ...own,
  };
}
