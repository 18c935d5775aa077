# Source style: bash --norc --noprofile source-command.bash N COMMAND… (N words) RUNNER_EXEC __enter NODE CLI STEM
# COMMAND prints bash code (`nix print-dev-env`, `devenv print-dev-env`), which is evaluated here; then as in source.bash.
__holdfast_share=${BASH_SOURCE[0]%/*}
__holdfast_shim=("${@:$1+2}")
set -- "${@:2:$1}"
__holdfast_code=$("$@") || {
  __holdfast_code=$?
  printf "holdfast: '%s' failed with status %s\n" "$*" "$__holdfast_code" >&2
  exit "$__holdfast_code"
}
set --
eval "$__holdfast_code"
# As in source.bash: code that cannot be parsed was only half evaluated.
if (($? == 2)); then
  builtin printf '%s\n' "$__holdfast_code" | BASH_ENV='' LD_PRELOAD='' LD_LIBRARY_PATH='' "/proc/$$/exe" -O extglob -n >/dev/null 2>&1
  if (($? == 2)); then builtin exit 2; fi
fi
. "$__holdfast_share/enter.bash"
