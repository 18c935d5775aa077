#!/usr/bin/env node
// A small build tool on top of Holdfast: a graph of 300 steps, each a command in one environment, as many at a time as is asked for.
//
//   node build.mjs [--mode host|snapshot|session|wrap] [--jobs N] [--steps N] [--out DIR] [--via run|spawn]
//                  [--preset NAME] [--option K=V]… [-- WORD…]
//
// The words are the launcher of a snapshot or a session (`-- nix develop --command`), or what mode wrap puts in front of each command
// (`-- chroot /srv/root`); with a preset (`--preset docker --option image=alpine`) its operand. What the steps make is the same in every
// mode: the last line has its hash. Nothing here looks after Ctrl-C or a crash: the library ends what it opened.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ExecSessionPool, openSession, sessionKey } from 'holdfast';

const { values, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    mode: { type: 'string', default: 'session' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    steps: { type: 'string', default: '300' },
    out: { type: 'string', default: 'out' },
    via: { type: 'string', default: 'run' },
    preset: { type: 'string' },
    option: { type: 'string', multiple: true, default: [] },
  },
});
const out = resolve(values.out);

/** What `openSession` is given for the mode that was asked for. */
function environment() {
  const cwd = out;
  if (values.mode === 'host') return { mode: 'host' };
  if (values.mode !== 'wrap') {
    const entry = words.length > 0 ? { launcher: words } : { source: join(import.meta.dirname, 'env.sh') };
    return { mode: values.mode, cwd, ...entry };
  }
  if (values.preset === undefined) return { mode: 'wrap', cwd, prefix: words.length > 0 ? words : ['env'] };
  // An option of a preset is a text, a switch, or a list.
  const lists = new Set(['ro_bind', 'bind', 'dev_bind', 'mount', 'run_args']);
  const options = {};
  for (const pair of values.option) {
    const [key, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)];
    if (lists.has(key)) options[key] = [...(options[key] ?? []), value];
    else options[key] = value === 'true' || value === 'false' ? value === 'true' : value;
  }
  return { mode: 'wrap', cwd, preset: values.preset, options, ...(words.length > 0 ? { operand: words } : {}) };
}

/** Sources are compiled, every ten objects become a library, the libraries are linked into two halves, and these into one program. */
function makeGraph(count) {
  const steps = [];
  const step = (name, script, needs, files) => {
    steps.push({ name, needs, program: 'sh', args: ['-ec', script, name, ...files] });
    return name;
  };
  const libraries = Math.max(2, Math.floor((count - 3) / 11));
  const archives = [];
  for (let library = 0; library < libraries; library++) {
    const objects = [];
    const last = library === libraries - 1 ? count - 3 - libraries - 10 * (libraries - 1) : 10;
    for (let unit = 0; unit < last; unit++) {
      const source = `${library}-${unit}.src`;
      writeFileSync(join(out, source), `unit ${unit} of library ${library}\n`.repeat(200));
      objects.push(step(`${library}-${unit}.o`, 'tr a-z A-Z <"$1" | sha256sum >"$0"; echo "$STEP" >>"$0"', [], [source]));
    }
    archives.push(step(`${library}.a`, 'cat "$@" >"$0"', objects, objects));
  }
  const half = Math.ceil(archives.length / 2);
  const halves = [archives.slice(0, half), archives.slice(half)].map((part, index) =>
    step(`half-${index}`, 'cat "$@" | sha256sum >"$0"', part, part),
  );
  step('program', 'cat "$@" >"$0"', halves, halves);
  return steps;
}

/** Runs one step in `session`. @throws when it fails, with what it said. */
async function runStep(session, { name, program, args }, signal) {
  // The session's environment lies beneath; mode host has none, so there the step gets this program's.
  const env = { ...(session.mode === 'host' ? process.env : {}), STEP: name };
  const said = [];
  if (values.via === 'spawn') {
    const prepared = session.prepare({ program, args, env, cwd: out });
    const child = spawn(prepared.program, prepared.args, {
      env: prepared.env,
      cwd: prepared.cwd,
      stdio: ['ignore', 'ignore', 'pipe'],
      signal,
    });
    child.stderr.on('data', (bytes) => said.push(bytes));
    const code = await new Promise((done, failed) => child.once('error', failed).once('close', (status, by) => done(status ?? by)));
    if (code !== 0) throw new Error(`${name} ended with ${code}: ${Buffer.concat(said)}`);
    return;
  }
  const step = session.run({ program, args, env, cwd: out, stdio: ['ignore', 'ignore', 'pipe'], signal });
  for await (const line of step.lines('stderr')) said.push(line);
  const outcome = await step;
  const failure = session.failureOf(outcome, { program, env });
  if (failure !== undefined) throw failure;
  if (outcome.kind !== 'exited' || outcome.code !== 0) throw new Error(`${name}: ${JSON.stringify(outcome)} ${said.join('\n')}`);
}

/** Starts every step as soon as what it needs is made, `jobs` at a time; the first failure ends the others. */
async function build(steps, jobs, run) {
  const controller = new AbortController();
  const isDone = new Set();
  const ready = steps.filter(({ needs }) => needs.length === 0);
  const missing = new Map(steps.map(({ name, needs }) => [name, needs.length]));
  const dependents = new Map(steps.map(({ name }) => [name, []]));
  for (const each of steps) for (const need of each.needs) dependents.get(need).push(each);
  await new Promise((resolved, failed) => {
    let running = 0;
    const next = () => {
      if (isDone.size === steps.length) resolved();
      while (running < jobs && ready.length > 0 && !controller.signal.aborted) {
        const step = ready.shift();
        running++;
        run(step, controller.signal).then(
          () => {
            running--;
            isDone.add(step.name);
            for (const each of dependents.get(step.name)) {
              missing.set(each.name, missing.get(each.name) - 1);
              if (missing.get(each.name) === 0) ready.push(each);
            }
            if (process.stderr.isTTY) process.stderr.write(`\r${isDone.size}/${steps.length} ${step.name}\x1b[K`);
            next();
          },
          (error) => {
            controller.abort();
            failed(error);
          },
        );
      }
    };
    next();
  });
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
}

// One session however many steps ask for it at once; it is entered when the first one does.
const pool = new ExecSessionPool();
try {
  mkdirSync(out, { recursive: true });
  const steps = makeGraph(Number(values.steps));
  for (const { name } of steps) rmSync(join(out, name), { force: true });
  const options = environment();
  const key = sessionKey(options);
  const open = (signal) => openSession({ ...options, signal });
  const startedAt = performance.now();
  await build(steps, Number(values.jobs), (step, signal) => pool.use(key, open, (session) => runStep(session, step, signal), { signal }));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(2);
  const hash = createHash('sha256');
  for (const { name } of steps) hash.update(`${name}\0`).update(readFileSync(join(out, name)));
  console.log(`${steps.length} steps, mode ${values.mode}, ${values.jobs} jobs, by ${values.via}: ${seconds} s`);
  console.log(`sha256 ${hash.digest('hex')}`);
} catch (error) {
  console.error(`build: ${error.message}${error.hint === undefined ? '' : `\nhint: ${error.hint}`}`);
  process.exitCode = 1;
} finally {
  await pool.teardown();
}
