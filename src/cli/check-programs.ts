// The programs that Holdfast runs: Node, bash, its own client, and the tools that providers stand for.

import { execFileSync } from 'node:child_process';
import { accessSync, closeSync, constants, openSync, readSync } from 'node:fs';

import { findProgram } from '../session/find-program.js';
import { type Check, reasonOf } from './check.js';

const OLDEST_NODE = 20;
/** The first bash whose exported functions have the names that Holdfast reads and writes (BASH_FUNC_f%%). */
const OLDEST_BASH = 4.4;
const PROGRAM_HEADER_INTERP = 3;

export function checkNode(version: string = process.versions.node): Check {
  if (Number.parseInt(version, 10) >= OLDEST_NODE) return { name: 'node', state: 'ok', detail: version };
  return { name: 'node', state: 'fail', detail: `${version} is older than ${OLDEST_NODE}`, cure: 'use a newer Node' };
}

export async function checkAddon(): Promise<Check> {
  try {
    const { umask } = await import('../native/processes.js');
    umask();
    return { name: 'addon', state: 'ok', detail: 'loads' };
  } catch (error) {
    return {
      name: 'addon',
      state: 'fail',
      detail: reasonOf(error),
      cure: "'holdfast build-native' makes it fit this machine; in a clone, 'npm run build' does",
    };
  }
}

/** @param path of the static client. */
export function checkClient(path: string): Check {
  const name = 'runner-exec';
  const cure = "'holdfast build-native' makes it fit this machine; in a clone, 'npm run build' does";
  try {
    accessSync(path, constants.X_OK);
    execFileSync(path, ['--version'], { stdio: ['ignore', 'pipe', 'pipe'], timeout: 10_000 });
  } catch (error) {
    return { name, state: 'fail', detail: `'${path}' does not run: ${reasonOf(error)}`, cure };
  }
  if (!isStatic(path)) {
    return {
      name,
      state: 'warn',
      detail: `'${path}' is not static: an environment can break it`,
      cure: "install musl-gcc and build it again: 'holdfast build-native --compile', in a clone 'npm run build'",
    };
  }
  return { name, state: 'ok', detail: `'${path}', static` };
}

export function checkBash(path: string | undefined = findProgram('bash')): Check {
  const name = 'bash';
  if (path === undefined) {
    return {
      name,
      state: 'warn',
      detail: 'not on the PATH',
      cure: 'install bash: without it no script can be sourced, and no shell function kept',
    };
  }
  const version = versionOf(path);
  if (Number.parseFloat(version) >= OLDEST_BASH) return { name, state: 'ok', detail: `'${path}', ${version}` };
  return {
    name,
    state: 'warn',
    detail: `'${path}', ${version}`,
    cure: `use bash ${OLDEST_BASH} or newer: older ones lose shell functions`,
  };
}

function versionOf(bash: string): string {
  try {
    const text = execFileSync(bash, ['--norc', '-c', 'echo "$BASH_VERSION"'], { encoding: 'utf8', timeout: 10_000, env: {} });
    return text.trim();
  } catch (error) {
    return reasonOf(error);
  }
}

/** Whether an ELF file asks for no dynamic loader. 64-bit little-endian, as every platform is that Holdfast is built for. */
export function isStatic(path: string): boolean {
  const bytes = Buffer.alloc(4096);
  const fd = openSync(path, 'r');
  try {
    readSync(fd, bytes, 0, bytes.length, 0);
  } finally {
    closeSync(fd);
  }
  if (bytes.toString('latin1', 0, 4) !== '\x7fELF') return false;
  const tableOffset = Number(bytes.readBigUInt64LE(32));
  const entryBytes = bytes.readUInt16LE(54);
  const count = bytes.readUInt16LE(56);
  for (let index = 0; index < count; index++) {
    const offset = tableOffset + index * entryBytes;
    if (offset + 4 > bytes.length) return false;
    if (bytes.readUInt32LE(offset) === PROGRAM_HEADER_INTERP) return false;
  }
  return true;
}
