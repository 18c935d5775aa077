// The `holdfast` executable, and the only file that ends the process. The agent and the `runner-exec` fallback are picked out first:
// they load nothing of the command line.

import { setImmediate as nextTurn } from 'node:timers/promises';

import { HoldfastError } from '../errors.js';
import { describeFailure, endingOf } from './ending.js';

const SIGPIPE = 13;

/** @returns the exit status, once all is done. */
async function main(first: string | undefined, rest: readonly string[]): Promise<number> {
  switch (first) {
    case '__runner-agent': {
      const { runAgent } = await import('../agent/main.js');
      const [stem = '', captureFd = ''] = rest;
      return runAgent(stem, Number(captureFd));
    }
    case '__runner-exec': {
      const runnerExec = await import('./runner-exec.js');
      return runnerExec.main([...rest]);
    }
    default: {
      endWithReader();
      const { run } = await import('./program.js');
      await run(first === undefined ? [] : [first, ...rest]);
      await nextTurn(); // in which the stream tells of a write that has failed
      return 0;
    }
  }
}

/**
 * A reader that has seen enough ends us as it would any program; Node ignores SIGPIPE and would print a stack instead. Not for the
 * other two: to open Node's stream is to set O_NONBLOCK on what the caller shares with us.
 */
function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') void dieBy(SIGPIPE).then(() => process.exit(128 + SIGPIPE));
    else void end(unwritten(error));
  });
}

function unwritten(cause: Error): HoldfastError {
  const hint = 'make room, or send it elsewhere';
  return new HoldfastError('RESOURCES', `cannot write to standard output: ${cause.message.replace(/, write$/, '')}`, { hint, cause });
}

async function end(thrown: unknown): Promise<never> {
  process.stderr.write(describeFailure(thrown));
  const ending = endingOf(thrown);
  if (ending.kind === 'exit') return process.exit(ending.code);
  await dieBy(ending.signal);
  return process.exit(128 + ending.signal);
}

/** Returns where the addon is missing, so that the signal cannot be taken without a core file. */
async function dieBy(signal: number): Promise<void> {
  try {
    const { dieBySignal } = await import('../native/processes.js');
    dieBySignal(signal);
  } catch {
    // Then the exit code tells of it.
  }
}

const [, , first, ...rest] = process.argv;
main(first, rest).then(
  (code) => process.exit(code),
  (thrown: unknown) => end(thrown),
);
