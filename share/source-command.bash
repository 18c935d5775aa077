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
. "$__holdfast_share/enter.bash"
