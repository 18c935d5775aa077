// One episode of the faults: clients start, one of the parts is struck at its moment, and what follows is compared with what DESIGN
// section 4 allows. The session's own state at rest is the lane's to check (held.ts).

import { eventually } from '../test/harness/eventually.js';
import { findProcess, type ProcessSeen } from '../test/harness/processes.js';
import { Client, type Ended } from './client.js';
import { type Held, SETTLE_MS } from './held.js';
import { type Place, strike } from './place.js';
import { allowedEndings, endsSession, losesAgent, mayLeave, type Plan, type Victim } from './plan.js';

const END_MS = 60_000;
/** A client that its own stop, or its target's, has put to sleep: a shell would wake it by `fg`. */
const WAKE_MS = 20;

export class Episode {
  /** What was struck, for the tally. */
  readonly blows: [who: Victim, blow: string][] = [];
  /** How the client ended. */
  ending = '';
  /** Processes that outlived their target, as they may. */
  legal = 0;
  readonly #place: Place;
  readonly #held: Held;
  readonly #plan: Plan;
  readonly #token: string;

  constructor(place: Place, held: Held, plan: Plan) {
    this.#place = place;
    this.#held = held;
    this.#plan = plan;
    // The full stop ends the number, else 1 would be found in 12.
    this.#token = `${place.scratch}/${plan.mode}-e${plan.episode}.`;
  }

  async play(): Promise<void> {
    const plan = this.#plan;
    const guard = plan.victim === 'guard' ? this.#held.guard : undefined;
    const bystanders = await this.#bystanders();
    const client = this.#start('subject', plan.kinds, plan.pty);
    try {
      await this.#moment(client);
      spin(plan.delayUs);
      const victim = this.#victim(client, guard?.pid);
      if (victim !== undefined) await this.#strike(victim, client);
      const ended = await this.#end(client);
      this.#judge(ended);
      await this.#judgeBystanders(bystanders);
      await this.#judgeLeft(client);
    } finally {
      for (const each of [client, ...bystanders]) {
        each.kill('SIGKILL');
        each.close();
      }
    }
  }

  #start(role: string, kinds: string, pty: boolean): Client {
    const { graceMs, mode } = this.#plan;
    const options = ['--kill-grace', `${graceMs}ms`, ...(pty ? ['-t'] : [])];
    const argv = this.#held.argv(...options, '--', this.#place.family, `${this.#token}${role}`, kinds);
    return new Client(argv, this.#place.env(mode));
  }

  async #bystanders(): Promise<Client[]> {
    const clients = Array.from({ length: this.#plan.bystanders }, (_, index) => this.#start(`bystander${index}`, '', false));
    for (const each of clients) {
      await within(each.said('ready'), 'a bystander is not ready');
      if (each.hasEnded) throw new Error(`a bystander does not start: ${each.stderr}`);
    }
    return clients;
  }

  async #moment(client: Client): Promise<void> {
    const { moment } = this.#plan;
    if (moment === 'started') return;
    await within(client.said(moment === 'born' ? 'target' : 'ready'), `the target is not ${moment}`);
    if (client.hasEnded) throw new Error(`the client ended before the blow: ${(await client.ended).how} ${client.stderr}`);
    if (moment === 'ending') client.endInput();
  }

  #victim(client: Client, guard: number | undefined): number | undefined {
    switch (this.#plan.victim) {
      case 'client':
        return client.pid;
      case 'agent':
        return this.#held.agent.pid;
      case 'launcher':
        return this.#held.launcher.pid;
      case 'guard':
        return guard;
      case 'target':
        return this.#mine(client.pidOf('target'));
      case 'descendant':
        return this.#mine(client.family[1 + (this.#plan.delayUs % Math.max(1, client.family.length - 1))]?.[1]);
      case 'warden': {
        const target = this.#mine(client.pidOf('target'));
        const parent = findProcess(target === undefined ? 0 : (findProcess(target)?.ppid ?? 0));
        return parent?.command.includes(' __warden ') ? parent.pid : undefined;
      }
    }
  }

  /** A number may be another's when its process has ended. */
  #mine(pid: number | undefined): number | undefined {
    return pid !== undefined && findProcess(pid)?.command.includes(this.#token) ? pid : undefined;
  }

  async #strike(pid: number, client: Client): Promise<void> {
    const { victim, blow, pauseMs, thenAgentUs } = this.#plan;
    // Ended by itself meanwhile, and reaped by us or its parent: then there is nobody to strike.
    if (victim === 'client' && client.hasEnded) return;
    if (strike(pid, `SIG${blow}`)) this.blows.push([victim, blow]);
    if (blow === 'STOP') {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      if (victim !== 'client' || !client.hasEnded) strike(pid, 'SIGCONT');
    }
    if (thenAgentUs === undefined) return;
    spin(thenAgentUs);
    if (strike(this.#held.agent.pid, 'SIGKILL')) this.blows.push(['agent', 'KILL']);
  }

  /** Lets it end, where it still can. */
  async #end(client: Client): Promise<Ended> {
    const { blow, victim } = this.#plan;
    const mayLive = blow === 'STOP' || victim === 'descendant' || victim === 'guard' || (victim === 'warden' && blow !== 'KILL');
    if (mayLive) client.endInput();
    const wake = setInterval(() => {
      if (blow !== 'STOP' || client.hasEnded) return;
      client.kill('SIGCONT');
      const target = this.#mine(client.pidOf('target'));
      if (target !== undefined) strike(target, 'SIGCONT');
    }, WAKE_MS);
    try {
      return await within(client.ended, 'the client does not end');
    } finally {
      clearInterval(wake);
    }
  }

  #judge({ how, stderr }: Ended): void {
    this.ending = how;
    // Nobody was there to be struck: the client must have ended by itself.
    const allowed = this.blows.length === 0 ? ['7'] : allowedEndings(this.#plan);
    if (!allowed.includes(how)) throw new Error(`the client ended with ${how}, not ${allowed.join(' or ')}; it said '${stderr.trim()}'`);
    const said = how === '125' ? /^runner-exec: [^\n]*\n$/ : /^$/;
    if (!said.test(stderr)) throw new Error(`the client ended with ${how} and said ${JSON.stringify(stderr)}`);
  }

  async #judgeBystanders(bystanders: readonly Client[]): Promise<void> {
    for (const each of bystanders) {
      const struck = endsSession(this.#plan) && this.blows.length > 0;
      if (!struck && each.hasEnded) throw new Error(`a bystander has ended with ${(await each.ended).how}: ${each.stderr}`);
      if (!struck) each.endInput();
      const { how, stderr } = await within(each.ended, 'a bystander does not end');
      if (how !== (struck ? '125' : '7')) throw new Error(`a bystander ended with ${how}: ${stderr}`);
    }
  }

  /** What is left of it: nothing, or what may be, which then is held, and ended here. */
  async #judgeLeft(client: Client): Promise<void> {
    const plan = this.#plan;
    // One look takes time, and misses who is born meanwhile with a lower number.
    const strangers = (): ProcessSeen[] => {
      const seen = this.#place.marked(this.#token);
      return seen.length > 0 ? seen : this.#place.marked(this.#token);
    };
    if (plan.mode === 'group' && (losesAgent(plan) || plan.victim === 'client')) await this.#judgeGroup(client, strangers);
    else if ((endsSession(plan) && this.blows.length > 0) || !mayLeave(plan)) await nobody(strangers);
    else {
      const left = strangers().filter(({ command }) => !command.includes(' __warden '));
      this.legal += left.length;
      const free = left.filter(({ pid }) => findProcess(pid) !== undefined && !this.#held.holds(pid, plan.mode));
      if (free.length > 0) throw new Error(`out of the session's hold: ${listed(free)}`);
    }
    await eventually(() => {
      const left = strangers();
      for (const { pid, command } of left) if (!command.includes(' __warden ')) strike(pid, 'SIGKILL');
      if (left.length > 0) throw new Error(`still there: ${listed(left)}`);
    }, SETTLE_MS);
  }

  /**
   * A group does not hold what has left it. And where the agent is lost, its clients end the groups: only those that they have heard of,
   * so only in an episode whose target was ready is anything to be said.
   */
  async #judgeGroup(client: Client, strangers: () => ProcessSeen[]): Promise<void> {
    const { moment, blow } = this.#plan;
    if (moment !== 'ready' || blow !== 'KILL') return;
    const away = new Set(client.family.filter(([kind]) => kind === 'away' || kind === 'twice').map(([, pid]) => pid));
    await nobody(() => strangers().filter(({ pid }) => !away.has(pid)));
  }
}

async function nobody(left: () => ProcessSeen[]): Promise<void> {
  await eventually(() => {
    const seen = left();
    if (seen.length > 0) throw new Error(`left: ${listed(seen)}`);
  }, SETTLE_MS);
}

function listed(processes: readonly ProcessSeen[]): string {
  return processes.map(({ pid, ppid, state, command }) => `${pid} (parent ${ppid}, ${state}) ${command}`).join('; ');
}

/** Timers of Node are a millisecond apart. */
function spin(microseconds: number): void {
  const until = performance.now() + microseconds / 1000;
  while (performance.now() < until) {}
}

async function within<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`after ${END_MS} ms still: ${what}`)), END_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
