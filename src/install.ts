// Where the parts of this installation are. One layout for a clone, a package and the tests: `dist/` and `share/` side by side.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { HoldfastError } from './errors.js';

/** Absolute paths. That a file is there is for its user to find out. */
export interface Installed {
  /** The static client, which is the entry shim as well. */
  readonly runnerExec: string;
  readonly cli: string;
  /** The bash files. */
  readonly share: string;
}

/** This file may be bundled into dist/holdfast.cjs or dist/index.js, or be src/install.ts: the root is the first one upwards that has `share/`. */
function locate(): Installed {
  const here = dirname(fileURLToPath(import.meta.url));
  for (let root = here; ; root = dirname(root)) {
    const share = join(root, 'share');
    if (existsSync(join(share, 'bash-env.sh'))) {
      return { runnerExec: join(root, 'dist', 'runner-exec'), cli: join(root, 'dist', 'holdfast.cjs'), share };
    }
    if (dirname(root) === root) {
      throw new HoldfastError('NATIVE_MISSING', `the folder 'share' is not beside '${here}'`, {
        hint: 'install the whole package: the bundle does not work on its own',
      });
    }
  }
}

export const installed: Installed = locate();

/** Where a package may bring the native parts of this machine, one folder for each C library; 'npm run prebuilds' makes them. */
export function prebuiltFolders(): string[] {
  const root = dirname(installed.share);
  return ['glibc', 'musl'].map((libc) => join(root, 'prebuilds', `linux-${process.arch}-${libc}`));
}
