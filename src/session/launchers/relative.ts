// Files that files name: paths relative to a project, and texts that may not be there.

import { readFileSync, statSync } from 'node:fs';
import { relative } from 'node:path';

/** A file that large is none that a person wrote. */
const MAX_BYTES = 1024 * 1024;

/** Empty where there is no such file, or none to be read. */
export function readText(path: string): string {
  try {
    const stat = statSync(path);
    return stat.isFile() && stat.size <= MAX_BYTES ? readFileSync(path, 'utf8') : '';
  } catch {
    return '';
  }
}

export function kindOf(path: string): 'file' | 'directory' | undefined {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() ? 'directory' : stat?.isFile() ? 'file' : undefined;
}

/** As the inputs of a provider are written: relative where they lie in the project, and in front `first`, each once. */
export function inputsOf(directory: string, first: readonly string[], found: Iterable<string>): string[] {
  const inside = [...found].map((path) => {
    const name = relative(directory, path);
    return name.startsWith('..') ? path : name;
  });
  return [...new Set([...first, ...inside])];
}
