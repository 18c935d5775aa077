// The addon with fault injection (native/fault.h): built once for the present sources, and kept where `npm ci` takes it away.
// To be awaited before src/native.ts is imported, since that loads it.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const native = join(root, 'native');
const cache = join(root, 'node_modules/.cache/holdfast');

export const addonSources: readonly string[] = readFileSync(join(root, 'native/addon.sources'), 'utf8').trim().split(/\s+/);

/** Every name in a FAULT(…) of the addon's sources, and the file it is in. */
export function faultPoints(): { call: string; file: string }[] {
  return addonSources.flatMap((file) =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/\bFAULT\((\w+)\)/g)].map(([, call = '']) => ({ call, file })),
  );
}

/** Where node-gyp found the headers of this Node, when it built the normal addon. */
function headers(): string {
  const config = readFileSync(join(root, 'build/config.gypi'), 'utf8');
  const nodedir: unknown = JSON.parse(config.slice(config.indexOf('{'))).variables.nodedir;
  return join(String(nodedir), 'include/node');
}

/** Path of the addon. Makes src/native.ts of this process, and of its children, load it. */
export function useFaultAddon(): string {
  const hash = createHash('sha256').update(process.version);
  for (const name of readdirSync(native)
    .filter((each) => /\.[ch]$/.test(each))
    .sort())
    hash.update(readFileSync(join(native, name)));
  const path = join(cache, `faults-${hash.digest('hex').slice(0, 16)}.node`);
  if (!existsSync(path)) {
    mkdirSync(cache, { recursive: true });
    const fresh = `${path}.${process.pid}`;
    const flags = ['-shared', '-fPIC', '-std=c11', '-D_GNU_SOURCE', '-DNAPI_VERSION=8', '-DHOLDFAST_FAULTS', `-I${headers()}`];
    execFileSync(process.env['CC'] ?? 'cc', [...flags, ...addonSources, '-o', fresh], { cwd: root });
    renameSync(fresh, path);
  }
  process.env['HOLDFAST_ADDON_FOR_TESTS'] = path;
  return path;
}
