// What happens in one episode of the faults: drawn from the seed and the episode's number alone, so that it can be had again.

import { Random } from './random.js';

export const MODES = ['cgroup', 'warden', 'group'] as const;
export type Mode = (typeof MODES)[number];

export type Victim = 'client' | 'agent' | 'target' | 'descendant' | 'launcher' | 'warden' | 'guard';

/** STOP is followed by CONT. */
export type Blow = 'KILL' | 'TERM' | 'STOP';

/**
 * What the blow waits for: the client's start; the target's first word, while it forks; all of its family in place; the end of its input.
 */
export type Moment = 'started' | 'born' | 'ready' | 'ending';

export interface Plan {
  readonly episode: number;
  readonly mode: Mode;
  readonly victim: Victim;
  readonly blow: Blow;
  readonly moment: Moment;
  /** From the moment to the blow, microseconds. */
  readonly delayUs: number;
  /** From STOP to CONT. */
  readonly pauseMs: number;
  /** The agent is killed too, so long after. */
  readonly thenAgentUs: number | undefined;
  /** Letters of family.c. */
  readonly kinds: string;
  readonly pty: boolean;
  readonly graceMs: number;
  /** Other clients, which none of this may touch, unless their session ends. */
  readonly bystanders: number;
  /** Opens the session anew without waiting for the end of the old one. */
  readonly hurry: boolean;
}

const KINDS = ['', 'c', 'a', 'cd', 'ct', 'cat', 'cdat'];
const GRACES_MS = [1, 50, 300];
/** Of what is seen from outside only, a client's life lasts about a millisecond; on a machine that does other things too, more. */
const LONGEST_US = 20_000;

export function planOf(seed: number, episode: number): Plan {
  const random = new Random(seed, episode);
  const mode = MODES[episode % MODES.length] ?? 'cgroup';
  const victim = random.pick<Victim>({
    client: 30,
    target: 20,
    descendant: 12,
    agent: 14,
    launcher: 5,
    warden: mode === 'warden' ? 19 : 0,
    guard: mode === 'cgroup' ? 12 : 0,
  });
  const blow = random.pick<Blow>({ KILL: 60, TERM: 20, STOP: 20 });
  return {
    episode,
    mode,
    victim,
    blow,
    moment: random.pick<Moment>(momentsOf(victim)),
    delayUs: random.scale(LONGEST_US),
    pauseMs: random.scale(60),
    thenAgentUs: mode !== 'group' && victim === 'client' && blow === 'KILL' && random.chance(0.15) ? random.scale(LONGEST_US) : undefined,
    kinds: victim === 'descendant' ? (KINDS[1 + random.below(KINDS.length - 1)] ?? 'c') : (KINDS[random.below(KINDS.length)] ?? ''),
    pty: random.chance(0.2),
    graceMs: GRACES_MS[random.below(GRACES_MS.length)] ?? 50,
    bystanders: random.below(3),
    hurry: random.chance(0.3),
  };
}

/** Who is struck must be known by then. */
function momentsOf(victim: Victim): Partial<Record<Moment, number>> {
  if (victim === 'descendant') return { ready: 3, ending: 1 };
  if (victim === 'target' || victim === 'warden') return { born: 2, ready: 2, ending: 1 };
  return { started: 3, born: 2, ready: 2, ending: 1 };
}

/** Whether the session ends by it. */
export function endsSession({ victim, blow, thenAgentUs }: Plan): boolean {
  return thenAgentUs !== undefined || ((victim === 'agent' || victim === 'launcher') && blow !== 'STOP');
}

/** Whether the agent ends without having been able to do anything about it. */
export function losesAgent({ victim, blow, thenAgentUs }: Plan): boolean {
  return thenAgentUs !== undefined || (victim === 'agent' && blow === 'KILL');
}

/** How the client of the episode may end: DESIGN section 4, "Outcome". */
export function allowedEndings(plan: Plan): string[] {
  const { victim, blow, moment, thenAgentUs } = plan;
  // Whoever has been told to end may have done so before the blow.
  const own = moment === 'ending' ? ['7'] : [];
  if (blow === 'STOP' || victim === 'descendant' || victim === 'guard') return ['7'];
  switch (victim) {
    case 'client':
      return [`SIG${blow}`, ...own, ...(thenAgentUs === undefined ? [] : ['125'])];
    case 'target':
      return [`SIG${blow}`, ...own];
    case 'warden':
      // TERM is nothing to it.
      if (blow === 'TERM') return ['7'];
      // 125: struck before it could say that the target runs. Then the request has not begun.
      return ['SIGKILL', '125', ...own];
    case 'agent':
    case 'launcher':
      return ['125', ...own];
  }
}

/** Whether the target may leave something behind: after an end of its own it may, until the session closes. */
export function mayLeave({ victim, blow, moment }: Plan): boolean {
  if (moment === 'ending' || blow === 'STOP' || victim === 'descendant' || victim === 'guard') return true;
  if (victim === 'client' || victim === 'warden') return blow === 'TERM';
  return victim === 'target';
}
