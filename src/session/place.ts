// Where a session's files are: the checked runtime directory, held by a descriptor, and the paths in it.

import { lstatSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';

import {
  faultOfFiles,
  makeRuntimeDirectory,
  openRuntimeDirectory,
  runtimeDirectoryPath,
  type SessionFiles,
  sessionFiles,
} from '../client/runtime-directory.js';
import { HoldfastError } from '../errors.js';
import { closeFd } from '../native/descriptors.js';
import { findJobFiles } from './job-files.js';
import { checkName } from './name.js';

/** One session's files. Owns the directory's descriptor: close() it. */
export class SessionPlace {
  readonly name: string;
  /** Absolute. */
  readonly directory: string;
  /** Through the descriptor: what was checked is what is used, and an address in it is short. Of no use to other processes. */
  readonly files: SessionFiles;
  /** Absolute: for other processes, and for people. */
  readonly shown: SessionFiles;
  #fd: number | undefined;

  constructor(name: string, directory: string, fd: number) {
    this.name = name;
    this.directory = directory;
    this.files = sessionFiles(`/proc/self/fd/${fd}`, name);
    this.shown = sessionFiles(directory, name);
    this.#fd = fd;
  }

  /** What is to be thrown for an error in the middle of work on the files. */
  faultOf(error: unknown): unknown {
    return faultOfFiles(this.directory, error);
  }

  /** A second call does nothing. */
  close(): void {
    if (this.#fd !== undefined) closeFd(this.#fd);
    this.#fd = undefined;
  }

  /** Removes the session's socket, if there is one. @throws {HoldfastError} `RUNTIME_DIR`: what is there is not a socket, and stays. */
  removeSocket(): void {
    const stat = lstatSync(this.files.socket, { throwIfNoEntry: false });
    if (stat === undefined) return;
    if (!stat.isSocket()) {
      throw new HoldfastError('RUNTIME_DIR', `'${this.shown.socket}' is in the way: it is not a socket, so it is not removed`, {
        hint: 'move it elsewhere, or remove it yourself',
      });
    }
    rmSync(this.files.socket, { force: true });
  }

  /** Removes what an opening or a session leaves, the log and the lock aside. A socket's path that holds something else is left alone. */
  clear(): void {
    if (lstatSync(this.files.socket, { throwIfNoEntry: false })?.isSocket()) rmSync(this.files.socket, { force: true });
    const { record, notify, pass, capture, snapshot, stem } = this.files;
    const halves = [record, capture, snapshot].map((path) => `${path}.new`);
    for (const path of [record, notify, pass, capture, snapshot, ...halves, ...findJobFiles(stem)]) rmSync(path, { force: true });
  }
}

/** @throws {HoldfastError} `NAME_INVALID`, `RUNTIME_DIR`. The directory is made when it is absent. */
export function makePlace(name: string): SessionPlace {
  checkName(name);
  const path = runtimeDirectoryPath();
  return new SessionPlace(name, resolve(path), makeRuntimeDirectory(path));
}

/** As makePlace, but `undefined` where there is no runtime directory, and so no session. */
export function findPlace(name: string): SessionPlace | undefined {
  checkName(name);
  const path = runtimeDirectoryPath();
  const fd = openRuntimeDirectory(path);
  return fd === undefined ? undefined : new SessionPlace(name, resolve(path), fd);
}
