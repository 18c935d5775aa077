// `npm run soak [-- --quick --seed N --minutes M --only SCENARIO --from K --count N]`: builds what is old, then runs soak/main.ts.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from './inputs.mjs';
import { makeReady } from './ready.mjs';

try {
  await makeReady();
} catch (error) {
  console.error(`soak: ${error.message}`);
  process.exit(1);
}
const args = ['--import', 'tsx', join(root, 'soak/main.ts'), ...process.argv.slice(2)];
const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
process.exit(status ?? 1);
