#!/bin/sh
# Builds the static client: scripts/build-client.sh OUT [CC-FLAG…]
# musl gives about 120 KB and the quickest start; a static libc of the system serves, and at last a dynamic one (slower, and then the entry
# shim is no longer safe from the environment's LD_* variables, which `holdfast doctor` tells).
set -eu

out=${1:?usage: build-client.sh OUT [CC-FLAG...]}
shift
root=$(cd "$(dirname "$0")/.." && pwd)
version=$(sed -n 's/^  "version": *"\([^"]*\)".*/\1/p' "$root/package.json" 2>/dev/null | head -n 1)

build() {
  "$@" -std=c11 -D_GNU_SOURCE -DHOLDFAST_VERSION="\"${version:-0.0.0}\"" -Wall -Wextra -Werror -Wconversion \
    -ffunction-sections -fdata-sections -Wl,--gc-sections -o "$out.new" \
    "$root"/native/client*.c "$root"/native/enter.c "$root"/native/guard.c "$root"/native/keeper.c "$root"/native/process.c "$root"/native/sha256.c \
    "$root"/native/shim.c "$root"/native/spawn*.c "$root"/native/warden.c "$root"/native/wire.c
}

# musl brings no headers of the kernel: those of the system come after its own.
kernel="-idirafter /usr/include -idirafter /usr/include/$(cc -print-multiarch 2>/dev/null)"

# Few segments and few pages: each costs about as much as ten system calls, at every start.
small='-fno-pie -no-pie -fno-asynchronous-unwind-tables -Wl,-z,noseparate-code -Wl,-z,norelro'

if [ -n "${HOLDFAST_CLIENT_CC:-}" ]; then
  # shellcheck disable=SC2086 # a compiler with its flags
  build $HOLDFAST_CLIENT_CC "$@"
elif command -v musl-gcc >/dev/null 2>&1 && build musl-gcc $small -static -O2 -s $kernel "$@"; then :
elif build "${CC:-cc}" $small -static -O2 -s "$@" 2>/dev/null; then :
else build "${CC:-cc}" -O2 -s "$@"
fi
# In place of a client that may be running just now.
mv -f "$out.new" "$out"
