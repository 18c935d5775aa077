// What a target inherits from whoever asks for it: file mask, ignored signals, working directory, variables.
//
// What Node hides: at its start it sets every ignored signal back to default (and ignores SIGPIPE and SIGXFSZ itself), and it
// opens /dev/null for a closed 0, 1 or 2. So in a Node process nobody can know that its caller ignored a signal (nohup), nor that
// a standard descriptor was closed; `runner-exec`, which is no Node, knows both. A target started from here ignores nothing.

import { openDirectory } from '../native/files.js';
import { umask } from '../native/processes.js';
import { logicalDirectory, physicalDirectory } from './directory.js';
import { initialVariables, nodeVariables, type Variables } from './environment.js';

export interface Caller {
  readonly umask: number;
  /** Bit N-1: signal N starts ignored in the target. */
  readonly ignored: bigint;
  /** Absolute path of the working directory; `undefined` when it has been removed and has none. */
  readonly directory: Buffer | undefined;
  readonly variables: Variables;
}

/** This Node program as it is now. */
export function nodeCaller(): Caller {
  return { umask: umask(), ignored: 0n, directory: unlessEmpty(physicalDirectory()), variables: nodeVariables() };
}

/** This process as it was started, bytes and all: for the command line. */
export function initialCaller(): Caller {
  const variables = initialVariables();
  const pwd = variables.find('PWD');
  const logical = pwd === undefined ? undefined : logicalDirectory(Buffer.from(pwd));
  return { umask: umask(), ignored: 0n, directory: logical ?? unlessEmpty(physicalDirectory()), variables };
}

/** An O_PATH descriptor of the working directory, removed or not. The caller closes it. */
export function openCurrentDirectory(): number {
  return openDirectory('.');
}

function unlessEmpty(path: Buffer): Buffer | undefined {
  return path.length === 0 ? undefined : path;
}
