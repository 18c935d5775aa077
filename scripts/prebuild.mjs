// Makes what a package ships for this platform: `npm run prebuilds` → prebuilds/linux-ARCH-LIBC/{holdfast.node,runner-exec}. `npm pack` does
// so first. On a machine of each platform that is to be shipped, copy the folders together; src/native.ts takes the one that fits.
// Refuses an addon that needs a newer C library than the oldest Node that we support, and a client that is not static.
import { chmodSync, copyFileSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { build } from './build.mjs';
import { outputs, root, staleSteps } from './inputs.mjs';

/** What Node 20 itself needs. */
const NEWEST_GLIBC = '2.28';

/** `2.9` is before `2.28`. */
function compareVersions(a, b) {
  return a.localeCompare(b, 'en', { numeric: true });
}

/** The version of glibc that a shared object asks for; `undefined`: of none. Its names are text in the file, so that no tool is needed. */
function neededGlibc(bytes) {
  const found = [...bytes.toString('latin1').matchAll(/GLIBC_(2\.\d+)/g)].map(([, version]) => version);
  return found.sort(compareVersions).at(-1);
}

function isStatic(bytes) {
  return !/\/ld-(linux|musl)[^\0]*\.so\.\d\0/.test(bytes.toString('latin1'));
}

const libc = process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
const platform = `linux-${process.arch}-${libc}`;
const native = ['client', 'addon'];

try {
  await build(staleSteps().filter((step) => native.includes(step)));
  const [client, addon] = native.map((step) => readFileSync(join(root, outputs[step])));
  const glibc = neededGlibc(addon);
  if (glibc !== undefined && compareVersions(glibc, NEWEST_GLIBC) > 0) {
    throw new Error(
      `the addon needs glibc ${glibc}, and Node no more than ${NEWEST_GLIBC}: 'objdump -T dist/holdfast.node' shows which symbol does`,
    );
  }
  if (!isStatic(client)) throw new Error("'dist/runner-exec' is not static: install musl-gcc, or a static C library");
  const directory = join(root, 'prebuilds', platform);
  mkdirSync(directory, { recursive: true });
  for (const name of ['holdfast.node', 'runner-exec']) {
    const fresh = join(directory, `.${name}.${process.pid}`);
    copyFileSync(join(root, 'dist', name), fresh);
    chmodSync(fresh, 0o755);
    renameSync(fresh, join(directory, name));
  }
  console.error(`prebuilds/${platform}: addon for ${glibc === undefined ? 'musl' : `glibc ≥ ${glibc}`}, static client`);
} catch (error) {
  console.error(`prebuild: ${error.message.split('\n')[0]}`);
  process.exit(1);
}
