#!/usr/bin/env bash
# Builds the native C with the address and undefined-behaviour sanitizers and runs native/test/*.c over it, then the client itself:
# scripts/sanitize-c.sh. Ends with 1 on the first report, leak or failed check. CC names another compiler than gcc.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cc=${CC:-gcc}
if ! command -v "$cc" >/dev/null; then
  echo "sanitize: '$cc' not found" >&2
  exit 2
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/holdfast-sanitize.XXXXXX")
trap 'rm -rf "$work"' EXIT
# detect_stack_use_after_return would move the stack of the child, which shares our memory until it execs.
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=0:exitcode=99 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1:exitcode=99
sanitizers='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -g -O1'

build() { # OUT INCLUDE SOURCE…
  local out=$1 include=$2
  shift 2
  # shellcheck disable=SC2086 # a list of flags
  "$cc" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -Wconversion $sanitizers -I"$include" -I"$root/native/test" -o "$out" "$@"
}

# What it must say, and that it says nothing to stderr but what a sanitizer's report would be.
check() { # COMMAND…
  local status=0
  "$@" >"$work/out" 2>"$work/err" || status=$?
  if ((status != 0)) || grep -q 'Sanitizer\|runtime error' "$work/err"; then
    cat "$work/out" "$work/err" >&2
    echo "sanitize: '${*##*/}' failed ($status)" >&2
    exit 1
  fi
  sed 's/^/sanitize: /' "$work/out"
}

native=$root/native
HOLDFAST_CLIENT_CC="$cc $sanitizers" sh "$root/scripts/build-client.sh" "$work/runner-exec"

build "$work/descriptors" "$native" "$native"/test/descriptors.c "$native"/fd.c
check "$work/descriptors"

mkdir "$work/few"
cp "$native"/fd.[ch] "$native"/fault.h "$work/few"
sed 's/WIRE_MAX_FDS = 253/WIRE_MAX_FDS = 5/' "$native/protocol.h" >"$work/few/protocol.h"
build "$work/descriptors-few" "$work/few" "$native"/test/descriptors.c "$work"/few/fd.c
check "$work/descriptors-few"

build "$work/spawn" "$native" "$native"/test/spawn_matrix.c "$native"/{fd,process,shim,spawn,spawn_child,spawn_program,warden_spawn}.c
check "$work/spawn"
check "$work/spawn" "$work/runner-exec"

# The client, where it needs no agent: every way out of these is one of its own.
client() { # STATUS ARGUMENT…
  local wanted=$1 status=0
  shift
  HOLDFAST_RUNTIME_DIR="$work/run" "$work/runner-exec" "$@" </dev/null >"$work/out" 2>"$work/err" || status=$?
  if ((status != wanted)) || grep -q 'Sanitizer\|runtime error' "$work/err"; then
    cat "$work/err" >&2
    echo "sanitize: 'runner-exec $*' ended with $status instead of $wanted" >&2
    exit 1
  fi
}
mkdir -m 700 "$work/run"
client 0 --help
client 125
client 125 --no-such-option
client 125 --session none -- true
client 125 --socket "$work/none.sock" -e A=1 --pass-env '*' --unset B --path-prepend /x --cwd / --fd 9 --limit nofile=10:20 --nice 3 --timeout 1s -- true
client 125 --socket "$work/$(printf 'n%.0s' {1..200})" -- true
client 0 __enter /bin/true cli "$work/run/stem"
client 127 __enter /nowhere/node cli "$work/run/stem"
echo 'sanitize: runner-exec without an agent: no report'
