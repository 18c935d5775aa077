// One question to a session's agent and its answer: CONTROL and ANSWER of docs/protocol.md §4, on a connection of their own.

import { setTimeout as sleep } from 'node:timers/promises';

import { Channel } from '../channel.js';
import { addressOf, connectSession, type SessionAddress } from '../client/connect.js';
import { refusalError } from '../client/refusal.js';
import { HoldfastError } from '../errors.js';
import { peerCredentials } from '../native/sockets.js';
import { findProcess } from '../process-tree.js';
import { type AgentMessage, encodeControl, ProtocolError, parseAgentFrame } from '../protocol/messages.js';

export type ControlRequest = { readonly op: string; readonly [member: string]: unknown };
export type ControlAnswer = Readonly<Record<string, unknown>>;

/** Alive, for it holds the socket; but silent. */
export class AgentFrozenError extends HoldfastError {
  /** By SO_PEERCRED: the process that listens. `undefined` where its queue of connections was full. */
  readonly agentPid: number | undefined;
  /** By a signal: it can go on. */
  readonly isStopped: boolean;

  constructor(address: SessionAddress, agentPid: number | undefined) {
    const isStopped = agentPid !== undefined && isStoppedNow(agentPid);
    const process = agentPid === undefined ? '' : ` (process ${agentPid})`;
    const condition = isStopped ? 'stopped' : 'alive, but busy or hung';
    super('AGENT_FROZEN', `the agent of session '${address.label}'${process} does not answer: it is ${condition}`, {
      hint: `${isStopped ? `let it go on with 'kill -CONT ${agentPid}'` : 'try again'}, or end it with 'holdfast close ${address.label}'`,
    });
    this.agentPid = agentPid;
    this.isStopped = isStopped;
  }
}

function isStoppedNow(pid: number): boolean {
  const state = findProcess(pid)?.state;
  return state === 'T' || state === 't';
}

export interface ControlOptions {
  /** For the whole exchange. */
  readonly timeoutMs: number;
}

const CONNECT_RETRY_MS = 10;
const STOPPED_CHECK_MS = 200;
/** What setTimeout takes. */
const MAX_TIMEOUT_MS = 0x7fffffff;

/**
 * Asks the agent of the session `name`, or of a socket.
 *
 * @throws {HoldfastError} `NO_SESSION`; `AGENT_FROZEN` when it does not answer in time; `SESSION_LOST` when it went away without
 *   an answer; `NOT_PERMITTED`, `RUNTIME_DIR`, `PROTOCOL`; and as what its refusal means.
 */
export async function control(
  target: string | { readonly socket: string },
  request: ControlRequest,
  options: ControlOptions,
): Promise<ControlAnswer> {
  return (await ask(target, request, options)).answer;
}

/** As control(), and says who answered. */
export async function ask(
  target: string | { readonly socket: string },
  request: ControlRequest,
  { timeoutMs }: ControlOptions,
): Promise<{ readonly answer: ControlAnswer; readonly agentPid: number }> {
  const address = addressOf(
    typeof target === 'string' ? { kind: 'session', name: Buffer.from(target) } : { kind: 'socket', path: Buffer.from(target.socket) },
  );
  const deadline = performance.now() + Math.min(timeoutMs, MAX_TIMEOUT_MS);
  const socket = await connect(address, deadline);
  const agentPid = peerCredentials(socket).pid;
  const answer = await exchange(socket, address, request, deadline, agentPid);
  return { answer, agentPid };
}

/** Its backlog may be full for a moment: then it is busy, or frozen, and time tells which. */
async function connect(address: SessionAddress, deadline: number): Promise<number> {
  for (;;) {
    const socket = connectSession(address);
    if (socket !== undefined) return socket;
    if (performance.now() >= deadline) throw new AgentFrozenError(address, undefined);
    await sleep(CONNECT_RETRY_MS);
  }
}

function exchange(
  socket: number,
  address: SessionAddress,
  request: ControlRequest,
  deadline: number,
  agentPid: number,
): Promise<ControlAnswer> {
  return new Promise((resolve, reject) => {
    const channel = new Channel(socket, 'agent', {
      onFrame(frame) {
        try {
          const message = parseAgentFrame(frame);
          end();
          if (message.type === 'answer') resolve(message.answer);
          else reject(unanswered(message));
        } catch (error) {
          end();
          reject(broken(error));
        }
      },
      onClose(error) {
        clearTimers();
        reject(error instanceof ProtocolError ? broken(error) : lost(address, error));
      },
    });
    const giveUp = (): void => {
      end();
      reject(new AgentFrozenError(address, agentPid));
    };
    const timer = setTimeout(giveUp, Math.max(1, deadline - performance.now()));
    // There is no use in waiting long for one that cannot answer.
    const check = setTimeout(() => {
      if (isStoppedNow(agentPid)) giveUp();
    }, STOPPED_CHECK_MS);
    const clearTimers = (): void => {
      clearTimeout(timer);
      clearTimeout(check);
    };
    const end = (): void => {
      clearTimers();
      channel.close();
    };
    channel.send(encodeControl(request));
  });
}

function unanswered(message: AgentMessage): HoldfastError {
  if (message.type === 'refused') return refusalError(message);
  return broken(new ProtocolError('FRAME_KIND', `'${message.type}' came in place of an answer`));
}

function broken(cause: unknown): HoldfastError {
  return new HoldfastError(
    'PROTOCOL',
    `the agent of the session broke the protocol: ${cause instanceof Error ? cause.message : String(cause)}`,
    {
      hint: 'close the session and open it again with this version of Holdfast',
      cause,
    },
  );
}

function lost(address: SessionAddress, cause: unknown): HoldfastError {
  return new HoldfastError('SESSION_LOST', `the agent of session '${address.label}' ended before it answered`, {
    hint: 'open the session again',
    cause,
  });
}
