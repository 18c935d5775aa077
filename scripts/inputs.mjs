// What each build step is made of and makes, and whether what it made is still of the present sources (by content, since times
// say nothing after a checkout).
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const bundled = ['src', 'package-lock.json', 'tsconfig.json', 'scripts/build.mjs'];
const inputs = {
  client: ['native', 'scripts/build-client.sh'],
  addon: ['native', 'binding.gyp'],
  cli: bundled,
  library: bundled,
  schema: [...bundled, 'docs/config.md'],
  types: [...bundled, 'tsconfig.build.json'],
};
export const outputs = {
  client: 'dist/runner-exec',
  addon: 'dist/holdfast.node',
  cli: 'dist/holdfast.cjs',
  library: 'dist/index.js',
  schema: 'dist/holdfast.schema.json',
  types: 'dist/types/index.d.ts',
};
export const STEPS = Object.keys(inputs);

// Inside node_modules, so that it goes when they go, and is in no package.
const recordFile = join(root, 'node_modules/.cache/holdfast/built.json');

function filesOf(path) {
  const entries = readdirSync(join(root, path), { withFileTypes: true });
  return entries.flatMap((entry) => (entry.isDirectory() ? filesOf(`${path}/${entry.name}`) : [`${path}/${entry.name}`])).sort();
}

function readRecord() {
  return existsSync(recordFile) ? JSON.parse(readFileSync(recordFile, 'utf8')) : {};
}

/** One hash over the names and contents of all that the step reads, and over the Node that it is built with. */
export function inputsHash(step) {
  const hash = createHash('sha256').update(process.version);
  for (const path of inputs[step]) {
    const files = /\.[a-z]+$/.test(path) ? [path] : filesOf(path);
    for (const file of files) hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

export function recordBuilt(step, hash) {
  mkdirSync(dirname(recordFile), { recursive: true });
  writeFileSync(recordFile, JSON.stringify({ ...readRecord(), [step]: hash }));
}

/** The steps whose output is missing or was made of other sources. */
export function staleSteps() {
  const record = readRecord();
  return STEPS.filter((step) => !existsSync(join(root, outputs[step])) || record[step] !== inputsHash(step));
}
