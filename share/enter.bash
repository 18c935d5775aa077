# The end of both source scripts: exports the functions, then becomes the entry shim (`__holdfast_shim`, an array).
. "$__holdfast_share/export-functions.bash"
__holdfast_export_functions || : # whatever `set -e` and the like the environment left on
export -n __holdfast_shim __holdfast_share __holdfast_script __holdfast_code 2>/dev/null
# An exit trap of the environment is to run when the session ends, and an exec would drop it.
if [[ -n $(builtin trap -p EXIT) ]]; then
  "${__holdfast_shim[@]}"
  exit
fi
builtin exec "${__holdfast_shim[@]}"
