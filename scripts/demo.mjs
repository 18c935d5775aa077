// `npm run demo`: what Holdfast is for, in a few seconds. Enters an environment that takes two seconds to enter, once; runs
// commands in it; calls one of its shell functions; closes it and checks that nothing is left. Works on a fresh clone.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './inputs.mjs';
import { makeReady } from './ready.mjs';

// Stands for `devenv shell --` or `nix develop --command`: slow, sets variables, defines a function and does not export it.
const LAUNCHER = `
echo 'resolving packages …'
sleep 1
echo 'building the shell …'
sleep 1
export GREETING='hello from the held environment'
export PATH="$PWD/tools:$PATH"
greet() { echo "$GREETING, $1"; }
exec "$@"
`;
const TOOL = '#!/bin/sh\necho "a tool that only this environment has, as process $$"\n';

class DemoError extends Error {}

function fail(message) {
  throw new DemoError(message);
}

function quoted(words) {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ');
}

/** Runs one command to its end, shows it as typed, and returns how long it took. */
function show(display, argv, { env, cwd, input }) {
  const startedAt = performance.now();
  // Node's pipe is a socket, and a bash that finds one at its input takes itself for a remote shell and reads .bashrc.
  const stdin = input === undefined ? 'ignore' : 'pipe';
  const options = { env, cwd, input, encoding: 'utf8', stdio: [stdin, 'pipe', 'pipe'] };
  const { status, signal, stdout, stderr, error } = spawnSync(argv[0], argv.slice(1), options);
  const tookMs = performance.now() - startedAt;
  if (error) fail(`cannot run '${argv[0]}': ${error.message}`);
  console.log(`$ ${display}`);
  for (const line of `${stdout}${stderr}`.split('\n').slice(0, -1)) console.log(`  ${line}`);
  if (status !== 0) fail(`'${display}' ended with ${signal ?? status}`);
  console.log(`  ── ${tookMs.toFixed(1)} ms`);
  return { tookMs, stdout };
}

/** The same without the show: the median of some runs, so that one odd run does not stand for all. */
async function medianMs(argv, { env, cwd }, runs = 41) {
  const took = [];
  for (let run = 0; run < runs; run++) {
    const startedAt = performance.now();
    const code = await new Promise((resolve, reject) => {
      spawn(argv[0], argv.slice(1), { env, cwd, stdio: 'ignore' }).once('error', reject).once('exit', resolve);
    });
    took.push(performance.now() - startedAt);
    if (code !== 0) fail(`'${quoted(argv)}' ended with ${code}`);
  }
  return took.sort((a, b) => a - b)[Math.floor(runs / 2)];
}

function isAlive(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // A dead one that pid 1 has yet to reap is gone for all that matters here.
    return !/\) [ZX] /.test(stat);
  } catch {
    return false;
  }
}

async function demo(folder) {
  const project = join(folder, 'project');
  const runtimeDirectory = join(folder, 'run');
  mkdirSync(join(project, 'tools'), { recursive: true });
  writeFileSync(join(project, 'enter.sh'), LAUNCHER);
  writeFileSync(join(project, 'tools/only-here'), TOOL, { mode: 0o755 });

  const holdfast = join(root, 'dist/holdfast.cjs');
  const runnerExec = join(root, 'dist/runner-exec');
  // With it in the environment, Node 20 starts 37 ms later.
  const { NODE_EXTRA_CA_CERTS: _, HOLDFAST_SESSION: __, ...inherited } = process.env;
  const at = { cwd: project, env: { ...inherited, HOLDFAST_RUNTIME_DIR: runtimeDirectory } };
  const inSession = (...argv) => [runnerExec, '--session', 'demo', '--', ...argv];
  const run = (...argv) => show(`runner-exec --session demo -- ${quoted(argv)}`, inSession(...argv), at);

  console.log('An environment that takes two seconds to enter, entered once:\n');
  const entry = show('holdfast open demo -- bash enter.sh', [holdfast, 'open', 'demo', '--', 'bash', 'enter.sh'], at);

  console.log('\nCommands in it, each an ordinary child of its caller, on its own descriptors:\n');
  run('true');
  run('printenv', 'GREETING');
  run('only-here');
  show('echo typed into a pipe | runner-exec --session demo -- tr a-z A-Z', inSession('tr', 'a-z', 'A-Z'), {
    ...at,
    input: 'typed into a pipe\n',
  });

  console.log('\nA shell function of the environment, which the launcher did not export:\n');
  run('bash', '-c', 'greet world');

  console.log('\nThe session:\n');
  show('holdfast status demo', [holdfast, 'status', 'demo'], at);
  const { pid } = JSON.parse(spawnSync(holdfast, ['status', 'demo', '--json'], { ...at, encoding: 'utf8' }).stdout);

  const directMs = await medianMs(['/bin/true'], at);
  const heldMs = await medianMs(inSession('/bin/true'), at);

  console.log('\nClosed:\n');
  show('holdfast close demo', [holdfast, 'close', 'demo'], at);
  if (isAlive(pid)) fail(`the agent (process ${pid}) is left after close`);
  const files = readdirSync(runtimeDirectory).filter((name) => !name.endsWith('.log'));
  if (files.length > 0) fail(`close has left files: ${files.join(', ')}`);
  console.log('  no process and no socket is left');

  console.log(`
entering the environment   ${entry.tookMs.toFixed(0).padStart(7)} ms, once
/bin/true in it            ${heldMs.toFixed(2).padStart(7)} ms a run (median, as seen by a Node process that spawns it)
/bin/true without Holdfast ${directMs.toFixed(2).padStart(7)} ms a run`);
}

const folder = mkdtempSync(join(tmpdir(), 'holdfast-demo-'));
try {
  await makeReady();
  await demo(folder);
} catch (error) {
  // What was opened must not outlive the demo, wherever it failed.
  spawnSync(join(root, 'dist/holdfast.cjs'), ['close', '--all'], { env: { ...process.env, HOLDFAST_RUNTIME_DIR: join(folder, 'run') } });
  console.error(error instanceof DemoError ? `demo: ${error.message}` : error);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
