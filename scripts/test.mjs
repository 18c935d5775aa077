// `npm test [-- VITEST-ARGUMENT…]`: works on a fresh clone with nothing else typed.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './inputs.mjs';
import { makeReady } from './ready.mjs';

try {
  await makeReady();
} catch (error) {
  console.error(`test: ${error.message}`);
  process.exit(1);
}
const vitest = join(root, 'node_modules/vitest/vitest.mjs');
const { status } = spawnSync(process.execPath, [vitest, 'run', ...process.argv.slice(2)], { cwd: root, stdio: 'inherit' });
process.exit(status ?? 1);
