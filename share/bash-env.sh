# Read through BASH_ENV by every non-interactive bash between a launcher and the entry shim. It lets the functions of the
# environment survive the entry: just before a command that leads to the shim (`__enter` is among its words), all are exported.
#
# Why a DEBUG trap: a function called `exec` would break every `exec >file` on the way, and an EXIT trap does not run at
# `exec`. The shim takes BASH_ENV and HOLDFAST_* out of the environment again, so no target ever reads this file.
# Nothing here may fail under `set -eu`, change $? or $_, use =~ (BASH_REMATCH is the script's), or start a background job ($!).

# The user's own BASH_ENV comes first, as if this file were not there. Bash expands the value, so `$HOME/x` must work.
if [[ -n ${HOLDFAST_USER_BASH_ENV-} ]]; then
  __holdfast_user=$HOLDFAST_USER_BASH_ENV
  [[ -e $__holdfast_user || $__holdfast_user == *\"* ]] || eval "__holdfast_user=\"$__holdfast_user\""
  if [[ -r $__holdfast_user ]]; then . "$__holdfast_user"; fi
  unset __holdfast_user
fi

# An older bash enters all the same, without the functions that nobody exported.
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 402)); then
  __holdfast_share=${HOLDFAST_LAUNCH%/*}

  # A cheap first sieve, since it is asked before each command: what may lead to the shim, and `trap`, `set`, `shopt`, which
  # may disturb us. In a variable because bash parses the text of a trap again each time: 3 µs a command so, 5 µs inline.
  __holdfast_sieve='@(*__enter*|*[$]?([{])[@*1-9]*|*\[[@*]\]*|[$]*|\"[$]*|*\ -*([a-zA-Z])c\ *|@(exec|eval|command|builtin|env|time|nohup|nice|setsid|sudo|chroot|unshare|nsenter|trap|set|shopt)\ *)'
  # $_ is handed over as the last word, which makes it $_ again. In front of `|| :` neither errexit nor an ERR trap acts.
  __holdfast_trap='[[ $BASH_COMMAND != $__holdfast_sieve ]] || __holdfast_before "$@" "$_" || :'

  # __holdfast_before [positional parameters of the place that runs the command…] $_
  __holdfast_before() {
    case $BASH_COMMAND in
      'trap '*RETURN*) __holdfast_untrace ;;
      'trap '*DEBUG*) __holdfast_share_trap ;;
      'set '*functrace* | 'set '-*T* | 'shopt '*extdebug*) __holdfast_traced=script ;;
    esac
    if __holdfast_leads_to_shim "${@:1:$#-1}"; then
      declare -F __holdfast_export_functions >/dev/null || . "$__holdfast_share/export-functions.bash"
      __holdfast_export_functions
    fi
    return 0
  }

  # BASH_COMMAND is not expanded yet: says whether the shim is in the text itself, or in a variable that the text mentions.
  __holdfast_leads_to_shim() {
    local __holdfast_rest=$BASH_COMMAND __holdfast_name
    [[ $__holdfast_rest != *__enter* ]] || return 0
    while [[ $__holdfast_rest == *\$* ]]; do
      __holdfast_rest=${__holdfast_rest#*\$}
      case $__holdfast_rest in
        [@*1-9]* | '{'[@*1-9]*) [[ "$*" != *__enter* ]] || return 0 ;;
        *)
          __holdfast_name=${__holdfast_rest#\{}
          __holdfast_name=${__holdfast_name%%[!a-zA-Z0-9_]*}
          if [[ $__holdfast_name == [a-zA-Z_]* ]]; then
            __holdfast_name+='[*]'
            [[ ${!__holdfast_name-} != *__enter* ]] || return 0
          fi
          ;;
      esac
    done
    return 1
  }

  # Tracing is what takes the DEBUG trap into functions, but it takes RETURN traps and the script's own DEBUG trap along: a
  # `trap "rm $tmp" RETURN` would run when the first callee returns. From there on we look at the top level alone.
  __holdfast_untrace() {
    [[ ${__holdfast_traced-} == script ]] || set +T
  }

  # The script is about to set its own DEBUG trap. A function `trap` that lives for this one command joins the two: theirs
  # first, so that it finds $? untouched, and with its status last, for extdebug. Set by the last command of the function, so
  # that theirs sees none of ours.
  __holdfast_share_trap() {
    ! declare -F trap >/dev/null || return 0
    __holdfast_untrace
    trap() {
      builtin unset -f trap
      if [[ ${1-} == -- ]]; then shift; fi
      if [[ ${1-} == -[pl]* || " ${*:2}" != *[Dd][Ee][Bb][Uu][Gg]* ]]; then
        builtin trap "$@"
        return
      fi
      __holdfast_join "$1"
      builtin trap "$__holdfast_joined" "${@:2}" || :
    }
  }
  # DEBUG shares one `trap` with other signals only in theory (`trap - DEBUG EXIT`): those get the joined text as well, where
  # ours finds no command to look at and does nothing.
  __holdfast_join() {
    case $1 in
      '' | -) __holdfast_joined=$__holdfast_trap ;;
      *__holdfast_sieve*) __holdfast_joined=$1 ;;
      *) __holdfast_joined="$1"$'\n''__holdfast_status=$?; '"$__holdfast_trap"$'\n''__holdfast_return $__holdfast_status' ;;
    esac
    export -n __holdfast_joined
  }
  __holdfast_return() { return "$1"; }

  __holdfast_traced=
  [[ $- != *T* ]] || __holdfast_traced=script
  # Under allexport all of the above would be in the environment.
  export -n __holdfast_share __holdfast_sieve __holdfast_trap __holdfast_traced
  # The user's BASH_ENV may have set one: `trap -- 'TEXT' DEBUG`.
  eval "__holdfast_own=($(trap -p DEBUG))"
  __holdfast_join "${__holdfast_own[2]-}"
  unset __holdfast_own
  set -T
  trap "$__holdfast_joined" DEBUG
fi
