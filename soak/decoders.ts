// The decoders under libFuzzer: scripts/fuzz.sh, for seconds in a quick run and for minutes in a long one.

import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Report } from './report.js';

const script = join(dirname(dirname(fileURLToPath(import.meta.url))), 'scripts/fuzz.sh');

export async function decoders(report: Report, seconds: number): Promise<void> {
  const { status, stdout, stderr } = spawnSync('bash', [script, String(seconds)], { encoding: 'utf8' });
  if (status === 0) report.say(stdout.trim());
  else report.fail(`decoders: ${status} ${stdout}${stderr}`.trim());
}
