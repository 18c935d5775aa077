#!/usr/bin/env bash
# Packs the package, installs the tarball into an empty folder as a user would, and uses all three of its faces.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
export HOLDFAST_RUNTIME_DIR=$scratch/run
cleanup() {
  "$scratch/user/node_modules/.bin/holdfast" close --all >/dev/null 2>&1 || true
  rm -rf "$scratch"
}
trap cleanup EXIT

fail() {
  echo "try-package: $*" >&2
  exit 1
}

cd "$root"
node node_modules/publint/src/cli.js --strict
npm pack --silent --pack-destination "$scratch" >"$scratch/packed"
tarball=$scratch/$(tail -n 1 "$scratch/packed")
tar -tzf "$tarball" | sort >"$scratch/files"
grep -E '\.(ts|c|h|gyp)$' "$scratch/files" | grep -v '\.d\.ts$' && fail 'sources are in the package'

mkdir "$scratch/user"
cd "$scratch/user"
npm init --yes >/dev/null
# npm 12 runs no install script of a dependency: nothing may depend on one.
npm install --silent --no-audit --no-fund --ignore-scripts "$tarball"
[ "$(ls node_modules)" = holdfast ] || fail "it brings along: $(ls node_modules)"

bin=node_modules/.bin
"$bin/holdfast" --version | grep -q . || fail 'holdfast --version says nothing'
"$bin/holdfast" open tried -- env TRIED=yes
[ "$("$bin/runner-exec" --session tried -- sh -c 'echo "$TRIED"')" = yes ] || fail 'runner-exec does not run in the session'
[ "$("$bin/holdfast" __runner-exec --session tried -- sh -c 'echo "$TRIED"')" = yes ] || fail 'the Node client does not run in the session'
node --input-type=module -e "
  import { addressOf, run } from 'holdfast';
  const outcome = await run({ program: 'sh', args: ['-c', 'exit 7'], stdio: 'ignore' }, addressOf('tried')).outcome;
  if (outcome.kind !== 'exited' || outcome.code !== 7) throw new Error(JSON.stringify(outcome));
"
"$bin/holdfast" close tried

cat >use.ts <<'T'
import { addressOf, HoldfastError, type Outcome, run } from 'holdfast';
export async function use(): Promise<number> {
  try {
    const outcome: Outcome = await run({ program: 'true', stdio: 'ignore' }, addressOf('tried')).outcome;
    return outcome.kind === 'exited' ? outcome.code : -1;
  } catch (error) {
    return error instanceof HoldfastError ? error.code.length : -2;
  }
}
T
mkdir -p node_modules/@types
ln -s "$root/node_modules/@types/node" node_modules/@types/node
ln -s "$root/node_modules/undici-types" node_modules/undici-types
node "$root/node_modules/typescript/bin/tsc" --noEmit --strict --module nodenext --target es2022 --types node --skipLibCheck false use.ts
echo "packed, installed and used: $(wc -l <"$scratch/files") files, $(stat -c %s "$tarball") bytes"
