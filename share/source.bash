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
# Its status is not judged, since many such scripts end in a test that is false; but one that cannot be parsed was only half sourced.
. "$__holdfast_script"
if (($? == 2)); then
  BASH_ENV='' LD_PRELOAD='' LD_LIBRARY_PATH='' "/proc/$BASHPID/exe" -O extglob -n "$__holdfast_script" >/dev/null 2>&1
  if (($? == 2)); then builtin exit 2; fi
fi
. "$__holdfast_share/enter.bash"
