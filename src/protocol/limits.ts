// Numbers of the frame layer: docs/protocol.md §2. test/unit/protocol/numbers.test.ts compares them with that file and with
// native/protocol.h; a number is never reused.

/** u32 body bytes, u8 kind, u8 descriptors, u16 zero. */
export const HEADER_BYTES = 8;
/** "HFRX", the first four bytes of a RUN body. */
export const MAGIC = 0x48465258;
export const VERSION = 1;
/** SCM_MAX_FD of the kernel: what one message can carry. */
export const MAX_FDS = 253;

export const Kind = {
  RUN: 1,
  SIGNAL: 2,
  SUSPEND: 3,
  RESUME: 4,
  CONTROL: 5,
  CANCEL: 6,
  REFUSED: 65,
  QUEUED: 66,
  SPAWNED: 67,
  NOT_STARTED: 68,
  STOPPED: 69,
  CONTINUED: 70,
  EXITED: 71,
  ANSWER: 72,
  NOTICE: 73,
} as const;
export type Kind = (typeof Kind)[keyof typeof Kind];

export type Side = 'client' | 'agent';

export interface KindRule {
  readonly kind: Kind;
  readonly name: keyof typeof Kind;
  readonly from: Side;
  readonly maxBodyBytes: number;
  readonly maxFds: number;
}

export const RULES: Readonly<Record<Kind, KindRule>> = {
  [Kind.RUN]: { kind: Kind.RUN, name: 'RUN', from: 'client', maxBodyBytes: 8_388_608, maxFds: MAX_FDS },
  [Kind.SIGNAL]: { kind: Kind.SIGNAL, name: 'SIGNAL', from: 'client', maxBodyBytes: 1, maxFds: 0 },
  [Kind.SUSPEND]: { kind: Kind.SUSPEND, name: 'SUSPEND', from: 'client', maxBodyBytes: 0, maxFds: 0 },
  [Kind.RESUME]: { kind: Kind.RESUME, name: 'RESUME', from: 'client', maxBodyBytes: 0, maxFds: 0 },
  [Kind.CONTROL]: { kind: Kind.CONTROL, name: 'CONTROL', from: 'client', maxBodyBytes: 1_048_576, maxFds: 0 },
  [Kind.CANCEL]: { kind: Kind.CANCEL, name: 'CANCEL', from: 'client', maxBodyBytes: 0, maxFds: 0 },
  [Kind.REFUSED]: { kind: Kind.REFUSED, name: 'REFUSED', from: 'agent', maxBodyBytes: 65_536, maxFds: 0 },
  [Kind.QUEUED]: { kind: Kind.QUEUED, name: 'QUEUED', from: 'agent', maxBodyBytes: 4, maxFds: 0 },
  [Kind.SPAWNED]: { kind: Kind.SPAWNED, name: 'SPAWNED', from: 'agent', maxBodyBytes: 4_096, maxFds: 1 },
  [Kind.NOT_STARTED]: { kind: Kind.NOT_STARTED, name: 'NOT_STARTED', from: 'agent', maxBodyBytes: 1_048_576, maxFds: 0 },
  [Kind.STOPPED]: { kind: Kind.STOPPED, name: 'STOPPED', from: 'agent', maxBodyBytes: 1, maxFds: 0 },
  [Kind.CONTINUED]: { kind: Kind.CONTINUED, name: 'CONTINUED', from: 'agent', maxBodyBytes: 0, maxFds: 0 },
  [Kind.EXITED]: { kind: Kind.EXITED, name: 'EXITED', from: 'agent', maxBodyBytes: 65_536, maxFds: 0 },
  [Kind.ANSWER]: { kind: Kind.ANSWER, name: 'ANSWER', from: 'agent', maxBodyBytes: 16_777_216, maxFds: 0 },
  [Kind.NOTICE]: { kind: Kind.NOTICE, name: 'NOTICE', from: 'agent', maxBodyBytes: 65_536, maxFds: 0 },
};

/** Indexed by kind: this is looked up for every frame. */
const RULE_OF_KIND: readonly (KindRule | undefined)[] = Array.from({ length: 256 }, (_, kind) =>
  Object.values(RULES).find((rule) => rule.kind === kind),
);

/** The rule of a kind, or `undefined` for a number that is no kind. */
export function findRule(kind: number): KindRule | undefined {
  return RULE_OF_KIND[kind];
}
