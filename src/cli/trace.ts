// `holdfast trace`: where the time of a session's commands goes.

import { writeFileSync } from 'node:fs';
import type { Command } from 'commander';

import { systemErrorText } from '../client/errno.js';
import { HoldfastError } from '../errors.js';
import { selectName } from './selection.js';

interface TraceOptions {
  readonly on?: true;
  readonly off?: true;
  readonly output?: string;
  readonly last: string;
}

export function addTrace(program: Command): void {
  program
    .command('trace')
    .description('record what the commands of a session cost, and show it as a timeline')
    .argument('[name]', 'the session')
    .option('--on', 'start to record, anew')
    .option('--off', 'stop to record; what was recorded can still be shown')
    .option('-o, --output <file>', 'write all of it as a Chrome trace (JSON); -: to stdout, and no timeline')
    .option('--last <n>', 'how many commands the timeline shows', '40')
    .addHelpText(
      'after',
      `
For each command: how long it waited for its turn, took to be started and ran,
its CPU time, its peak of memory ('<46M': no more than that), and how it ended.
The last 4096 commands are kept, in the agent's memory alone.

Examples:
  holdfast trace web --on
  make -j8                                   with SHELL = runner-exec, say
  holdfast trace web
  holdfast trace web --output trace.json     open it at https://ui.perfetto.dev`,
    )
    .action(trace);
}

async function trace(given: string | undefined, options: TraceOptions): Promise<void> {
  if (options.on && options.off) throw new HoldfastError('USAGE', "both '--on' and '--off' are given", { hint: 'keep one of them' });
  if ((options.on || options.off) && options.output !== undefined) {
    throw new HoldfastError('USAGE', "'--output' goes with neither '--on' nor '--off'", { hint: 'give it to a call of its own' });
  }
  if (!/^[1-9]\d{0,5}$/.test(options.last)) {
    throw new HoldfastError('USAGE', `bad value '${options.last}' of '--last'`, { hint: 'it is a number of commands, such as 40' });
  }
  const name = selectName(given);
  const { readTrace, switchTrace } = await import('./trace-control.js');
  if (options.on || options.off) return await switchTrace(name, options.on ? 'start' : 'stop');
  const found = await readTrace(name);
  if (options.output !== undefined) {
    const { traceFile } = await import('./trace-events.js');
    write(options.output, `${JSON.stringify(traceFile(name, found))}\n`);
    if (options.output === '-') return;
  }
  const { formatTimeline } = await import('./trace-timeline.js');
  process.stdout.write(formatTimeline(found, Number(options.last)));
}

function write(path: string, text: string): void {
  if (path === '-') {
    process.stdout.write(text);
    return;
  }
  try {
    writeFileSync(path, text);
  } catch (cause) {
    throw new HoldfastError('USAGE', `cannot write '${path}': ${systemErrorText(cause)}`, {
      hint: 'name a file that you may write',
      cause,
    });
  }
}
