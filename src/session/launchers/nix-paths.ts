// The files that Nix code leads to by relative paths: `imports = [ ./x.nix ]`, `import ./shell.nix`, `builtins.readFile ../VERSION`. Read
// off the text, not evaluated: what is put together from pieces (`./. + "/x"`), whole directories (`readDir`) and paths in angle
// brackets are not seen. docs/config.md says so.

import { dirname, join, resolve } from 'node:path';

import { kindOf, readText } from './relative.js';

/** Beyond that it is a collection of packages, and no project. */
const MAX_FILES = 256;

const COMMENT_OR_STRING = /#[^\n]*|\/\*[\s\S]*?\*\/|''(?:'''|''[$\\]|[^'$]|'(?!')|\$(?!\{)|\$\{[^}]*\})*''|"(?:\\[\s\S]|[^"\\])*"/g;
/** In a string, only what is put in. */
const INTERPOLATION = /(?<!''|\\|\$)\$\{([^}]*)\}/g;
const PATH = /(?<![\w.+\-/~}])\.{1,2}\/[\w.+\-/]*[\w+-]/g;

/** Absolute paths of the files that `files` (absolute) lead to, those included that are there. */
export function pathsInNix(files: readonly string[]): Set<string> {
  const found = new Set<string>();
  const todo = [...files];
  for (let file = todo.shift(); file !== undefined && found.size < MAX_FILES; file = todo.shift()) {
    const path = kindOf(file) === 'directory' ? join(file, 'default.nix') : file;
    if (found.has(path) || kindOf(path) !== 'file') continue;
    found.add(path);
    if (path.endsWith('.nix')) todo.push(...relativePaths(readText(path)).map((each) => resolve(dirname(path), each)));
  }
  return found;
}

/** The relative paths in Nix code, in order. */
export function relativePaths(code: string): string[] {
  const bare = code.replace(COMMENT_OR_STRING, (text) => {
    const isString = text.startsWith('"') || text.startsWith("''");
    return isString ? ` ${[...text.matchAll(INTERPOLATION)].map(([, inner = '']) => inner).join(' ')} ` : ' ';
  });
  return [...bare.matchAll(PATH)].map(([path]) => path);
}
