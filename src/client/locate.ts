// Which session a client means, and where its socket is: an explicit socket, a name, $HOLDFAST_SESSION, or the project around
// the working directory. DESIGN section 6. Paths are bytes here: a directory need not be UTF-8.

import { existsSync } from 'node:fs';

import { HoldfastError } from '../errors.js';

export { physicalDirectory } from './directory.js';

/** What makes a directory a project, strongest first where one directory has several. */
export const PROJECT_MARKERS = [
  'holdfast.toml',
  'devenv.nix',
  'flake.nix',
  'shell.nix',
  '.envrc',
  'devbox.json',
  '.flox/env.json',
  'mise.toml',
  '.mise.toml',
  'pixi.toml',
  'pixi.lock',
  'manifest.scm',
  'guix.scm',
  '.conda/conda-meta',
  'environment.yml',
  '.venv/bin/activate',
  'venv/bin/activate',
] as const;

export type ProjectMarker = (typeof PROJECT_MARKERS)[number];

/** A project's session has its directory, as bytes, for a name. It alone is opened on first use. */
export type Selection =
  | { readonly kind: 'socket'; readonly path: Buffer }
  | { readonly kind: 'session'; readonly name: Buffer }
  | { readonly kind: 'project'; readonly directory: Buffer; readonly marker: ProjectMarker };

/** The ways to say which session is meant, strongest first. An empty environment variable says nothing. */
export interface SelectionSources {
  readonly socket?: Buffer | undefined;
  readonly session?: Buffer | undefined;
  readonly environmentSession?: Buffer | undefined;
  /** Where the search for a project starts: absolute and physical, or empty when there is no such place. */
  readonly directory: () => Buffer;
  /** How the caller's user would name one. */
  readonly naming?: string | undefined;
}

/** @throws {HoldfastError} `NO_PROJECT`, when nothing is named and no directory upwards is a project. */
export function selectSession(sources: SelectionSources): Selection {
  if (sources.socket !== undefined) return { kind: 'socket', path: sources.socket };
  if (sources.session !== undefined) return { kind: 'session', name: sources.session };
  const named = sources.environmentSession;
  if (named !== undefined && named.length > 0) return { kind: 'session', name: named };
  const start = sources.directory();
  const project = findProject(start);
  if (project !== undefined) return { kind: 'project', ...project };
  throw new HoldfastError(
    'NO_PROJECT',
    `no session was named, and no project was found from '${start.length === 0 ? '.' : start}' upwards`,
    {
      hint: `${sources.naming ?? "name one with '--session NAME'"}, or start in a project: a directory with a holdfast.toml ('holdfast init' writes one), or another file that 'runner-exec --help' lists`,
    },
  );
}

/** The nearest directory from `start` (absolute, physical) upwards that has a marker. */
export function findProject(start: Buffer): { directory: Buffer; marker: ProjectMarker } | undefined {
  for (let directory = start; directory.length > 0; directory = parentOf(directory)) {
    for (const marker of PROJECT_MARKERS) {
      if (existsSync(inside(directory, marker))) return { directory, marker };
    }
    if (directory.length === 1) break;
  }
  return undefined;
}

function inside(directory: Buffer, name: string): Buffer {
  return Buffer.concat([directory, Buffer.from(directory.length === 1 ? name : `/${name}`)]);
}

function parentOf(directory: Buffer): Buffer {
  const slash = directory.lastIndexOf(0x2f);
  return directory.subarray(0, Math.max(slash, 1));
}
