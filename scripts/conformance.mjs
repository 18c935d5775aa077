// `npm run conformance [-- OPTIONS] [-- PREFIX…]`: builds what is old, then runs test/conformance/main.ts.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './inputs.mjs';
import { makeReady } from './ready.mjs';

try {
  await makeReady();
} catch (error) {
  console.error(`conformance: ${error.message}`);
  process.exit(1);
}
const args = ['--import', 'tsx', join(root, 'test/conformance/main.ts'), ...process.argv.slice(2)];
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
process.exit(status ?? 1);
