// What is to be ended behind a wrapper when the agent is killed outright: told to a guard (native/guard.c) before each command that
// starts from a new place, and taken back at an orderly end.

import { writeSync } from 'node:fs';
import type { ChildChange } from '../native/children.js';
import { closeFd } from '../native/descriptors.js';
import { wrapScript } from '../wrap/command.js';
import type { WrapDefinition } from '../wrap/definition.js';
import { endWords, FAR_SCRIPT } from '../wrap/far-script.js';
import type { WrapperPlace } from './errands.js';
import { killWords, packLatin1 } from './far-side.js';
import { type Guard, startGuard } from './guard.js';

/** A command of the wrapper's that was under way when the agent was killed may still come true. */
const PATIENCE_MS = 1_000;

export class FarGuard {
  readonly #commands: ReadonlyArray<readonly string[]>;
  #guard: Guard | undefined;
  #known: Buffer | undefined;

  /** @param marker what HOLDFAST_RUN begins with. @param file of the inside, to be removed. */
  constructor(wrap: WrapDefinition, marker: string, file: string, graceMs: number) {
    const words = endWords(marker, graceMs, PATIENCE_MS, file);
    // The second one is for a wrapper that fails: see far-side.ts.
    this.#commands =
      wrap.kill === undefined
        ? [wrapScript(wrap, FAR_SCRIPT, words), ['/bin/sh', '-c', FAR_SCRIPT, 'sh', ...words]]
        : [killWords(wrap.kill, marker, 'KILL', 0)];
  }

  /** Costs a comparison where nothing is new. */
  remember({ env }: WrapperPlace): void {
    if (this.#guard !== undefined && this.#known?.equals(env.block) === true) return;
    this.#guard ??= startGuard('');
    this.#known = Buffer.from(env.block);
    this.#tell([u32(this.#commands.length), ...this.#commands.flatMap(commandBytes), u32(env.count), env.block]);
  }

  /** Nothing is left to be ended. */
  end(): void {
    this.#tell([u32(0), u32(0)]);
    if (this.#guard !== undefined) closeFd(this.#guard.pipe);
    this.#guard = undefined;
  }

  isHelper(pid: number): boolean {
    return this.#guard?.pid === pid;
  }

  /** True: it was our guard. The next command gets another one. */
  changed({ pid, waitStatus }: ChildChange): boolean {
    if (this.#guard?.pid !== pid) return false;
    if (waitStatus === 0xffff || (waitStatus & 0xff) === 0x7f) return true;
    closeFd(this.#guard.pipe);
    this.#guard = undefined;
    return true;
  }

  /** A message is its length and its bytes; the last whole one counts. */
  #tell(parts: readonly Buffer[]): void {
    if (this.#guard === undefined) return;
    const body = Buffer.concat(parts);
    const message = Buffer.concat([u32(body.length), body]);
    try {
      for (let at = 0; at < message.length; ) at += writeSync(this.#guard.pipe, message, at);
    } catch {
      // It was killed: changed() is about to be told.
    }
  }
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function commandBytes(words: readonly string[]): Buffer[] {
  const { count, block } = packLatin1(words);
  return [u32(count), block];
}
