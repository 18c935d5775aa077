// What an outcome means where it is no ending of the command's own: one of our errors, in the words of the command line.

import { exitOfOutcome } from '../client/exit-policy.js';
import type { RunOptions } from '../client/run-handle.js';
import { HoldfastError, type HoldfastErrorCode } from '../errors.js';
import type { Outcome } from '../protocol/outcome.js';
import type { SessionDefinition } from './definition.js';

type FailedSpec = Pick<RunOptions, 'program' | 'env' | 'pathPrepend' | 'exact'>;

/** `undefined`: the command ended by itself, well or not. */
export function failureOf(outcome: Outcome, spec: FailedSpec, definition: SessionDefinition): HoldfastError | undefined {
  if (outcome.kind === 'exited' || outcome.kind === 'signaled') return undefined;
  const exit = exitOfOutcome(outcome, {
    session: definition.name,
    isSocket: false,
    command: spec.program.toString(),
    timeoutText: 'its time',
    pid: undefined,
    isDirectory: () => false,
  });
  const said = exit.kind === 'code' ? exit : { message: undefined, hint: undefined };
  const message = said.message ?? `'${spec.program}' was cancelled`;
  const hint = isUnfound(outcome) ? searchedHint(outcome.searched.toString(), spec, definition) : said.hint;
  return new HoldfastError(codeOf(outcome), message, hint === undefined ? {} : { hint });
}

type NotStarted = Extract<Outcome, { kind: 'notStarted' }>;

function isUnfound(outcome: Outcome): outcome is NotStarted {
  return (
    outcome.kind === 'notStarted' && outcome.step !== 'FUNCTION' && codeOf(outcome) === 'PROGRAM_NOT_FOUND' && outcome.searched.length > 0
  );
}

const ENOENT = 2;
const ENOTDIR = 20;

function codeOf(outcome: Exclude<Outcome, { kind: 'exited' | 'signaled' }>): HoldfastErrorCode {
  switch (outcome.kind) {
    case 'lost':
      return 'SESSION_LOST';
    case 'cancelled':
      return ({ client: 'CANCELLED', deadline: 'DEADLINE', shutdown: 'SESSION_STOPPING' } as const)[outcome.by];
    case 'notStarted':
      switch (outcome.step) {
        case 'PROGRAM':
        case 'FUNCTION':
        case 'EXEC':
        case 'INTERPRETER':
          return outcome.errno === ENOENT || outcome.errno === ENOTDIR ? 'PROGRAM_NOT_FOUND' : 'PROGRAM_NOT_RUNNABLE';
        case 'DIRECTORY':
          return 'DIRECTORY_REFUSED';
        case 'FORK':
        case 'CONTAINMENT':
          return 'RESOURCES';
        default:
          return 'REQUEST_INVALID';
      }
  }
}

function searchedHint(path: string, spec: FailedSpec, definition: SessionDefinition): string {
  return `searched '${path}', the PATH ${suppliers(spec, definition)}`;
}

/** From the strongest down, as far as each matters. */
function suppliers({ env, pathPrepend = [], exact }: FailedSpec, definition: SessionDefinition): string {
  const front = pathPrepend.length > 0 ? 'with pathPrepend of this request in front, ' : '';
  if (env?.['PATH'] !== undefined) return `${front}from env of this request`;
  if (exact === true) return `${front}from this request, which is exact`;
  const declared = definition.pathPrepend.length > 0 ? `${front}with path_prepend of the session in front, ` : front;
  if (definition.passEnv.includes('PATH')) return `${declared}from the program that opened the session (pass_env)`;
  if (definition.runtimeEnv['PATH'] !== undefined) return `${declared}from runtime_env of the session`;
  if (definition.env['PATH'] !== undefined) return `${declared}from env of the session`;
  return `${declared}from the environment that the session holds`;
}
