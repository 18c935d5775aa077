// Two projects: `unit` mirrors src/, `e2e` drives the built programs of dist/ (scripts/test.mjs builds them first).
import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // A process a file: descriptors, signals and native modules of one file cannot disturb another.
    pool: 'forks',
    // Most of the time is spent waiting for programs: two files at once, also on two cores.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    setupFiles: ['test/harness/setup.ts'],
    projects: [
      { extends: true, test: { name: 'unit', include: ['test/unit/**/*.test.ts'], testTimeout: 20_000 } },
      { extends: true, test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 } },
    ],
  },
});
