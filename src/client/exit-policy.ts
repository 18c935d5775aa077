// From the ending of a request to what runner-exec exits with and what the user reads: the one place that decides, in the words of
// native/client_verdict.c and native/client_refusal.c. Pure.

import { constants } from 'node:os';

import type { HoldfastError } from '../errors.js';
import type { Ending, Outcome } from '../protocol/outcome.js';
import { errnoText } from './errno.js';
import { limitNameOf } from './limits.js';
import { signalName } from './signal-name.js';

/** Exit codes that are ours; every other one is the target's. */
export const EXIT_DEADLINE = 124;
export const EXIT_OURS = 125;
export const EXIT_NOT_RUNNABLE = 126;
export const EXIT_NOT_FOUND = 127;

/** `message` is there exactly when it was not the target's own ending. */
export type Exit =
  | { readonly kind: 'code'; readonly code: number; readonly message?: string; readonly hint?: string }
  /** To die by, as the target did. */
  | { readonly kind: 'signal'; readonly signal: number };

/** What the words of a message are made of. */
export interface Asked {
  /** The session's name, its project's directory, or its socket's path. */
  readonly session: string;
  readonly isSocket: boolean;
  /** The program as it was asked for. */
  readonly command: string;
  /** The deadline as it was typed. */
  readonly timeoutText: string;
  /** The target's, when it was started. */
  readonly pid: number | undefined;
  /** It says something of PATH itself, so that the session's is not the one that was searched. */
  readonly saysOfPath?: boolean;
  /** Whether a path, as the client sees it, is a directory: good for a better word, and for no more. */
  isDirectory(path: string): boolean;
}

export function exitOfOutcome(outcome: Outcome, asked: Asked): Exit {
  switch (outcome.kind) {
    case 'exited':
      return { kind: 'code', code: outcome.code };
    case 'signaled':
      return { kind: 'signal', signal: outcome.signal };
    case 'cancelled':
      return exitOfCancelled(outcome, asked);
    case 'notStarted':
      return exitOfNotStarted(outcome, asked);
    case 'lost':
      return exitOfLost(outcome.when, outcome.ending, '', asked);
  }
}

/** For our own failures. */
export function exitOfFailure(error: HoldfastError, asked: Asked): Exit {
  switch (error.code) {
    case 'DEADLINE':
      return exitOfDeadline(asked);
    case 'PROTOCOL':
      return exitOfLost(asked.pid === undefined ? 'unknown' : 'after-spawn', undefined, ': its agent speaks another language', asked);
    default:
      return ours(EXIT_OURS, error.message, error.hint);
  }
}

/** The program is ''. */
export function exitOfNoName(): Exit {
  return ours(EXIT_NOT_FOUND, "cannot run '': a program needs a name", "the first word behind '--' is the program");
}

/** The request is larger than the wire carries, and so than any kernel takes. */
export function exitOfTooLarge({ command }: Asked): Exit {
  return ours(EXIT_NOT_RUNNABLE, `cannot run '${command}': Argument list too long`, 'give long lists in a file, or by standard input');
}

/** The agent let the deadline pass without a word, or kept it. */
export function exitOfDeadline({ command, timeoutText }: Asked): Exit {
  const unit = /[\d.]$/.test(timeoutText) ? 's' : '';
  return ours(EXIT_DEADLINE, `'${command}' did not end within ${timeoutText}${unit} and was ended`);
}

function exitOfCancelled({ by, ending }: Extract<Outcome, { kind: 'cancelled' }>, asked: Asked): Exit {
  switch (by) {
    case 'deadline':
      return exitOfDeadline(asked);
    case 'shutdown':
      return ours(EXIT_OURS, `session '${asked.session}' was closed while '${asked.command}' ran`, "'holdfast open' starts it again");
    case 'client':
      return ending.kind === 'exited' ? { kind: 'code', code: ending.code } : { kind: 'signal', signal: ending.signal };
  }
}

function exitOfLost(when: Extract<Outcome, { kind: 'lost' }>['when'], ending: Ending | undefined, why: string, asked: Asked): Exit {
  const { session, command } = asked;
  const hint = asked.isSocket ? "'holdfast list' shows what is open" : `'holdfast logs ${session.slice(0, 150)}' may tell why`;
  switch (when) {
    case 'after-spawn':
      return ours(EXIT_OURS, `session '${session}' was lost while '${command}' ran${knownEnding(asked.pid, ending)}${why}`, hint);
    case 'before-spawn':
      return ours(EXIT_OURS, `session '${session}' was lost before '${command}' was started${why}`, hint);
    case 'unknown':
      return ours(EXIT_OURS, `session '${session}' was lost; whether '${command}' was started is not known${why}`, hint);
  }
}

/** The library knows of no pid. */
function knownEnding(pid: number | undefined, ending: Ending | undefined): string {
  let known = '';
  if (ending?.kind === 'exited') known = `, which then ended with status ${ending.code}`;
  if (ending?.kind === 'signaled') known = `, which then died of ${signalName(ending.signal)}`;
  return pid === undefined ? known : ` (pid ${pid}${known})`;
}

type NotStartedOutcome = Extract<Outcome, { kind: 'notStarted' }>;

function exitOfNotStarted(outcome: NotStartedOutcome, asked: Asked): Exit {
  switch (outcome.step) {
    case 'PROGRAM':
    case 'EXEC':
      return isMissing(outcome.errno) ? notFound(asked) : notRunnable(outcome.errno, asked);
    case 'FUNCTION':
      return isFunction(outcome.subject.toString(), asked);
    case 'INTERPRETER':
      return interpreterFailed(outcome, asked);
    default: {
      const { message, hint } = stepFailed(outcome, outcome.step, asked.command);
      return ours(EXIT_OURS, message, hint);
    }
  }
}

function notFound({ command, session, isSocket, saysOfPath }: Asked): Exit {
  if (command.includes('/')) {
    return ours(
      EXIT_NOT_FOUND,
      `cannot run '${command}': no such file`,
      "a path with a slash is taken from the command's working directory",
    );
  }
  const hint = SHELL_WORDS.has(command)
    ? `it is a shell builtin: run it as sh -c '${command} ...', or bash -c`
    : isSocket
      ? "'-- printenv PATH' shows that PATH"
      : `'holdfast explain ${session.slice(0, 300)} PATH'${saysOfPath === true ? ', with the options of this command,' : ''} shows that PATH and where it came from`;
  return ours(EXIT_NOT_FOUND, `cannot run '${command}': not found on the PATH of session '${session}'`, hint);
}

/** @param why the agent's word for it: docs/protocol.md §5. */
function isFunction(why: string, { command, session }: Asked): Exit {
  const run = `run it as bash -c '${command.slice(0, 300)} ...'`;
  const lacks = `cannot run '${command}': it is a shell function, which session '${session}' lacks`;
  switch (why) {
    case 'snapshot':
      return ours(EXIT_NOT_FOUND, `${lacks}: a snapshot keeps variables alone`, `open it with mode = "session", and ${run}`);
    case 'filtered':
      return ours(EXIT_NOT_FOUND, `${lacks}: its 'functions' leaves it out`, `name it there, open the session again, and ${run}`);
    default:
      return ours(EXIT_NOT_FOUND, `cannot run '${command}': it is a shell function of session '${session}', and no program`, run);
  }
}

function notRunnable(errno: number, { command, isDirectory }: Asked): Exit {
  const [why, hint] = whyNotRunnable(errno, errno === EACCES && command.includes('/') && isDirectory(command));
  return ours(EXIT_NOT_RUNNABLE, `cannot run '${command}': ${why}`, hint);
}

function whyNotRunnable(errno: number, isDirectory: boolean): [why: string, hint?: string] {
  if (errno === EISDIR || isDirectory) return ['is a directory'];
  switch (errno) {
    case EACCES:
      return ['permission denied', "it is not executable for you: 'chmod +x', or name its interpreter"];
    case ENOEXEC:
      return ['not a program of this machine', "a script needs a '#!' line, a binary the right architecture"];
    case E2BIG:
      return [
        'Argument list too long',
        "one word, or all words and variables together, are over the kernel's limit; give long lists in a file",
      ];
    default:
      return [errnoText(errno)];
  }
}

function interpreterFailed({ errno, subject }: NotStartedOutcome, { command }: Asked): Exit {
  if (isMissing(errno)) {
    const hint = 'its first line names it, or the loader it was linked with';
    return ours(EXIT_NOT_FOUND, `cannot run '${command}': its interpreter '${subject}' is missing`, hint);
  }
  return ours(EXIT_NOT_RUNNABLE, `cannot run '${command}': its interpreter '${subject}' cannot be run: ${errnoText(errno)}`);
}

type LaterStep = Exclude<NotStartedOutcome['step'], 'PROGRAM' | 'EXEC' | 'FUNCTION' | 'INTERPRETER'>;

function stepFailed({ errno, subject }: NotStartedOutcome, step: LaterStep, command: string): { message: string; hint?: string } {
  const why = errnoText(errno);
  switch (step) {
    case 'DIRECTORY':
      return { message: `cannot enter the directory '${subject}': ${why}`, hint: "name another one with '--cwd'" };
    case 'DESCRIPTOR':
      return { message: `cannot give '${command}' its descriptor ${subject}: ${why}` };
    case 'LIMIT':
      return {
        message: `cannot set the limit '${limitNameOf(subject.toString())}' of '${command}': ${why}`,
        hint: 'a hard limit can only be lowered',
      };
    case 'NICE':
      return { message: `cannot set the niceness of '${command}': ${why}`, hint: "only root can go below the session's own niceness" };
    case 'UMASK':
      return { message: `cannot set the file mode mask of '${command}': ${why}` };
    case 'GROUP':
      return { message: `cannot put '${command}' into a process group: ${why}` };
    case 'SESSION':
      return { message: `cannot put '${command}' into a session of its own: ${why}` };
    case 'TERMINAL':
      return { message: `cannot give '${command}' the terminal: ${why}`, hint: "'-t' gives it a terminal of its own" };
    case 'SIGNALS':
      return { message: `cannot set the signals of '${command}': ${why}` };
    case 'FORK':
      return { message: `cannot start '${command}': fork: ${why}`, hint: 'the session is out of processes or memory' };
    case 'CONTAINMENT':
      return { message: `cannot contain '${command}': ${subject}: ${why}`, hint: "'holdfast doctor' shows what this machine offers" };
  }
}

function ours(code: number, message: string, hint?: string): Exit {
  return { kind: 'code', code, message, ...(hint === undefined ? {} : { hint }) };
}

const { EACCES, E2BIG, EISDIR, ENOENT, ENOEXEC, ENOTDIR } = constants.errno;

function isMissing(errno: number): boolean {
  return errno === ENOENT || errno === ENOTDIR;
}

/** What a shell does itself and no program does. Those that are programs as well (echo, test, kill …) are found before this matters. */
const SHELL_WORDS: ReadonlySet<string> = new Set(
  (
    '! . : [[ alias bg bind break builtin caller case cd command compgen complete continue declare dirs disown enable eval exec exit ' +
    'export fc fg for function getopts hash help history if jobs let local logout mapfile popd pushd read readarray readonly return ' +
    'select set shift shopt source suspend times trap type typeset ulimit umask unalias unset until wait while {'
  ).split(' '),
);
