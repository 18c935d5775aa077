// `npm run bench [-- NAME… --quick --write-doc]`: builds what is old, then runs bench/main.ts.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './inputs.mjs';
import { makeReady } from './ready.mjs';

try {
  await makeReady();
} catch (error) {
  console.error(`bench: ${error.message}`);
  process.exit(1);
}
// Read eagerly by Node 20 at each start, it would burden whatever is measured.
const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env;
const args = ['--import', 'tsx', join(root, 'bench/main.ts'), ...process.argv.slice(2)];
const { status } = spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' });
process.exit(status ?? 1);
