// The script that finds what a wrapper started elsewhere, by the marker in its environment, and signals or ends it. It is run by the
// same way in, so it is plain POSIX sh, with busybox's tools, and starts no process for each one that it looks at. DESIGN section 4.

/** Its exit codes; any other one is the wrapper's. */
export const FAR_DONE = 0;
export const FAR_NONE = 3;
export const FAR_LEFT = 4;

/** Words for the script: a signal to the process group of the command itself. @param signal a name without SIG. */
export function signalWords(marker: string, signal: string, patienceMs = 0): string[] {
  return [marker, signal, '0', String(Math.ceil(patienceMs / 100))];
}

/**
 * Words for the script: TERM to everything that carries the marker, KILL after the grace, until nothing is left.
 *
 * @param patienceMs for so long something is waited for that may be about to start.
 * @param file of the inside, to be removed.
 */
export function endWords(marker: string, graceMs: number, patienceMs: number, file = ''): string[] {
  return [marker, 'end', String(Math.ceil(graceMs / 100)), String(Math.ceil(patienceMs / 100)), file];
}

// Reading is done by `read` alone where grep cannot look beyond a NUL. dash and busybox drop the NULs, and the marker is of a kind
// that nothing else has in it. A zombie's environ is empty, so it counts as gone. The kernel throws a TSTP away for who leads a session,
// as commands of an engine do: what has not stopped by itself is stopped.
export const FAR_SCRIPT: string = `key=HOLDFAST_RUN=$1 what=$2 grace=$3 patience=$4
[ -z "$5" ] || rm -f "$5"
fast=$(printf 'a\\0b\\0' | grep -lzF b 2>/dev/null)
look() {
  pids=
  if [ "$fast" ]; then
    for file in $(grep -lzF -e "$key" /proc/[0-9]*/environ 2>/dev/null); do
      file=\${file#/proc/}
      pids="$pids \${file%/environ}"
    done
    return 0
  fi
  for file in /proc/[0-9]*/environ; do
    [ -r "$file" ] || continue
    while IFS= read -r line || [ "$line" ]; do
      case $line in *"$key"*)
        file=\${file#/proc/}
        pids="$pids \${file%/environ}"
        break
      esac
    done <"$file"
  done 2>/dev/null
  return 0
}
nap() { sleep 0.1 2>/dev/null || sleep 1; }
stat_of() {
  { IFS= read -r line <"/proc/$1/stat"; } 2>/dev/null || return 1
  set -- \${line##*) }
  state=$1 group=$3 start=\${20}
}
look
while [ -z "$pids" ] && [ "$patience" -gt 0 ]; do patience=$((patience - 1)); nap; look; done
[ "$pids" ] || exit ${FAR_NONE}
if [ "$what" != end ]; then
  first= own=
  for pid in $pids; do
    stat_of "$pid" || continue
    if [ -z "$first" ] || [ "$start" -lt "$first" ]; then first=$start own=$group; fi
  done
  for pid in $pids; do
    if stat_of "$pid" && [ "$group" = "$own" ]; then kill -s "$what" "$pid" 2>/dev/null; fi
  done
  [ "$what" = TSTP ] || exit ${FAR_DONE}
  nap
  for pid in $pids; do
    if stat_of "$pid" && [ "$group" = "$own" ] && [ "$state" != T ]; then kill -s STOP "$pid" 2>/dev/null; fi
  done
  exit ${FAR_DONE}
fi
for pid in $pids; do kill -s TERM "$pid"; kill -s CONT "$pid"; done 2>/dev/null
look
while [ "$pids" ] && [ "$grace" -gt 0 ]; do grace=$((grace - 1)); nap; look; done
tries=50
while [ "$pids" ] && [ "$tries" -gt 0 ]; do
  for pid in $pids; do kill -s KILL "$pid"; done 2>/dev/null
  tries=$((tries - 1))
  look
  [ -z "$pids" ] || nap
done
[ -z "$pids" ] || exit ${FAR_LEFT}
exit ${FAR_DONE}`;
