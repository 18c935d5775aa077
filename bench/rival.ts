// Another way to run a command in something that is already there. Each has a file in bench/rivals/; one that is not installed
// here says so and is left out.

import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import type { Place } from './place.js';

export interface Rival {
  name: string;
  /** Runs `true` its way. */
  argv: readonly string[];
  env?: Record<string, string>;
  /** Ends what `start` started. */
  end?: () => Promise<void>;
}

export interface RivalKind {
  name: string;
  /** @throws {Absent} */
  start(place: Place): Promise<Rival>;
}

export class Absent extends Error {}

/** The program's path. @throws {Absent} */
export function findProgram(place: Place, name: string): string {
  const found = (place.env.PATH ?? '').split(':').find((directory) => existsSync(`${directory}/${name}`));
  if (found === undefined) throw new Absent(`'${name}' is not installed`);
  return `${found}/${name}`;
}

export const run = promisify(execFile);

/** Polls until `isReady`, at most ten seconds. @throws {Absent} */
export async function readyWhen(what: string, isReady: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await isReady())) {
    if (performance.now() > deadline) throw new Absent(`${what} does not start here`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

export async function succeeds(program: string, args: readonly string[], env: Record<string, string>): Promise<boolean> {
  try {
    await run(program, args, { env });
    return true;
  } catch {
    return false;
  }
}

/** A server of ours in the background; `end` sends it TERM and waits for it. */
export function startServer(argv: readonly [string, ...string[]], env: Record<string, string>): { end: () => Promise<void> } {
  const [program, ...args] = argv;
  const child = spawn(program, args, { env, stdio: 'ignore', detached: true });
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
