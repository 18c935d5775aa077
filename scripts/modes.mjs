// `npm run modes`: the same environment in the modes host, snapshot and session; what a command finds of it in each. The table is
// in docs/config.md, and test/e2e/functions.test.ts compares the two. Works on a fresh clone.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './inputs.mjs';
import { makeReady } from './ready.mjs';

const FILE = `
[sessions.host]
mode = "host"

[sessions.snapshot]
mode = "snapshot"
source = "env.sh"

[sessions.session]
mode = "session"
source = "env.sh"
`;
const SCRIPT = `
export SDK_ROOT=/opt/sdk
my-build() { echo "built with $SDK_ROOT"; }
`;
/** What is asked in each mode: a heading, and a command. */
const QUESTIONS = [
  ['printenv SDK_ROOT', ['printenv', 'SDK_ROOT']],
  ["bash -c 'my-build'", ['bash', '-c', 'my-build']],
];

// A test that runs this file has built what it tests.
if (process.env.npm_lifecycle_event === 'modes') await makeReady();
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'holdfast-modes-')));
const env = { ...process.env, HOLDFAST_RUNTIME_DIR: join(folder, 'run'), XDG_CACHE_HOME: join(folder, 'cache'), LC_ALL: 'C' };
delete env.SDK_ROOT;
const project = join(folder, 'project');

function run(argv) {
  const { status, stdout, stderr, error } = spawnSync(argv[0], argv.slice(1), {
    cwd: project,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (error) throw error;
  return { status, stdout, stderr };
}

function holdfast(...words) {
  const { status, stderr } = run([process.execPath, join(root, 'dist/holdfast.cjs'), ...words]);
  if (status !== 0) throw new Error(`'holdfast ${words.join(' ')}' ended with ${status}: ${stderr}`);
}

function answerOf(mode, command) {
  const { status, stdout } = run([join(root, 'dist/runner-exec'), '--session', mode, '--', ...command]);
  return status === 0 ? stdout.trim() : `(status ${status})`;
}

try {
  mkdirSync(project);
  writeFileSync(join(project, 'holdfast.toml'), FILE);
  writeFileSync(join(project, 'env.sh'), SCRIPT);
  const rows = [['mode', ...QUESTIONS.map(([heading]) => heading)]];
  for (const mode of ['host', 'snapshot', 'session']) {
    holdfast('open', mode);
    rows.push([mode, ...QUESTIONS.map(([, command]) => answerOf(mode, command))]);
    holdfast('close', mode);
  }
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  for (const row of rows)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    );
} finally {
  rmSync(folder, { recursive: true, force: true });
}
