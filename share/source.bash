# Source style: bash --norc --noprofile source.bash SCRIPT RUNNER_EXEC __enter NODE CLI STEM
# SCRIPT is sourced with no arguments; then its functions are exported and the entry shim takes over.
__holdfast_share=${BASH_SOURCE[0]%/*}
__holdfast_script=$1
shift
if [[ ! -r $__holdfast_script ]]; then
  printf "holdfast: cannot read '%s'\n" "$__holdfast_script" >&2
  exit 1
fi
__holdfast_shim=("$@")
set --
# Its status is not judged: many such scripts end in a test that is false.
. "$__holdfast_script"
. "$__holdfast_share/enter.bash"
