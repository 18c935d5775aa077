// The version, from the package.json that stands above the bundle and above the sources alike.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `unknown` where somebody has moved the bundle out of its package. */
export function readVersion(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  for (const above of ['..', '../..']) {
    try {
      const parsed: unknown = JSON.parse(readFileSync(join(here, above, 'package.json'), 'utf8'));
      if (typeof parsed === 'object' && parsed !== null && 'version' in parsed) return String(parsed.version);
    } catch {
      // Not this one.
    }
  }
  return 'unknown';
}
