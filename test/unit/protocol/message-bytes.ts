// The frame of a message, whichever encoder makes it.

import {
  type AgentMessage,
  type ClientMessage,
  encodeAnswer,
  encodeCancel,
  encodeContinued,
  encodeControl,
  encodeExited,
  encodeNotice,
  encodeNotStarted,
  encodeQueued,
  encodeRefused,
  encodeResume,
  encodeRun,
  encodeSignal,
  encodeSpawned,
  encodeStopped,
  encodeSuspend,
} from '../../../src/protocol/messages.js';

export function clientBytes(message: ClientMessage): Buffer {
  switch (message.type) {
    case 'run':
      return encodeRun(message.request);
    case 'signal':
      return encodeSignal(message.signal);
    case 'suspend':
      return encodeSuspend();
    case 'resume':
      return encodeResume();
    case 'cancel':
      return encodeCancel();
    case 'control':
      return encodeControl(message.request);
  }
}

export function agentBytes(message: AgentMessage, fdCount: number): Buffer {
  switch (message.type) {
    case 'refused':
      return encodeRefused(message);
    case 'queued':
      return encodeQueued(message.position);
    case 'spawned':
      return encodeSpawned(message, fdCount === 1 ? 1 : 0);
    case 'notStarted':
      return encodeNotStarted(message);
    case 'stopped':
      return encodeStopped(message.signal);
    case 'continued':
      return encodeContinued();
    case 'exited':
      return encodeExited(message);
    case 'notice':
      return encodeNotice(message);
    case 'answer':
      return encodeAnswer(message.answer);
  }
}
