// Builds dist/: `node scripts/build.mjs [STEP…]`, all steps without one. Plain Node: esbuild and tsc come from node_modules.
// Every output is written beside its place and renamed into it: a held session goes on with the file that it has mapped.
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inputsHash, outputs, recordBuilt, root, STEPS } from './inputs.mjs';

const dist = join(root, 'dist');

function run(program, args) {
  const { status, signal, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) throw new Error(`'${program} ${args.join(' ')}' ended with ${signal ?? status}`);
}

/** make tells of every file; that is of interest only when it fails. */
function runQuietly(program, args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (error) throw error;
  if (status === 0) return;
  process.stderr.write(stdout + stderr);
  throw new Error(`'${program} ${args.join(' ')}' ended with ${status}`);
}

function place(name, write) {
  const fresh = join(dist, `.${name}.${process.pid}`);
  write(fresh);
  renameSync(fresh, join(dist, name));
}

const builders = {
  // Through npm, since only npm hands its own `nodedir` setting (Node's headers on this machine) to node-gyp.
  addon() {
    runQuietly('npm', ['run', '--silent', 'build:addon']);
    place('holdfast.node', (fresh) => copyFileSync(join(root, 'build/Release/holdfast.node'), fresh));
  },

  client() {
    run('sh', ['scripts/build-client.sh', join(dist, 'runner-exec')]);
  },

  async cli() {
    const { build } = await import('esbuild');
    const { outputFiles } = await build({
      absWorkingDir: root,
      entryPoints: ['src/cli/main.ts'],
      outfile: 'dist/holdfast.cjs',
      write: false,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      // One CommonJS file starts 4 ms sooner than a module. It has no `import.meta`: this is what stands in for its URL.
      define: { 'import.meta.url': '__bundleUrl' },
      banner: { js: "#!/usr/bin/env node\nconst __bundleUrl = require('node:url').pathToFileURL(__filename).href;" },
      legalComments: 'inline',
      logLevel: 'warning',
    });
    place('holdfast.cjs', (fresh) => {
      writeFileSync(fresh, outputFiles[0].contents);
      chmodSync(fresh, 0o755);
    });
  },

  async library() {
    const { build } = await import('esbuild');
    const { outputFiles } = await build({
      absWorkingDir: root,
      entryPoints: ['src/index.ts'],
      outfile: 'dist/index.js',
      write: false,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      legalComments: 'inline',
      logLevel: 'warning',
    });
    place('index.js', (fresh) => writeFileSync(fresh, outputFiles[0].contents));
  },

  /** For editors: made of what the code checks and of what the documentation says. */
  async schema() {
    const { tsImport } = await import('tsx/esm/api');
    const { describedKeys, jsonSchema } = await tsImport('../src/config/json-schema.ts', import.meta.url);
    const schema = jsonSchema(describedKeys(readFileSync(join(root, 'docs/config.md'), 'utf8')));
    place('holdfast.schema.json', (fresh) => writeFileSync(fresh, `${JSON.stringify(schema, undefined, 2)}\n`));
  },

  types() {
    rmSync(join(dist, 'types'), { recursive: true, force: true });
    run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json']);
  },
};

/** Builds these steps, in the order of STEPS. Throws at the first one that fails; what was built stays. */
export async function build(steps) {
  mkdirSync(dist, { recursive: true });
  for (const step of STEPS.filter((known) => steps.includes(known))) {
    // Taken before: a file that is saved while the step runs makes it stale again.
    const hash = inputsHash(step);
    const startedAt = performance.now();
    await builders[step]();
    recordBuilt(step, hash);
    console.log(`built ${outputs[step].padEnd(20)} ${(performance.now() - startedAt).toFixed(0).padStart(6)} ms`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const asked = process.argv.slice(2);
  const unknown = asked.filter((step) => !STEPS.includes(step));
  if (unknown.length > 0) {
    console.error(`build: no such step: '${unknown.join("', '")}'\nhint: the steps are ${STEPS.join(', ')}`);
    process.exit(2);
  }
  try {
    await build(asked.length > 0 ? asked : STEPS);
  } catch (error) {
    // The tools have said the details themselves.
    console.error(`build: ${error.message.split('\n')[0]}`);
    process.exit(1);
  }
}
