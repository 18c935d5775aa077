// Numbers inside bodies: docs/protocol.md §4 and §5. test/unit/protocol/numbers.test.ts compares them with that file and with
// native/protocol.h; a number is never reused.

/** Why an agent would not take a request. */
export const RefusalCode = {
  VERSION: 1,
  BAD_REQUEST: 2,
  BUSY: 3,
  STOPPING: 4,
  RESOURCES: 5,
  NOT_PERMITTED: 6,
  TOO_LARGE: 7,
  BAD_DIRECTORY: 8,
  INTERNAL: 9,
  UNSUPPORTED: 10,
  DEADLINE: 11,
  STALE: 12,
  REOPEN: 13,
  CALLER: 14,
  WRAPPER: 15,
} as const;
export type RefusalName = keyof typeof RefusalCode;
export type RefusalCode = (typeof RefusalCode)[RefusalName];

/** Where the start of a target failed. */
export const Step = {
  PROGRAM: 1,
  INTERPRETER: 2,
  DIRECTORY: 3,
  DESCRIPTOR: 4,
  LIMIT: 5,
  NICE: 6,
  EXEC: 7,
  UMASK: 8,
  GROUP: 9,
  SESSION: 10,
  TERMINAL: 11,
  SIGNALS: 12,
  FORK: 13,
  CONTAINMENT: 14,
  FUNCTION: 15,
} as const;
export type StepName = keyof typeof Step;
export type Step = (typeof Step)[StepName];

export const RunFlag = { EXACT: 1, DETACH: 2, CWD_FD: 4, REPORT: 8, CALLER: 16 } as const;
export const TerminalKind = { PLAIN: 0, HANDOVER: 1, PTY: 2 } as const;

/** In the order of their numbers. */
export const CANCELLED_BY = ['nobody', 'client', 'deadline', 'shutdown'] as const;
export type CancelledBy = (typeof CANCELLED_BY)[number];

/** SIGRTMAX: no signal of Linux is above it. */
export const MAX_SIGNAL = 64;
export const MAX_UMASK = 0o777;
/** Largest errno of the kernel. */
export const MAX_ERRNO = 4095;
/** A pid, and the number of a descriptor, is an `int`. */
export const MAX_INT = 0x7fffffff;

const NAME_OF_REFUSAL = namesByNumber(RefusalCode);
const NAME_OF_STEP = namesByNumber(Step);

export function isRefusalCode(code: number): code is RefusalCode {
  return NAME_OF_REFUSAL.has(code);
}

export function refusalName(code: RefusalCode): RefusalName {
  return nameOf(NAME_OF_REFUSAL, code);
}

export function isStep(step: number): step is Step {
  return NAME_OF_STEP.has(step);
}

export function stepName(step: Step): StepName {
  return nameOf(NAME_OF_STEP, step);
}

function namesByNumber<Name extends string>(numbers: Readonly<Record<Name, number>>): ReadonlyMap<number, Name> {
  const names = new Map<number, Name>();
  for (const name in numbers) names.set(numbers[name], name);
  return names;
}

function nameOf<Name>(names: ReadonlyMap<number, Name>, number: number): Name {
  const name = names.get(number);
  if (name === undefined) throw new RangeError(`no name for number ${number}`);
  return name;
}
