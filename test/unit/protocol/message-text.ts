// Messages as lines of text, in the notation of test/vectors/frames.txt. native/fuzz/render.c and run_text.c are its C peers.

import type { AgentMessage, ClientMessage, ExitedMessage, RunRequest } from '../../../src/protocol/messages.js';
import { CANCELLED_BY } from '../../../src/protocol/numbers.js';
import { splitStrings } from '../../../src/protocol/strings.js';

export function clientText(message: ClientMessage): string {
  switch (message.type) {
    case 'run':
      return runText(message.request);
    case 'signal':
      return `SIGNAL signal=${message.signal}`;
    case 'suspend':
      return 'SUSPEND';
    case 'resume':
      return 'RESUME';
    case 'cancel':
      return 'CANCEL';
    case 'control':
      return `CONTROL ${word(JSON.stringify(message.request))}`;
  }
}

export function agentText(message: AgentMessage, fdCount: number): string {
  switch (message.type) {
    case 'refused':
      return `REFUSED code=${message.code} message=${word(message.message)} hint=${word(message.hint)}`;
    case 'queued':
      return `QUEUED position=${message.position}`;
    case 'spawned':
      return `SPAWNED fds=${fdCount} pid=${message.pid} start=${message.startNs} job=${word(message.job)}`;
    case 'notStarted':
      return `NOT_STARTED step=${message.step} errno=${message.errno} subject=${word(message.subject)} searched=${word(message.searched)}`;
    case 'stopped':
      return `STOPPED signal=${message.signal}`;
    case 'continued':
      return 'CONTINUED';
    case 'exited':
      return exitedText(message);
    case 'notice':
      return `NOTICE message=${word(message.message)} hint=${word(message.hint)}`;
    case 'answer':
      return `ANSWER ${word(JSON.stringify(message.answer))}`;
  }
}

function runText(request: RunRequest): string {
  const { terminal } = request;
  return [
    'RUN',
    ...(request.exact ? ['exact'] : []),
    ...(request.detach ? ['detach'] : []),
    ...(request.cwdByDescriptor ? ['cwd-fd'] : []),
    ...(request.report ? ['report'] : []),
    ...(request.hasCaller ? ['caller'] : []),
    `terminal=${terminal.kind === 'plain' ? 'plain' : `${terminal.kind}:${terminal.fd}`}`,
    `nice=${request.nice ?? '-'}`,
    `umask=0${request.umask.toString(8)}`,
    `ignored=0x${request.ignored.toString(16)}`,
    `grace=${request.killGraceMs ?? '-'}`,
    `timeout=${request.timeoutMs ?? '-'}`,
    ...request.fds.map((fd) => `fd=${fd}`),
    ...request.limits.map(({ resource, soft, hard }) => `limit=${resource}:${limitText(soft)}:${limitText(hard)}`),
    ...splitStrings(request.argv).map((argument) => `argv=${word(argument)}`),
    `program=${word(request.program)}`,
    ...splitStrings(request.env).map((change) => `env=${word(change)}`),
    `cwd=${word(request.cwd)}`,
  ].join(' ');
}

function exitedText({ waitStatus, cancelledBy, usage, timings, tree, leftovers }: ExitedMessage): string {
  return [
    `EXITED status=${waitStatus} cancelled=${CANCELLED_BY.indexOf(cancelledBy)}`,
    `user=${usage.userUs} system=${usage.systemUs} rss=${usage.maxRssKib} minor=${usage.minorFaults} major=${usage.majorFaults}`,
    `in=${usage.blocksIn} out=${usage.blocksOut} voluntary=${usage.voluntarySwitches} involuntary=${usage.involuntarySwitches}`,
    `queued=${timings.queuedUs} spawn=${timings.spawnUs} run=${timings.runUs}`,
    `tree-cpu=${tree.cpuUs ?? '-'} tree-peak=${tree.peakBytes ?? '-'}`,
    ...leftovers.map((pid) => `leftover=${pid}`),
  ].join(' ');
}

function limitText(value: bigint): string {
  return value === 2n ** 64n - 1n ? 'infinity' : `${value}`;
}

function word(value: Buffer | string): string {
  let text = '';
  for (const byte of Buffer.from(value)) {
    const isPlain = byte >= 0x21 && byte <= 0x7e && byte !== 0x25;
    text += isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return text;
}
