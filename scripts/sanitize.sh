#!/usr/bin/env bash
# The C under the sanitizers, in a copy of the tree: scripts/sanitize.sh [c|unit|e2e]
#
#   c     the C without Node: native/test/*.c, and the client alone (sanitize-c.sh)
#   unit  the addon with ASan and UBSan, in a Node that has ASan preloaded; the unit tests that load it
#   e2e   runner-exec (client, entry shim, warden) with ASan and UBSan, the addon with UBSan alone: the agent's Node starts with an
#         empty environment, so nothing can be preloaded into it; the e2e tests that are about the C and not about time or limits
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
# Some tests act as another user, who must reach the programs.
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(c unit e2e)

undefined='-fsanitize=undefined -fno-sanitize-recover=undefined'
all="-fsanitize=address $undefined"
# Frames for the reports.
plain='-g -O1 -fno-omit-frame-pointer'

cp -r "$root"/{src,native,share,scripts,docs,test,bench,package.json,package-lock.json,binding.gyp,vitest.config.ts,CONTRIBUTING.md} "$root"/tsconfig*.json "$work"
# A node_modules of its own, since what is built is recorded and kept in its .cache.
mkdir "$work/node_modules" "$work/dist"
ln -s "$root"/node_modules/* "$root/node_modules/.bin" "$work/node_modules"
cd "$work"

# build_addon FLAG…
build_addon() {
  CFLAGS="$plain $*" LDFLAGS="$*" npm run --silent build:addon -- --silent >addon.log 2>&1 || {
    cat addon.log
    return 1
  }
  cp build/Release/holdfast.node dist/holdfast.node
}

for part in "${parts[@]}"; do
  case $part in
    c)
      bash scripts/sanitize-c.sh
      ;;
    unit)
      build_addon "$all"
      sh scripts/build-client.sh dist/runner-exec
      node scripts/build.mjs cli library
      # For the addon that a test builds with failing syscalls.
      printf '#!/bin/sh\nexec cc %s "$@"\n' "$plain $all" >cc
      chmod +x cc
      # Node frees little at its end; odr: one addon is loaded under two names.
      CC="$work/cc" LD_PRELOAD="$(cc -print-file-name=libasan.so) $(cc -print-file-name=libubsan.so)" \
        ASAN_OPTIONS=detect_leaks=0:abort_on_error=1:detect_odr_violation=0 UBSAN_OPTIONS=print_stacktrace=1 \
        node node_modules/vitest/vitest.mjs run --project unit test/unit/native test/unit/channel test/unit/agent test/unit/client
      ;;
    e2e)
      build_addon "$undefined"
      HOLDFAST_CLIENT_CC="cc $plain $all" sh scripts/build-client.sh dist/runner-exec
      node scripts/build.mjs cli library
      # Not those that compare with musl's words, set address space limits, spoil LD_LIBRARY_PATH or start thousands of programs.
      node node_modules/vitest/vitest.mjs run --project e2e test/e2e/{descriptors,endings,signals,jobserver,jobs,interop,containment,shims}.test.ts
      ;;
    *)
      echo "sanitize: no such part '$part'; there are c, unit and e2e" >&2
      exit 2
      ;;
  esac
done
