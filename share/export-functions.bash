# Exports every function of this shell that another bash can import, and says on stderr which stay behind. Sourced by
# bash-env.sh and the two source scripts; runs inside other people's shells, so the rules in bash-env.sh hold here too.

# Linux takes at most 128 KiB for one variable (MAX_ARG_STRLEN); the name and `=() ` need room as well.
__holdfast_max_body=126976

__holdfast_say() {
  printf 'holdfast: %s\n' "$1" >&2 2>/dev/null || : # not even a closed stderr is the launcher's concern
}

# A second call is cheap when no function has changed.
__holdfast_export_functions() {
  local IFS=$' \t\n' __holdfast_all __holdfast_list __holdfast_name __holdfast_fresh=()
  __holdfast_all=$(declare -F && declare -f) || return 0
  [[ $__holdfast_all != "${__holdfast_seen-}" ]] || return 0
  # Neither a here-string (may need a temporary file) nor a process substitution (changes $!).
  __holdfast_list=$(declare -F)$'\n'
  while [[ $__holdfast_list == *$'\n'* ]]; do
    __holdfast_name=${__holdfast_list%%$'\n'*}
    __holdfast_list=${__holdfast_list#*$'\n'}
    case $__holdfast_name in
      '') ;;
      *' __holdfast_'*) export -nf -- "${__holdfast_name##* }" ;;
      *' '*[/=]*)
        export -nf -- "${__holdfast_name##* }"
        __holdfast_say "function '${__holdfast_name##* }' stays in the launcher: bash imports no name with '/' or '='"
        ;;
      *) __holdfast_fresh+=("${__holdfast_name##* }") ;;
    esac
  done
  for __holdfast_name in "${__holdfast_fresh[@]+"${__holdfast_fresh[@]}"}"; do
    __holdfast_export_one "$__holdfast_name"
  done
  __holdfast_try_import "${__holdfast_fresh[@]+"${__holdfast_fresh[@]}"}"
  __holdfast_seen=$(declare -F && declare -f) # as it is now: stubs are functions, too
  export -n __holdfast_seen __holdfast_max_body
}

__holdfast_export_one() {
  if ((${#__holdfast_all} > __holdfast_max_body / 4)) && __holdfast_too_long "$1"; then
    export -nf -- "$1"
    __holdfast_say "function '$1' stays in the launcher: its body is too long for an environment variable"
  else
    export -f -- "$1" 2>/dev/null || :
  fi
}

# In a subshell, since setting LC_ALL back can make bash complain about a locale that is not installed.
__holdfast_too_long() {
  (
    LC_ALL=C
    __holdfast_body=$(declare -f -- "$1")
    ((${#__holdfast_body} + ${#1} > __holdfast_max_body))
  )
}

# Some bodies parse only under an option that a starting bash does not have (extglob). One trial import finds them: each
# becomes a stub that sets the option and defines the real one at its first call; what fails even so is left behind.
__holdfast_try_import() {
  local __holdfast_name __holdfast_errors
  __holdfast_import_errors || {
    [[ $__holdfast_errors == *'rgument list too long'* ]] || return 0 # this bash cannot run here at all: nothing to learn
    for __holdfast_name; do export -nf -- "$__holdfast_name"; done
    __holdfast_say 'the functions stay in the launcher: together they are too large for an environment'
    return 0
  }
  [[ $__holdfast_errors == *'error importing function'* ]] || return 0
  for __holdfast_name; do
    [[ $__holdfast_errors != *"definition for \`$__holdfast_name'"* ]] || __holdfast_stub "$__holdfast_name" || :
  done
  __holdfast_import_errors || return 0
  for __holdfast_name; do
    [[ $__holdfast_errors == *"definition for \`$__holdfast_name'"* ]] || continue
    export -nf -- "$__holdfast_name"
    __holdfast_say "function '$__holdfast_name' stays in the launcher: bash cannot import its body"
  done
}

# Leaves what bash says in __holdfast_errors. /proc, because neither PATH nor $BASH (nix sets it) need lead to this bash;
# without what makes the dynamic loader fail, since that would hide the answer.
__holdfast_import_errors() {
  __holdfast_errors=$(BASH_ENV='' LC_ALL=C LD_PRELOAD='' LD_LIBRARY_PATH='' "/proc/$BASHPID/exe" --norc --noprofile -c : 2>&1 </dev/null)
}

__holdfast_stub() {
  local __holdfast_body
  printf -v __holdfast_body %q "$(declare -f -- "$1")"
  eval "function $1 { shopt -s extglob; eval $__holdfast_body || return; $1 \"\$@\"; }" 2>/dev/null && export -f -- "$1"
}
