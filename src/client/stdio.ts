// The descriptors of a target, from how they were asked for. What a target gets is a file, a kernel pipe, a terminal or /dev/null,
// never something that libuv knows: libuv sets O_NONBLOCK on what it touches, and the caller shares that flag. Only our own ends of
// pipes become streams.

import { constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';

import { HoldfastError } from '../errors.js';
import { closeFds, fdFlags, isTty, makePipe } from '../native/descriptors.js';
import { systemErrorText } from './errno.js';
import { OutputEnd } from './output-end.js';

/** Anything that has a descriptor: a FileHandle, a `tty.WriteStream`, `process.stderr`. It stays the caller's. */
export interface HasDescriptor {
  readonly fd: number;
}

/** A file, opened for the target alone. Written from its start, unless `mode` says otherwise; descriptor 0 is read. */
export interface StdioFile {
  /** From this process's working directory, not the target's. */
  readonly file: string | Buffer;
  /** `'write'` makes or empties the file, `'append'` makes it or adds to it; mode 0666 less the umask. */
  readonly mode?: 'read' | 'write' | 'append' | undefined;
}

/**
 * One descriptor of the target: `'inherit'` ours of the same number, `'ignore'` /dev/null, `'pipe'` a kernel pipe of which we keep the
 * other end as a stream (0 to 2 only), a number or an object with `fd` a descriptor that stays ours, `{ file }` a file.
 */
export type StdioSlot = 'inherit' | 'ignore' | 'pipe' | number | HasDescriptor | StdioFile;

/**
 * A terminal for 0, 1 and 2, which becomes the target's controlling one (`/dev/tty`, Ctrl-C, job control): its path, such as node-pty's
 * `ptsName`, or a descriptor of its slave side, which stays ours.
 */
export interface StdioTerminal {
  readonly terminal: string | number;
}

/** As for child_process: one word for 0, 1 and 2, a terminal, or a list whose index is the number in the target. A hole past 2: nothing there. */
export type StdioOption = 'inherit' | 'ignore' | 'pipe' | StdioTerminal | readonly (StdioSlot | undefined)[];

type SlotOf<S extends StdioOption, N extends 0 | 1 | 2> = S extends readonly (StdioSlot | undefined)[]
  ? number extends S['length']
    ? S[number] | undefined
    : `${N}` extends keyof S
      ? S[`${N}`]
      : undefined
  : S;

/** A stream where that slot is a pipe (which it is where it is not said), else nothing. */
type StreamOf<S extends StdioOption, N extends 0 | 1 | 2, Stream> =
  SlotOf<S, N> extends infer Slot ? (Slot extends 'pipe' | undefined ? Stream : undefined) : never;

export type StdinOf<S extends StdioOption> = StreamOf<S, 0, Writable>;
export type StdoutOf<S extends StdioOption> = StreamOf<S, 1, Readable>;
export type StderrOf<S extends StdioOption> = StreamOf<S, 2, Readable>;

export class TargetStdio {
  /** What the target gets, and under which number. In the same order; some are borrowed, some ours until `closeTheirs`. */
  readonly fds: number[] = [];
  readonly numbers: number[] = [];
  /** 0, 1 and 2 are a terminal that the target is to control. */
  readonly controlsTerminal: boolean = false;
  stdin: Socket | undefined;
  stdout: OutputEnd | undefined;
  stderr: OutputEnd | undefined;
  readonly #ours: number[] = [];

  /** @throws {HoldfastError} `REQUEST_INVALID`, `RESOURCES`. Nothing is left open then. */
  constructor(option: StdioOption) {
    try {
      if (typeof option === 'string') for (let number = 0; number <= 2; number += 1) this.#add(number, option);
      else if (typeof option !== 'object') throw unknownSlot(0, option);
      else if ('terminal' in option) {
        this.controlsTerminal = true;
        this.#terminal(option.terminal);
      } else for (let number = 0; number < Math.max(3, option.length); number += 1) this.#add(number, option[number]);
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

  /** The target has ended. */
  settle(): void {
    this.stdout?.settle();
    this.stderr?.settle();
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
        this.#give(number, this.#own(openFile('/dev/null', constants.O_RDWR)));
        return;
      case 'pipe':
      case undefined:
        this.#pipe(number);
        return;
      default:
        if (typeof slot !== 'number' && !isDescribed(slot)) throw unknownSlot(number, slot);
        if (typeof slot === 'number') this.#borrow(number, slot);
        else if ('file' in slot)
          this.#give(number, this.#own(openFile(slot.file, flagsOf(slot.mode ?? (number === 0 ? 'read' : 'write')))));
        else this.#borrow(number, slot.fd);
    }
  }

  #borrow(number: number, fd: number): void {
    if (fdFlags(fd) === undefined) {
      throw new HoldfastError('REQUEST_INVALID', `descriptor ${fd}, for the target's ${number}, is not open`);
    }
    this.#give(number, fd);
  }

  #terminal(terminal: string | number): void {
    const fd = typeof terminal === 'number' ? terminal : this.#own(openFile(terminal, constants.O_RDWR));
    if (!isTty(fd)) throw new HoldfastError('REQUEST_INVALID', `'${terminal}' is no terminal`);
    for (let number = 0; number <= 2; number += 1) this.#give(number, fd);
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
    const ours = new OutputEnd(read);
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

function isDescribed(slot: unknown): boolean {
  return typeof slot === 'object' && slot !== null && ('file' in slot || ('fd' in slot && typeof slot.fd === 'number'));
}

/** From a program that no type checker has looked at. */
function unknownSlot(number: number, slot: unknown): HoldfastError {
  return new HoldfastError('REQUEST_INVALID', `'stdio' cannot be ${JSON.stringify(slot) ?? String(slot)} for ${number}`, {
    hint: "it is 'inherit', 'ignore' or 'pipe', a descriptor's number, an object with 'fd' or 'file', or a list of these",
  });
}

function openPipe(): { read: number; write: number } {
  try {
    return makePipe();
  } catch (cause) {
    throw new HoldfastError('RESOURCES', 'no pipe could be made', { cause });
  }
}

const { O_RDONLY, O_WRONLY, O_CREAT, O_TRUNC, O_APPEND, O_NOCTTY } = constants;

function flagsOf(mode: 'read' | 'write' | 'append'): number {
  switch (mode) {
    case 'read':
      return O_RDONLY;
    case 'write':
      return O_WRONLY | O_CREAT | O_TRUNC;
    case 'append':
      return O_WRONLY | O_CREAT | O_APPEND;
  }
}

function openFile(path: string | Buffer, flags: number): number {
  try {
    return openSync(path, flags | O_NOCTTY);
  } catch (cause) {
    const isFull = cause instanceof Error && 'code' in cause && (cause.code === 'EMFILE' || cause.code === 'ENFILE');
    throw new HoldfastError(isFull ? 'RESOURCES' : 'REQUEST_INVALID', `cannot open '${path}': ${systemErrorText(cause)}`, { cause });
  }
}
