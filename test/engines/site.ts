// Real engines (dockerd, podman, runc, sshd …) on a scratch folder, for tests, benchmarks and the conformance table: the ground
// that they share. Each engine is a file beside this one.

import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { promisify } from 'node:util';

/** Where an engine has its files, and what its programs get as environment. */
export interface Site {
  readonly scratch: string;
  readonly env: Readonly<Record<string, string>>;
}

/** What runs now. */
export interface Engine {
  /** The client's words before its subcommand. */
  readonly client: readonly [string, ...string[]];
  /** What the client needs in its environment to find it. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends what was started, and everything in it. */
  end(): Promise<void>;
}

/** The engine cannot be had here. */
export class Absent extends Error {}

/** The program's path. @throws {Absent} */
export function findProgram({ env }: Pick<Site, 'env'>, name: string): string {
  const directories = [...(env.PATH ?? '').split(':'), '/usr/sbin', '/sbin'];
  const found = directories.find((directory) => existsSync(`${directory}/${name}`));
  if (found === undefined) throw new Absent(`'${name}' is not installed`);
  return `${found}/${name}`;
}

export const run = promisify(execFile);

/** Polls until `isReady`, at most twenty seconds. @throws {Absent} */
export async function readyWhen(what: string, isReady: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (!(await isReady())) {
    if (performance.now() > deadline) throw new Absent(`${what} does not start here`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export async function succeeds(program: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<boolean> {
  try {
    await run(program, args, { env });
    return true;
  } catch {
    return false;
  }
}

/** A server of ours in the background, which gets TERM when this process dies; `end` sends it TERM and waits for it. */
export function startServer(
  argv: readonly [string, ...string[]],
  env: Readonly<Record<string, string>>,
  output: number | 'ignore' = 'ignore',
): { end: () => Promise<void> } {
  const child = spawn('setpriv', ['--pdeathsig', 'TERM', ...argv], { env, stdio: ['ignore', output, output], detached: true });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()).once('error', () => resolve()));
  return {
    end: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Absent('no free port');
  return address.port;
}
