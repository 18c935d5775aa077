// The descriptors of a target, from how they were asked for. What a target gets is a file, a kernel pipe or /dev/null, never
// something that libuv knows: libuv sets O_NONBLOCK on what it touches, and the caller shares that flag. Only our own ends of
// pipes become streams.

import { openSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';

import { HoldfastError } from '../errors.js';
import { closeFds, fdFlags, makePipe } from '../native.js';

/** A number is a descriptor of ours, which stays ours. `'pipe'`: a pipe of which we keep the other end as a stream (0 to 2 only). */
export type StdioSlot = 'inherit' | 'ignore' | 'pipe' | number;
/** As for child_process: one word for 0, 1 and 2, or a list whose index is the number in the target. A hole past 2: nothing there. */
export type StdioOption = 'inherit' | 'ignore' | 'pipe' | readonly (StdioSlot | undefined)[];

export class TargetStdio {
  /** What the target gets, and under which number. In the same order; some are borrowed, some ours until `closeTheirs`. */
  readonly fds: number[] = [];
  readonly numbers: number[] = [];
  stdin: Writable | undefined;
  stdout: Readable | undefined;
  stderr: Readable | undefined;
  readonly #ours: number[] = [];

  /** @throws {HoldfastError} `REQUEST_INVALID`, `RESOURCES`. Nothing is left open then. */
  constructor(option: StdioOption) {
    try {
      if (typeof option === 'string') for (let number = 0; number <= 2; number += 1) this.#add(number, option);
      else for (let number = 0; number < Math.max(3, option.length); number += 1) this.#add(number, option[number]);
    } catch (error) {
      this.destroy();
      throw error;
    }
  }

  /** Once they are sent, or will not be. Our copies of their ends would keep a pipe from ever ending. Safe to call twice. */
  closeTheirs(): void {
    closeFds(this.#ours);
    this.#ours.length = 0;
  }

  destroy(): void {
    this.closeTheirs();
    this.stdin?.destroy();
    this.stdout?.destroy();
    this.stderr?.destroy();
  }

  #add(number: number, slot: StdioSlot | undefined): void {
    if (slot === undefined && number > 2) return;
    switch (slot) {
      case 'inherit':
        // A program that closed its own 0, 1 or 2 has none to hand on: the target finds that number closed as well.
        if (fdFlags(number) !== undefined) this.#give(number, number);
        return;
      case 'ignore':
        this.#give(number, this.#own(openNull()));
        return;
      case 'pipe':
      case undefined:
        this.#pipe(number);
        return;
      default:
        if (fdFlags(slot) === undefined) {
          throw new HoldfastError('REQUEST_INVALID', `descriptor ${slot}, for the target's ${number}, is not open`);
        }
        this.#give(number, slot);
    }
  }

  #pipe(number: number): void {
    if (number > 2) {
      throw new HoldfastError('REQUEST_INVALID', `descriptor ${number} cannot be 'pipe'`, {
        hint: 'past 2 it is not known who reads and who writes: make the pipe, and give the number of its end',
      });
    }
    const { read, write } = openPipe();
    if (number === 0) {
      this.#give(0, this.#own(read));
      this.stdin = new Socket({ fd: write, readable: false, writable: true });
      return;
    }
    this.#give(number, this.#own(write));
    const ours = new Socket({ fd: read, readable: true, writable: false });
    if (number === 1) this.stdout = ours;
    else this.stderr = ours;
  }

  #give(number: number, fd: number): void {
    this.numbers.push(number);
    this.fds.push(fd);
  }

  #own(fd: number): number {
    this.#ours.push(fd);
    return fd;
  }
}

function openPipe(): { read: number; write: number } {
  try {
    return makePipe();
  } catch (cause) {
    throw new HoldfastError('RESOURCES', 'no pipe could be made', { cause });
  }
}

function openNull(): number {
  try {
    return openSync('/dev/null', 'r+');
  } catch (cause) {
    throw new HoldfastError('RESOURCES', "'/dev/null' could not be opened", { cause });
  }
}
