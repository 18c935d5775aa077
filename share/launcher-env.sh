# Read through BASH_ENV, in place of bash-env.sh, by a launcher that is a bash script: `holdfast open web -- ./enter.sh`, where
# enter.sh says $SDK_ROOT. Its environment is scrubbed like any other's; but what it names, it finds: the caller's variables are
# shell variables of this one bash, none of them exported. So no program sees them, and no target, unless the script exports one.

__holdfast_caller() {
  local IFS= __holdfast_pair __holdfast_name
  while read -r -d '' __holdfast_pair; do
    __holdfast_name=${__holdfast_pair%%=*}
    case $__holdfast_name in
      # Not a name for a shell; ours; or one by which bash or the loader is steered.
      *[!a-zA-Z0-9_]* | [!a-zA-Z_]* | *[Hh][Oo][Ll][Dd][Ff][Aa][Ss][Tt]* | BASH* | LD_* | PS[0-9] | ENV | CDPATH | *IGNORE | HIST* | POSIXLY_CORRECT) ;;
      TMOUT | TIMEFORMAT | PROMPT_COMMAND | SHELLOPTS | PWD | OLDPWD | SHLVL | OPT* | _ | NOTIFY_SOCKET | LISTEN_*) ;;
      *)
        if [[ -z ${!__holdfast_name+set} ]]; then
          printf -v "$__holdfast_name" %s "${__holdfast_pair#*=}"
          export -n "$__holdfast_name" # `bash -a` would have exported it
        fi
        ;;
    esac
  done </proc/$PPID/environ
}

# The launcher's parent is the opener: it is its caller's environment that is read.
__holdfast_caller 2>/dev/null || :
unset -f __holdfast_caller
HOLDFAST_LAUNCH=${HOLDFAST_LAUNCH%/*}/bash-env.sh
BASH_ENV=$HOLDFAST_LAUNCH
. "$HOLDFAST_LAUNCH"
