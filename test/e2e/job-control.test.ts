// Job control of interactive shells on a real terminal, with the client as the job: ^C, ^Z, fg, bg, jobs, editors; and the hand-over
// of the terminal to a target whose client leads the session. DESIGN section 4 "Signals" and "Terminals".

import { writeFileSync } from 'node:fs';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../harness/eventually.js';
import { programs, useHoldfast } from '../harness/holdfast.js';
import { needs } from '../harness/needs.js';
import { descendantsOf, findProcess } from '../harness/processes.js';
import { Terminal } from '../harness/terminal.js';

const holdfast = useHoldfast();

/** Takes away the escape sequences that readline puts around a prompt. */
const inputrc = `${holdfast.folder()}/inputrc`;
let agentPid: () => number;

beforeAll(async () => {
  writeFileSync(inputrc, 'set enable-bracketed-paste off\n');
  const session = await holdfast.open('s', { shared: true });
  agentPid = () => session.pid;
});

const open = new Set<Terminal>();
// Those that a failed test has not ended.
afterEach(async () => {
  for (const terminal of open) terminal.close();
  for (const terminal of open) await terminal.exited;
  open.clear();
});

const CTRL_C = '\x03';
const CTRL_D = '\x04';
const CTRL_Z = '\x1a';
const SHELLS = { bash: ['bash', '--norc', '-i'], dash: ['dash', '-i'] } as const;

/** An interactive shell that has `rx COMMAND…`, and prompts with '%>'. */
class Shell {
  readonly terminal: Terminal;
  #seen = 0;

  constructor(argv: readonly [string, ...string[]]) {
    const env = { ...holdfast.env, PS1: '%> ', TERM: 'xterm', HISTFILE: '/dev/null', EDITOR: '', INPUTRC: inputrc };
    this.terminal = new Terminal(argv, { env, cwd: holdfast.folder() });
    open.add(this.terminal);
  }

  async start(): Promise<this> {
    await this.sees('%> ');
    this.terminal.type(`rx() { '${programs.runnerExec}' --session s "$@"; }\n`);
    await this.sees('%> ');
    return this;
  }

  /** Waits for `text` behind what was seen last, and gives what stood before it, and the text itself. */
  async sees(text: string | RegExp): Promise<string> {
    return await eventually(() => {
      const rest = this.terminal.text.slice(this.#seen);
      const found = typeof text === 'string' ? { index: rest.indexOf(text), length: text.length } : match(rest, text);
      if (found.index < 0) throw new Error(`no ${text} in ${JSON.stringify(rest)}`);
      this.#seen += found.index + found.length;
      return rest.slice(0, found.index + found.length);
    });
  }

  type(text: string): void {
    this.terminal.type(text);
  }

  /** Types a command, and waits for the prompt after it. */
  async does(line: string): Promise<string> {
    this.type(`${line}\n`);
    return await this.sees('\n%> ');
  }

  async exit(): Promise<void> {
    this.type('exit\n');
    await this.terminal.ended();
    open.delete(this.terminal);
  }
}

function match(text: string, pattern: RegExp): { index: number; length: number } {
  const found = pattern.exec(text);
  return { index: found?.index ?? -1, length: found?.[0].length ?? 0 };
}

async function shell(name: keyof typeof SHELLS): Promise<Shell> {
  return await new Shell(SHELLS[name]).start();
}

// Commands that fork while Ctrl-Z comes are bash's: dash uses vfork(2), and a child that is stopped before its exec holds dash in a wait that
// no stop reaches, also without Holdfast.
describe.for(['bash', 'dash'] as const)('in %s', (name) => {
  it('Ctrl-C interrupts the command, and the shell goes on', async (t) => {
    needs(t, name);
    const sh = await shell(name);
    sh.type(`rx -- sh -c 'echo pid-$$; exec sleep 60'\n`);
    const pid = Number(/pid-(\d+)/.exec(await sh.sees(/pid-\d+/))?.[1]);
    sh.type(CTRL_C);
    await sh.sees('%> ');
    expect(await sh.does('echo status-$?')).toContain('status-130');
    expect(findProcess(pid)).toBeUndefined();
    await sh.exit();
  });

  it('Ctrl-Z stops command and client, fg goes on, in the middle of a read', async (t) => {
    needs(t, name);
    const sh = await shell(name);
    sh.type(`rx -- sh -c 'echo pid-$$; read line; echo got-$line; read line; echo got-$line'\n`);
    const pid = Number(/pid-(\d+)/.exec(await sh.sees(/pid-\d+/))?.[1]);
    for (const word of ['one', 'two']) {
      sh.type(CTRL_Z);
      await sh.sees('%> ');
      expect(findProcess(pid)?.state).toBe('T');
      expect(await sh.does('jobs')).toMatch(/Stopped/);
      sh.type('fg\n');
      await eventually(() => expect(findProcess(pid)?.state).toBe('S'));
      sh.type(`${word}\n`);
      await sh.sees(`got-${word}`);
    }
    await sh.sees('%> ');
    await sh.exit();
  });

  it('bg lets a stopped command go on, and its output comes', async (t) => {
    needs(t, name);
    const sh = await shell(name);
    sh.type(`rx -- bash -c 'echo up; sleep 0.3; echo still; sleep 0.3; echo done'\n`);
    await sh.sees('up');
    sh.type(CTRL_Z);
    await sh.sees('%> ');
    sh.type('bg\n');
    await sh.sees('done');
    sh.type('wait\n');
    await sh.sees('%> ');
    await sh.exit();
  });

  it('bg of a command that reads the keys stops it, and fg lets it read', async (t) => {
    needs(t, name);
    const sh = await shell(name);
    sh.type(`rx -- sh -c 'echo pid-$$; cat'\n`);
    const pid = Number(/pid-(\d+)/.exec(await sh.sees(/pid-\d+/))?.[1]);
    sh.type(CTRL_Z);
    await sh.sees('%> ');
    sh.type('bg\n');
    await sh.sees('%> ');
    await eventually(() => expect(findProcess(pid)?.state).toBe('T'));
    for (let i = 0; i < 10; i++) expect(await sh.does(`echo mine-$((${i}+1))`)).toContain(`mine-${i + 1}`);
    sh.type('fg\n');
    await eventually(() => expect(findProcess(pid)?.state).toBe('S'));
    sh.type('for cat\n');
    await sh.sees('for cat\r\nfor cat');
    sh.type(CTRL_D);
    await sh.sees('%> ');
    await sh.exit();
  });

  it('a command started in the background never gets the keys', async (t) => {
    needs(t, name);
    const sh = await shell(name);
    sh.type(`rx -- cat >got &\n`);
    await sh.sees('%> ');
    for (let i = 0; i < 10; i++) expect(await sh.does(`echo mine-$((${i}+1))`)).toContain(`mine-${i + 1}`);
    sh.type('fg\n');
    await sh.sees('cat');
    sh.type('for cat\n');
    sh.type(CTRL_D);
    await sh.sees('%> ');
    expect(await sh.does('echo "<$(cat got)>"')).toContain('<for cat>');
    await sh.exit();
  });

  it('bg of a command that comes to read later stops it then', async (t) => {
    needs(t, name);
    const sh = await shell(name);
    const gate = `${holdfast.folder()}/gate`;
    sh.type(`rx -- bash -c 'echo pid-$$; until test -e ${gate}; do sleep 0.05; done; read line; echo got-$line'\n`);
    const pid = Number(/pid-(\d+)/.exec(await sh.sees(/pid-\d+/))?.[1]);
    sh.type(CTRL_Z);
    await sh.sees('%> ');
    sh.type('bg\n');
    await sh.sees('%> ');
    await eventually(() => expect(findProcess(pid)?.state).toBe('S'));
    writeFileSync(gate, '');
    await eventually(() => expect(findProcess(pid)?.state).toBe('T'));
    await eventually(async () => expect(await sh.does('jobs')).toMatch(/Stopped/));
    sh.type('fg\n');
    await eventually(() => expect(findProcess(pid)?.state).toBe('S'));
    sh.type('this\n');
    await sh.sees('got-this');
    await sh.sees('%> ');
    await sh.exit();
  });
});

/** What a full-screen program says when it takes the screen, and when it gives it back (terminfo's smcup and rmcup of xterm). */
const TAKES_SCREEN = '\x1b[?1049h';
const GIVES_SCREEN = '\x1b[?1049l';

describe.for([
  ['vim', ['vim', '-u', 'NONE', '-N', 'text'], ':q!\r'],
  ['less', ['less', 'text'], 'q'],
] as const)('%s', ([program, command, quit]) => {
  it('gives the screen back on Ctrl-Z and takes it again on fg', async (t) => {
    needs(t, program, 'bash');
    const sh = await shell('bash');
    await sh.does('seq -f "line %g" 100 >text');
    const modes = await sh.does('stty -a');
    sh.type(`rx -- ${command.join(' ')}\n`);
    await sh.sees(TAKES_SCREEN);
    await sh.sees('line 20');
    for (let round = 0; round < 2; round++) {
      sh.type(CTRL_Z);
      await sh.sees(GIVES_SCREEN);
      await sh.sees('%> ');
      expect(await sh.does('stty -a')).toBe(modes);
      sh.type('fg\n');
      await sh.sees(TAKES_SCREEN);
      await sh.sees('line 20');
    }
    sh.type(quit);
    await sh.sees(GIVES_SCREEN);
    await sh.sees('%> ');
    expect(await sh.does('stty -a')).toBe(modes);
    await sh.exit();
  });

  it('is stopped again when bg resumes it, and leaves the shell its terminal', async (t) => {
    needs(t, program, 'bash');
    const sh = await shell('bash');
    await sh.does('seq -f "line %g" 100 >text');
    const modes = await sh.does('stty -a');
    sh.type(`rx -- ${command.join(' ')}\n`);
    await sh.sees('line 20');
    sh.type(CTRL_Z);
    await sh.sees('%> ');
    await sh.does('bg');
    await eventually(async () => expect(await sh.does('jobs')).toMatch(/Stopped/));
    expect(await sh.does('stty -a')).toBe(modes);
    sh.type('fg\n');
    await sh.sees(TAKES_SCREEN);
    sh.type(quit);
    await sh.sees(GIVES_SCREEN);
    await sh.sees('%> ');
    await sh.exit();
  });
});

describe('with a terminal of its own (-t)', () => {
  it('Ctrl-Z belongs to the shell inside', async (t) => {
    needs(t, 'bash');
    const sh = await shell('bash');
    sh.type(`rx -t -- env PS1='in> ' INPUTRC=${inputrc} bash --norc -i\n`);
    await sh.sees('in> ');
    sh.type('cat\n');
    await runs('cat');
    sh.type(CTRL_Z);
    await sh.sees('Stopped');
    await sh.sees('in> ');
    sh.type('fg\n');
    await sh.sees('fg\r\ncat\r\n');
    sh.type(CTRL_C);
    await sh.sees('in> ');
    sh.type('exit 5\n');
    await sh.sees('%> ');
    expect(await sh.does('echo status-$?')).toContain('status-5');
    await sh.exit();
  });

  it('a TSTP to the client gives the terminal back, and fg takes it again', async (t) => {
    needs(t, 'bash');
    const sh = await shell('bash');
    const modes = await sh.does('stty -a');
    sh.type(`rx -t -- sh -c 'echo pid-$$; read line; echo got-$line'\n`);
    const pid = Number(/pid-(\d+)/.exec(await sh.sees(/pid-\d+/))?.[1]);
    process.kill(clientOf(sh.terminal.pid), 'SIGTSTP');
    await sh.sees('%> ');
    expect(findProcess(pid)?.state).toBe('T');
    expect(await sh.does('stty -a')).toBe(modes);
    sh.type('fg\n');
    await eventually(() => expect(findProcess(pid)?.state).toBe('S'));
    sh.type('this\r');
    await sh.sees('got-this');
    await sh.sees('%> ');
    expect(await sh.does('stty -a')).toBe(modes);
    await sh.exit();
  });
});

/** Waits until a target, or a job of it, is this. */
async function runs(commandLine: string): Promise<void> {
  await eventually(() => expect(descendantsOf(agentPid()).map(({ command }) => command)).toContain(commandLine));
}

/** The client that is a child of this shell. */
function clientOf(shellPid: number): number {
  const client = descendantsOf(shellPid).find(({ command }) => command.startsWith(programs.runnerExec));
  if (client === undefined) throw new Error('the shell runs no client');
  return client.pid;
}

describe('a client that leads the session of its terminal', () => {
  function hold(...command: string[]): Shell {
    return new Shell([programs.runnerExec, '--session', 's', '--', ...command]);
  }

  it('hands it over: the target has /dev/tty, and a shell has job control', async (t) => {
    needs(t, 'bash');
    const sh = hold('env', 'PS1=%> ', `INPUTRC=${inputrc}`, 'bash', '--norc', '-i');
    await sh.sees('%> ');
    expect(sh.terminal.text).not.toContain('job control');
    expect(await sh.does('echo via-tty >/dev/tty; echo $-; tty')).toMatch(/via-tty\r\n\w*m\w*\r\n\/dev\/pts\//);
    sh.type('sleep 60\n');
    await runs('sleep 60');
    sh.type(CTRL_C);
    await sh.sees('%> ');
    expect(await sh.does('echo status-$?')).toContain('status-130');
    sh.type('cat\n');
    await runs('cat');
    sh.type(CTRL_Z);
    await sh.sees('Stopped');
    await sh.sees('%> ');
    sh.type('fg\n');
    await sh.sees('fg\r\ncat\r\n');
    sh.type(CTRL_D);
    await sh.sees('%> ');
    sh.type('exit 7\n');
    expect(await sh.terminal.ended()).toMatchObject({ code: 7 });
  });

  it('the keys that interrupt go to the target alone, once', async () => {
    const sh = hold('sh', '-c', 'trap "echo caught" INT; echo up; while :; do sleep 0.05; done');
    await sh.sees('up');
    for (const _ of [1, 2]) {
      sh.type(CTRL_C);
      await sh.sees('caught');
    }
    sh.type('\x1c');
    expect(await sh.terminal.ended()).toMatchObject({ signal: 3 });
    expect(sh.terminal.text.match(/caught/g)).toHaveLength(2);
  });

  it('a signal to the client still reaches the target', async () => {
    const sh = hold('sh', '-c', 'trap "echo caught; exit 9" TERM; echo up; while :; do sleep 0.05; done');
    await sh.sees('up');
    process.kill(sh.terminal.pid, 'SIGTERM');
    expect(await sh.terminal.ended()).toMatchObject({ code: 9 });
    expect(sh.terminal.text.match(/caught/g)).toHaveLength(1);
  });

  it('takes it back when the command cannot be started', async () => {
    const sh = new Shell([
      'bash',
      '--norc',
      '-c',
      `'${programs.runnerExec}' --session s -- no-such; echo $?; exec '${programs.runnerExec}' --session s -- no-such`,
    ]);
    expect(await sh.terminal.ended()).toMatchObject({ code: 127 });
    expect(sh.terminal.text).toMatch(/no-such[\s\S]*127[\s\S]*no-such/);
  });

  it('ends with it when the terminal is closed', async () => {
    const sh = hold('sh', '-c', 'echo pid-$$; sleep 60 & wait');
    const pid = Number(/pid-(\d+)/.exec(await sh.sees(/pid-\d+/))?.[1]);
    sh.terminal.close();
    await sh.terminal.exited;
    await eventually(() => expect(findProcess(pid)).toBeUndefined());
  });
});
