#!/usr/bin/env bash
# Fuzzes the C decoder of an agent's frames: scripts/fuzz.sh [SECONDS]. Starts from test/vectors/frames.txt. Needs clang.
# Ends with 1 on a crash, a leak, a hang or undefined behaviour; the input that did it is kept, and named.
set -euo pipefail

seconds=${1:-30}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if ! [[ $seconds =~ ^[1-9][0-9]*$ ]]; then
  echo "fuzz: '$seconds' is not a number of seconds" >&2
  exit 2
fi
if ! command -v "${CLANG:=clang}" >/dev/null; then
  echo "fuzz: '$CLANG' not found" >&2
  exit 2
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/holdfast-fuzz.XXXXXX")
kept=
trap '[[ -n $kept ]] || rm -rf "$work"' EXIT
mkdir "$work/corpus" "$work/seeds"
"$CLANG" -std=c11 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Werror -fno-omit-frame-pointer \
  -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
  -o "$work/decode_agent" "$root"/native/fuzz/{decode_agent,render}.c "$root/native/wire.c"

while IFS=$'\t' read -r name side _ hex _; do
  [[ $side == agent ]] || continue
  printf '%b' "$(sed 's/../\\x&/g' <<<"$hex")" >"$work/seeds/$name"
done < <(grep -v '^#' "$root/test/vectors/frames.txt")

# libFuzzer prints the runs at the end by itself, but only to stderr, in the middle of the rest.
log=$work/log
status=0
"$work/decode_agent" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 -max_len=8192 -artifact_prefix="$work/" -print_final_stats=1 \
  "$work/corpus" "$work/seeds" >"$log" 2>&1 || status=$?
if ((status != 0)); then
  cat "$log" >&2
  kept=yes
  echo "fuzz: decode_agent failed, see $work" >&2
  exit 1
fi
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
seeds=$(find "$work/seeds" -type f | wc -l)
echo "fuzz: decode_agent: $runs runs from $seeds seeds in $seconds s, no crash"
