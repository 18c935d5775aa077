// The messages of docs/protocol.md §4 and §5: the one door to them for those who speak and listen.

export {
  type AgentMessage,
  encodeAnswer,
  encodeContinued,
  encodeNotice,
  encodeNotStarted,
  encodeQueued,
  encodeRefused,
  encodeSpawned,
  encodeStopped,
  type Notice,
  type NotStarted,
  type NotStartedMessage,
  parseAgentFrame,
  type Refusal,
  type Spawned,
} from './agent-message.js';
export {
  type ClientMessage,
  type ControlRequest,
  encodeCancel,
  encodeControl,
  encodeResume,
  encodeSignal,
  encodeSuspend,
  parseClientFrame,
} from './client-message.js';
export { ProtocolError, type ProtocolErrorCode } from './error.js';
export { type Exited, type ExitedMessage, encodeExited, MAX_LEFTOVERS, type Timings, type Usage } from './exited.js';
export type { JsonObject } from './json.js';
export { type CancelledBy, RefusalCode, type RefusalName, refusalName, Step, type StepName, stepName } from './numbers.js';
export { encodeRun, parseRun, type RunLimit, type RunRequest, type RunTerminal } from './run.js';
export { EMPTY_LIST, packStrings, type StringList, splitStrings } from './strings.js';
