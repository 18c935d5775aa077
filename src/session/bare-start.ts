// A child that inherits no descriptor but those it is given: what our own caller left open would be a pipe that it waits for for ever.
// A host program loses nothing by that: Node has made all that it inherited CLOEXEC at its start.

import type { ChildProcess } from 'node:child_process';

import { closeOnExecFrom } from '../native/descriptors.js';

export function startBare(start: () => ChildProcess): ChildProcess {
  closeOnExecFrom(3);
  return start();
}
